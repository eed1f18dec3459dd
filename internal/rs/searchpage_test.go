package rs_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pdpp"
	"pdpp/internal/rs/resttest"
	"pdpp/internal/store"
)

// library returns a world with two searchable streams on two connections, without records.
func library(t testing.TB) *resttest.World {
	t.Helper()
	w := resttest.New(t)
	w.Manifest(libraryManifest)
	w.Connect("lib", "cin_1", "")
	w.Connect("lib", "cin_2", "")
	return w
}

const libraryManifest = `{"protocol_version":"0.1.0","declaration_version":"1","source":{"kind":"connector","id":"https://reg.test/c/lib"},"streams":[
	{"name":"books","semantics":"mutable_state","primary_key":["id"],"cursor_field":"at","consent_time_field":"at","selection":{"fields":true,"resources":true},
	 "schema":{"type":"object","properties":{"id":{"type":"string"},"text":{"type":"string"},"margin":{"type":"string"},"shelf":{"type":"string"},"at":{"type":"string","format":"date-time"}}},
	 "query":{"search":{"lexical_fields":["text","margin"]}}},
	{"name":"cards","semantics":"mutable_state","primary_key":["id"],"selection":{"fields":true,"resources":true},
	 "schema":{"type":"object","properties":{"id":{"type":"string"},"text":{"type":"string"}}},"query":{"search":{"lexical_fields":["text"]}}}]}`

// bookLine returns an ingest line for either stream. second is its emitted_at after Start.
func bookLine(id, text string, second int) string {
	return fmt.Sprintf(`{"key":%q,"data":{"id":%q,"text":%q},"emitted_at":%q}`, id, id, text, pdpp.FormatTime(resttest.Start.Add(time.Duration(second)*time.Second)))
}

// TestSearchOrder: by score, then newest first, then by connection, stream and id.
func TestSearchOrder(t *testing.T) {
	w := library(t)
	w.Ingest("cin_2", "books", bookLine("b", "oak", 5), bookLine("a", "oak", 5), bookLine("é", "oak", 5), bookLine("B", "oak", 5))
	w.Ingest("cin_1", "cards", bookLine("a", "oak", 5))
	w.Ingest("cin_1", "books", bookLine("z", "oak", 5), bookLine("old", "oak", 4), bookLine("new", "oak", 6),
		bookLine("long", "oak and much more", 9), bookLine("twice", "oak oak", 1), bookLine("ratio", "oak oak ash", 1))
	want := []string{
		"books/twice@cin_1", "books/ratio@cin_1", "books/new@cin_1", "books/z@cin_1", "cards/a@cin_1",
		"books/B@cin_2", "books/a@cin_2", "books/b@cin_2", "books/é@cin_2", "books/old@cin_1", "books/long@cin_1",
	}
	for _, tok := range []string{w.OwnerToken(), first(w.Grant(`{"source":{"connector_key":"lib"},"streams":[{"name":"cards"},{"name":"books"}]}`))} {
		a := w.Get(tok, "/v1/search?q=oak")
		expectHits(t, a, want...)
		var scores []string
		for i := range want {
			scores = append(scores, fmt.Sprint(a.At(fmt.Sprintf("data.%d.score.value", i))))
		}
		// 2.2·2/(2+1.2·(0.25+0.75·2/128)), then with 3, and 2.2/(1+…) with 1 and 4 terms.
		if got := strings.Join(slices.Compact(scores), " "); got != "-1.901418 -1.895658 -1.683204 -1.656471" {
			t.Errorf("scores %s differ from Q-5", got)
		}
		expectHits(t, w.Get(tok, "/v1/search?q=oak&streams=cards"), "cards/a@cin_1")
		expectHits(t, w.Get(tok, "/v1/search?q=oak&streams=cards,books&connection_id=cin_2"), want[5:9]...)
		for limit := 1; limit <= len(want)+1; limit++ {
			all, pages := walkSearch(t, w, tok, fmt.Sprintf("/v1/search?q=oak&limit=%d", limit), limit)
			if diff := gocmp.Diff(want, all); diff != "" || pages != (len(want)+limit-1)/limit {
				t.Errorf("Q-11 limit %d, %d pages, hits differ (-want +got):\n%s", limit, pages, diff)
			}
		}
	}
}

// walkSearch follows links.next to the last page and returns all hits. between is called
// before every page but the first.
func walkSearch(t testing.TB, w *resttest.World, token, target string, limit int, between ...func()) (all []string, pages int) {
	t.Helper()
	return walkPages(t, target, limit, func(target string) (resttest.Answer, []string) {
		if strings.Contains(target, "cursor=") {
			for _, fn := range between {
				fn()
			}
		}
		a := w.Get(token, target)
		return a, hitsOf(t, a)
	})
}

