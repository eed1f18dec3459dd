package rs_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pdpp"
	"pdpp/internal/analyzer"
	"pdpp/internal/rs/resttest"
	"pdpp/internal/store/sqlgen"
)

// drawSearch draws a search for words of a record, visible or not.
func (u *universe) drawSearch(t *rapid.T, c *call, name string, q url.Values, cursors []string) {
	words := []string{"shared0", "shared1 idm", "none", "x"}
	for _, r := range u.records {
		for _, raw := range r.values {
			text := ""
			if json.Unmarshal([]byte(raw), &text) == nil && text != "" && len(text) < 100 {
				words = append(words, text)
			}
		}
	}
	slices.Sort(words) // values come from a map
	c.words = rapid.SampledFrom(slices.Compact(words)).Draw(t, "words")
	q.Set("q", c.words)
	if rapid.Bool().Draw(t, "limit") {
		q.Set("limit", fmt.Sprint(rapid.IntRange(1, 4).Draw(t, "n")))
	}
	if rare(t, 2, "in a stream") {
		q.Set("streams", name)
		c.plain = false
		if f := rapid.SampledFrom(u.stream(name).fields).Draw(t, "filter field"); rapid.Bool().Draw(t, "filter") {
			q.Set("filter["+f.name+"]", u.drawOperand(t, u.stream(name), f))
		}
	}
	if len(cursors) > 0 && rare(t, 2, "cursor") {
		q.Set("cursor", rapid.SampledFrom(cursors).Draw(t, "which"))
		c.plain = false
	}
	if rare(t, 3, "small page") {
		c.headers = append(c.headers, "Prefer: pdpp-page-bytes=4096")
		c.plain = false
	}
}

// checkHits compares a search with the model: every hit is a visible record with all words in
// granted fields, and the count is exact.
func (u *universe) checkHits(t *rapid.T, c call, a resttest.Answer) {
	if c.words == "" {
		return
	}
	var got struct {
		Data []struct {
			ID         string `json:"record_key"`
			Stream     string
			Connection string   `json:"connection_id"`
			Fields     []string `json:"matched_fields"`
		}
		HasMore bool `json:"has_more"`
		Meta    struct{ Count struct{ Value int } }
	}
	if err := json.Unmarshal(a.Body, &got); err != nil {
		t.Fatal(err)
	}
	terms := analyzer.Query(c.words)
	var want []string
	for _, g := range u.grants {
		for _, r := range u.visible(g) {
			if r.has(terms, g.fields) {
				want = append(want, r.stream.name+"/"+r.id+"@"+r.conn)
			}
		}
	}
	for _, h := range got.Data {
		place := h.Stream + "/" + h.ID + "@" + h.Connection
		if !slices.Contains(want, place) {
			t.Fatalf("%s finds %s under %s", c.target, place, u.spec())
		}
		for _, f := range h.Fields {
			if !slices.Contains(u.grantOf(h.Stream).fields, f) {
				t.Fatalf("%s matched in %s under %s", place, f, u.spec())
			}
		}
	}
	if c.plain && (got.Meta.Count.Value != len(want) || !got.HasMore && len(got.Data) != len(want)) {
		t.Fatalf("%s: %d hits, count %d, want %v under %s", c.target, len(got.Data), got.Meta.Count.Value, want, u.spec())
	}
}

// has reports whether every term is in one of the named string fields.
func (r *modelRecord) has(terms, fields []string) bool {
	var text strings.Builder
	for _, name := range fields {
		s := ""
		if r.stream.kind(name) == "string" && json.Unmarshal([]byte(r.values[name]), &s) == nil {
			text.WriteString(s + " ")
		}
	}
	have := analyzer.Query(text.String())
	return !slices.ContainsFunc(terms, func(term string) bool { return !slices.Contains(have, term) })
}

// grantedLibrary is a library with a grant.
type grantedLibrary struct {
	*resttest.World
	token  string
	grant  pdpp.GrantID
	theirs *resttest.World // another owner
}