// TestSearchPages: pages of any size have every unchanged record exactly once, in the order of
// one page, while other records are written.
func TestSearchPages(t *testing.T) {
	t.Parallel()
	w := library(t)
	owner := w.OwnerToken()
	texts := []string{"oak", "oak oak", "oak ash", "ash oak oak elm", "ash"}
	rapid.Check(t, func(rt *rapid.T) {
		for _, stream := range []string{"books", "cards"} {
			for _, c := range []string{"cin_1", "cin_2"} {
				w.Do("DELETE", owner, "/v1/streams/"+stream+"/records?connection_id="+c, "")
			}
		}
		draw := func(prefix string, n int) {
			id := fmt.Sprint(prefix, n)
			line := bookLine(id, rapid.SampledFrom(texts).Draw(rt, "text"), rapid.IntRange(0, 2).Draw(rt, "second"))
			w.Ingest(rapid.SampledFrom([]string{"cin_1", "cin_2"}).Draw(rt, "connection"), rapid.SampledFrom([]string{"books", "cards"}).Draw(rt, "stream"), line)
		}
		n := rapid.IntRange(0, 15).Draw(rt, "records")
		for i := range n {
			draw("s", i)
		}
		want := hitsOf(t, w.Get(owner, "/v1/search?q=oak&limit=100"))
		limit := rapid.IntRange(1, 5).Draw(rt, "limit")
		got, _ := walkSearch(t, w, owner, fmt.Sprintf("/v1/search?q=oak&limit=%d", limit), limit)
		if diff := gocmp.Diff(want, got); diff != "" {
			rt.Fatalf("limit %d: hits differ (-want +got):\n%s", limit, diff)
		}
		others := 0
		got, _ = walkSearch(t, w, owner, fmt.Sprintf("/v1/search?q=oak&limit=%d", limit), limit, func() {
			if others++; others < 8 {
				draw("r", others%3)
			}
		})
		got = slices.DeleteFunc(got, func(id string) bool { return strings.Contains(id, "/r") })
		if diff := gocmp.Diff(want, got); diff != "" {
			rt.Fatalf("limit %d, with writes between pages: hits differ (-want +got):\n%s", limit, diff)
		}
	})
}

func TestSearchPageBytes(t *testing.T) { // REC-38, REC-40, REC-41
	w, tok := longLedger(t)
	const target = "/v1/search?q=tea&streams=entries"
	whole := w.Get(tok, target)
	want := hitsOf(t, whole)
	a := w.Get(tok, target, "Prefer: pdpp-page-bytes=4096, pdpp-field-preview=64")
	sameHeader(t, a, "Preference-Applied", "pdpp-page-bytes=4096")
	size, n := len(rawMember(t, a, "data")), len(hitsOf(t, a))
	if size > 4096 || n < 2 || n >= len(want) || size+size/n < 4096 {
		t.Errorf("a page of %d hits in %d bytes, want as many as fit into 4096", n, size)
	}
	sameJSON(t, a.At("meta.warnings"), fmt.Sprintf(`[{"code":"page_bytes_limited","param":"Prefer","message":"The page reached its size limit. Continue with the cursor.",
		"detail":{"page_bytes":4096,"returned":%d,"limit":25}}]`, n))
	sameJSON(t, a.At("meta.count"), `{"kind":"exact","value":10}`)
	if diff := gocmp.Diff(rawMember(t, whole, "data", "1"), rawMember(t, a, "data", "1")); diff != "" {
		t.Errorf("the hit of a small page differs (-want +got):\n%s", diff)
	}
	all, _ := walkPages(t, target, 25, func(target string) (resttest.Answer, []string) {
		a := w.Get(tok, target, "Prefer: pdpp-page-bytes=4096")
		return a, hitsOf(t, a)
	})
	if diff := gocmp.Diff(want, all); diff != "" {
		t.Errorf("hits of all pages differ (-want +got):\n%s", diff)
	}
	// A hit above the page size is a page by itself.
	long := strings.Repeat(`"`, 300)
	for i := range 2 {
		w.Ingest("cin_a1", "entries", searchEntry(strings.Repeat("é", 250)+fmt.Sprint(i), "huge"+long, long))
	}
	a = w.Get(tok, "/v1/search?q=huge", "Prefer: pdpp-page-bytes=4096")
	if len(rawMember(t, a, "data")) <= 4096 || len(hitsOf(t, a)) != 1 || a.At("has_more") != true {
		t.Errorf("%d bytes, %d hits, want one hit above 4096 bytes", len(rawMember(t, a, "data")), len(hitsOf(t, a)))
	}
	if a := w.Get(tok, target, "Prefer: pdpp-page-bytes=100"); a.Header.Get("Preference-Applied") != "" || a.At("has_more") != false {
		t.Errorf("a preference out of range was applied: %v", a.Header)
	}
}