// twoLibraries returns two libraries with the same n visible books and the same grant: of the
// fields id, text and shelf, on one connection, within a time range. cursor says whether the
// time is the cursor field.
func twoLibraries(t *testing.T, n int, cursor bool) (lean, full grantedLibrary) {
	t.Helper()
	words := []string{"oak", "ash", "elm", "oak oak", "ash elm <mark>", "Ulme", "oak " + strings.Repeat("leaf ", 90)}
	for _, h := range []*grantedLibrary{&lean, &full} {
		h.World = library(t)
		if !cursor {
			h.Manifest(strings.Replace(libraryManifest, `"cursor_field":"at",`, "", 1))
		}
		h.theirs = h.As(h.Owner("neighbour"))
		h.theirs.Manifest(libraryManifest)
		h.theirs.Connect("lib", "cin_1", "Theirs")
		var lines []string
		for i := range n {
			lines = append(lines, fmt.Sprintf(`{"key":"v%04d","data":{"id":"v%04d","text":%q,"margin":"","shelf":"s%d","at":"2026-02-01T00:00:00Z"},"emitted_at":%q}`,
				i, i, words[i%len(words)]+fmt.Sprint(" n", i%10), i%3, pdpp.FormatTime(resttest.Start.Add(time.Duration(i/2)*time.Millisecond))))
		}
		for part := range slices.Chunk(lines, 500) {
			h.Ingest("cin_1", "books", part...)
		}
		h.token, h.grant = h.Grant(`{"source":{"connector_key":"lib"},"streams":[{"name":"books","fields":["id","text","shelf"],
			"instance_ids":["cin_1"],"time_range":{"since":"2026-01-01T00:00:00Z","until":"2026-03-01T00:00:00Z"}}]}`)
	}
	return lean, full
}

// drawOutside draws a write that the grant does not cover.
func (h grantedLibrary) drawOutside(t *rapid.T, n int) {
	id := fmt.Sprintf("o%02d", rapid.IntRange(0, 40).Draw(t, "id"))
	text := rapid.SampledFrom([]string{"oak", "oak oak ash elm n1", "leaf Ulme", strings.Repeat("oak ", 5000)}).Draw(t, "text")
	emitted := pdpp.FormatTime(resttest.Start.Add(time.Duration(rapid.IntRange(-10, n).Draw(t, "emitted")) * time.Millisecond))
	line := func(at string) string {
		return fmt.Sprintf(`{"key":%q,"data":{"id":%q,"text":%q,"shelf":"s1"%s},"emitted_at":%q}`, id, id, text, at, emitted)
	}
	const inside = `,"at":"2026-02-01T00:00:00Z"`
	switch rapid.IntRange(0, 6).Draw(t, "where") {
	case 0: // an ungranted field of a visible record
		i := rapid.IntRange(0, n-1).Draw(t, "which")
		a := h.Get(h.OwnerToken(), fmt.Sprintf("/v1/streams/books/records/v%04d", i)).OK()
		h.Ingest("cin_1", "books", fmt.Sprintf(`{"key":%q,"data":{"id":%q,"text":%s,"margin":%q,"shelf":%s,"at":"2026-02-02T00:00:00Z"},"emitted_at":%s}`,
			a.At("id"), a.At("id"), jsonOf(a.At("data.text")), text, jsonOf(a.At("data.shelf")), jsonOf(a.At("emitted_at"))))
	case 1: // outside the time range
		h.Ingest("cin_1", "books", line(`,"at":"2026-03-01T00:00:00Z"`))
	case 2: // without a time
		h.Ingest("cin_1", "books", line(""))
	case 3: // on another connection
		h.Ingest("cin_2", "books", line(inside))
	case 4: // in another stream
		h.Ingest("cin_1", "cards", line(""))
	case 5: // of another owner
		h.theirs.Ingest("cin_1", "books", line(inside))
	case 6: // deleted
		h.Ingest("cin_1", "books", line(inside), fmt.Sprintf(`{"key":%q,"op":"delete","emitted_at":%q}`, id, emitted))
	}
}

// failer is a *testing.T or a *rapid.T.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// sameSearch compares the answers of two libraries except cursors and grant ids, and returns
// the links to the next pages.
func sameSearch(t failer, lean, full grantedLibrary, leanTarget, fullTarget string) (leanNext, fullNext string) {
	t.Helper()
	want, got := lean.Get(lean.token, leanTarget, fixedID), full.Get(full.token, fullTarget, fixedID)
	if diff := gocmp.Diff(normalized(want, lean.grant), normalized(got, full.grant)); diff != "" || want.Status != got.Status {
		t.Fatalf("%s: %d and %d (-lean +full):\n%.3000s", leanTarget, want.Status, got.Status, diff)
	}
	leanNext, _ = want.At("links.next").(string)
	fullNext, _ = got.At("links.next").(string)
	return leanNext, fullNext
}

// TestSearchIgnoresUngrantedData: every page of a search has the same bytes with and without
// data outside the grant, under each query plan (Q-2, REC-30).
func TestSearchIgnoresUngrantedData(t *testing.T) {
	t.Parallel()
	queries := []string{"q=oak", "q=oak+elm", "q=ulme", "q=leaf+oak", "q=n1+oak", "q=nothing", "q=oak&streams=books&filter[shelf]=s1", "q=oak&streams=books&filter[id]=v0007"}
	for _, c := range []struct {
		name   string
		n      int
		cursor bool
	}{
		{"few visible records", 40, false},
		{"many visible records", sqlgen.Gather + 50, false},
		{"many visible records by cursor field", sqlgen.Gather + 50, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := c.n
			lean, full := twoLibraries(t, n, c.cursor)
			rapid.Check(t, func(rt *rapid.T) {
				full.drawOutside(rt, n)
				target := "/v1/search?" + rapid.SampledFrom(queries).Draw(rt, "query")
				if rapid.Bool().Draw(rt, "limited") {
					target += fmt.Sprint("&limit=", rapid.IntRange(1, 7).Draw(rt, "limit"))
				}
				leanTarget, fullTarget := target, target
				for page := 0; page < 3 && leanTarget != ""; page++ {
					leanTarget, fullTarget = sameSearch(rt, lean, full, leanTarget, fullTarget)
				}
			})
		})
	}
}

// TestSearchWindowIgnoresUngrantedData: matches outside the grant do not count in the window of
// ranked matches.
func TestSearchWindowIgnoresUngrantedData(t *testing.T) {
	var worlds []grantedLibrary
	for _, more := range []bool{false, true} {
		h := grantedLibrary{World: library(t)}
		addBooks(h.World, 0, 10_020, func(k int) string { // the oldest have the best score
			if k < 40 {
				return "oak oak"
			}
			return "oak"
		})
		if more {
			var lines []string
			for i := range 100 {
				lines = append(lines, bookLine(fmt.Sprint("newer", i), "oak oak", i))
			}
			h.Ingest("cin_2", "books", lines...)
			h.Ingest("cin_1", "cards", lines...)
		}
		h.token, h.grant = h.Grant(`{"source":{"connector_key":"lib"},"streams":[{"name":"books","instance_ids":["cin_1"]}]}`)
		worlds = append(worlds, h)
	}
	lean, full := worlds[0], worlds[1]
	leanTarget, fullTarget := "/v1/search?q=oak&limit=15", "/v1/search?q=oak&limit=15"
	a := lean.Get(lean.token, "/v1/search?q=oak&limit=21")
	if ids := hitsOf(t, a); ids[0] != "books/r00039@cin_1" || ids[19] != "books/r00020@cin_1" || ids[20] != "books/r10019@cin_1" {
		t.Errorf("hits %v, want r00039 to r00020, then r10019", ids)
	}
	for range 3 {
		leanTarget, fullTarget = sameSearch(t, lean, full, leanTarget, fullTarget)
	}
}

// TestHitIsIndependentOfUngrantedFields: the hit of a long field, here with a title after much
// white space, does not depend on the length of other fields (Q-2, EX-3).
func TestHitIsIndependentOfUngrantedFields(t *testing.T) {
	w := ledger(t)
	tok := first(w.Grant(ledgerGrant))
	memo := strings.Repeat(" ", 1500) + "late title " + strings.Repeat("and more of it ", 2000)
	w.Ingest("cin_a1", "entries", searchEntry("ent_a", memo, ""))
	alone := w.Get(tok, "/v1/search?q=late", fixedID)
	w.Ingest("cin_a1", "entries", searchEntry("ent_a", memo, strings.Repeat("not granted ", 200)))
	sameAnswer(t, "with an ungranted field", w.Get(tok, "/v1/search?q=late", fixedID), alone)
	expectHits(t, alone, "ent_a")
}