// addBooks writes n books to the store, each with an emitted_at one millisecond after the
// previous one.
func addBooks(w *resttest.World, from, n int, text func(k int) string) {
	w.T.Helper()
	b := w.Binding("cin_1", "books")
	docs := make([]store.Document, n)
	for i := range docs {
		k := from + i
		docs[i] = store.Prepare(b, store.Input{
			ID: pdpp.RecordID(fmt.Sprintf("r%05d", k)), Data: fmt.Appendf(nil, `{"text":%q,"shelf":"s%d"}`, text(k), k%2),
			EmittedAt: resttest.Start.Add(time.Duration(k) * time.Millisecond),
		})
	}
	w.Update(func(tx store.Tx) error {
		_, err := tx.Ingest(b, docs, w.Now())
		return err
	})
}

// TestSearchWindow: a search ranks the newest 10,000 matches, and its later pages continue with
// the same ones.
func TestSearchWindow(t *testing.T) {
	t.Parallel()
	w := library(t)
	tok := w.OwnerToken()
	const target = "/v1/search?q=oak&streams=books"
	recall := func(t *testing.T, a resttest.Answer, kind string, n int) {
		t.Helper()
		scope := `"complete":true,"ranking_scope":"all_matches","truncated":false`
		limit := ""
		if kind == "lower_bound" {
			scope, limit = `"complete":false,"ranking_scope":"candidate_window","truncated":true`, `"candidate_window_limit":10000,`
		}
		sameJSON(t, a.OK().At("meta"), fmt.Sprintf(`{"count":{"kind":%q,"value":%d},"count_accuracy":%q,"recall":{%s,"ranked_candidate_count":%d,%s"sources_searched_count":2},"warnings":[]}`,
			kind, n, kind, scope, n, limit))
	}
	addBooks(w, 0, 10_000, longerEveryThird)
	recall(t, w.Get(tok, target), "exact", 10_000)
	whole := w.Get(tok, target+"&limit=1")
	addBooks(w, 10_000, 1, longerEveryThird)
	a := w.Get(tok, target+"&limit=1")
	recall(t, a, "lower_bound", 10_000)
	// r00000 is outside the window. r10000 is first by score and time.
	expectHits(t, a, "books/r10000@cin_1")
	recall(t, w.Get(tok, whole.At("links.next").(string)), "exact", 10_001) // the first page covered all matches
	recall(t, w.Get(tok, target+"&filter[shelf]=s0"), "exact", 5_001)       // a filter reaches older matches

	t.Run("Q-11 the end of the window", func(t *testing.T) {
		// Newest first among equal scores, longer texts last. The last hit is r00003, because
		// r00000 is too old.
		all, _ := walkSearch(t, w, tok, target+"&limit=100", 100)
		var want []string
		for k := 10_000; k > 0; k-- {
			want = append(want, fmt.Sprintf("books/r%05d@cin_1", k))
		}
		slices.SortStableFunc(want, func(a, b string) int { return cmp.Compare(isLonger(a), isLonger(b)) })
		if diff := gocmp.Diff(want, all); diff != "" {
			t.Errorf("hits differ (-want +got):\n%.2000s", diff)
		}
	})
	t.Run("Q-11 new matches between pages", func(t *testing.T) {
		next := a.At("links.next").(string)
		addBooks(w, 10_001, 10_000, longerEveryThird)
		grown := w.Get(tok, next)
		recall(t, grown, "lower_bound", 20_000)
		expectHits(t, grown, "books/r09998@cin_1") // newer matches are ranked before it
		addBooks(w, 20_001, 1, longerEveryThird)
		refused(t, w.Get(tok, next), refusal{status: 410, code: "cursor_expired", param: "cursor"})
		refused(t, w.Get(tok, whole.At("links.next").(string)), refusal{status: 410, code: "cursor_expired", param: "cursor"})
		recall(t, w.Get(tok, target), "lower_bound", 10_000)
	})
}

// longerEveryThird returns a text that has one more word in every third book.
func longerEveryThird(k int) string {
	if k%3 == 0 {
		return "oak ash"
	}
	return "oak"
}

// isLonger returns 1 for these books, else 0.
func isLonger(id string) int {
	var k int
	if _, err := fmt.Sscanf(id, "books/r%05d@", &k); err != nil || k%3 != 0 {
		return 0
	}
	return 1
}
