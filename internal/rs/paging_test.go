package rs_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pdpp/internal/rs/resttest"
)

func TestRecordOrder(t *testing.T) {
	w := filledCabinet(t)
	tok, _ := w.Grant(cabinetGrant)
	down := []string{"right@cin_c2", "left@cin_c1", "tie@cin_c2", "tie@cin_c1", "a/b c:d?e#f%@cin_c1", "blob@cin_c1", "null@cin_c1", "bad@cin_c1", "absent@cin_c2"}
	up := []string{"blob@cin_c1", "a/b c:d?e#f%@cin_c1", "tie@cin_c1", "tie@cin_c2", "left@cin_c1", "right@cin_c2", "absent@cin_c2", "bad@cin_c1", "null@cin_c1"}
	for _, test := range []struct {
		rule, query string
		want        []string
	}{
		{"REC-7 default", "", down},
		{"REC-8 order=desc", "order=desc", down},
		{"REC-8 sort=-at", "sort=-at", down},
		{"REC-8 sort=-at and order=desc", "sort=-at&order=desc", down},
		{"REC-7 nulls last in both directions", "order=asc", up},
		{"REC-8 sort=at", "sort=at", up},
		{"REC-8 sort=at and order=asc", "sort=at&order=asc", up},
		{"REC-8 order reverses sort", "sort=at&order=desc", down},
	} {
		t.Run(test.rule, func(t *testing.T) {
			samePlaces(t, w.Get(tok, "/v1/streams/items/records?"+test.query), test.want...)
		})
	}
	t.Run("REC-7 numbers compare numerically", func(t *testing.T) {
		sameIDs(t, w.Get(tok, "/v1/streams/ticks/records?order=asc"), "9", "10", "-1")
		sameIDs(t, w.Get(tok, "/v1/streams/ticks/records"), "10", "9", "-1")
	})
	t.Run("REC-7 without a cursor field the order is by the bytes of the id", func(t *testing.T) {
		w.Ingest("cin_c2", "covers", `{"key":"Z","data":{"id":"Z"}}`, `{"key":"cv1","data":{"id":"cv1"}}`, `{"key":"é","data":{"id":"é"}}`)
		want := []string{"Z@cin_c2", "cv1@cin_c1", "cv1@cin_c2", "cv2@cin_c1", "é@cin_c2"}
		samePlaces(t, w.Get(tok, "/v1/streams/covers/records?order=asc"), want...)
		slices.Reverse(want)
		samePlaces(t, w.Get(tok, "/v1/streams/covers/records"), want...)
	})
	t.Run("REC-7 an ungranted cursor field does not affect the order", func(t *testing.T) {
		blind, _ := w.Grant(`{"source":{"connector_key":"cabinet"},"streams":[{"name":"items","fields":["title"],"connections":["cin_c1"]}]}`)
		sameIDs(t, w.Get(blind, "/v1/streams/items/records?order=asc"), "a/b c:d?e#f%", "bad", "blob", "left", "null", "tie")
		refused(t, w.Get(blind, "/v1/streams/items/records?sort=at"), refusal{status: 403, code: "field_not_granted", param: "sort", field: "at"})
	})
	for _, test := range []struct {
		rule, query string
		want        refusal
	}{
		{"REC-8 sort and order contradict", "sort=-at&order=asc", refusal{status: 400, code: "invalid_sort", param: "sort"}},
		{"REC-8 field is not sortable", "sort=title", refusal{status: 400, code: "invalid_sort", param: "sort", field: "title"}},
		{"REC-8 undeclared field", "sort=nope", refusal{status: 400, code: "invalid_sort", param: "sort", field: "nope"}},
		{"REC-8 one field only", "sort=at,id", refusal{status: 400, code: "invalid_sort", param: "sort", field: "at,id"}},
		{"REC-8 unknown order", "order=up", refusal{status: 400, code: "invalid_request", param: "order"}},
	} {
		t.Run(test.rule, func(t *testing.T) {
			refused(t, w.Get(tok, "/v1/streams/items/records?"+test.query), test.want)
		})
	}
	t.Run("REC-8 a stream without cursor field", func(t *testing.T) {
		refused(t, w.Get(tok, "/v1/streams/covers/records?sort=id"), refusal{status: 400, code: "invalid_sort", param: "sort", field: "id"})
	})
}

// walk follows links.next to the last page and returns all records as places does.
func walk(t testing.TB, w *resttest.World, token, target string, limit int, headers ...string) (all []string, pages int) {
	t.Helper()
	return walkPages(t, target, limit, func(target string) (resttest.Answer, []string) {
		a := w.Get(token, target, headers...)
		return a, places(t, a)
	})
}

// walkPages follows links.next to the last page, checks every page and returns all items.
func walkPages(t testing.TB, target string, limit int, read func(target string) (resttest.Answer, []string)) (all []string, pages int) {
	t.Helper()
	for target != "" {
		if pages++; pages > 500 {
			t.Fatal("more than 500 pages")
		}
		a, got := read(target)
		next, more := a.At("links.next").(string)
		if len(got) > limit || more && len(got) == 0 {
			t.Fatalf("a page of %d items with limit %d, next %q", len(got), limit, next)
		}
		if a.At("has_more") != more || (a.At("next_cursor") != nil) != more {
			t.Fatalf("C-29 has_more, next_cursor and links.next disagree: %s", a.Body)
		}
		if more && !strings.Contains(next, "cursor="+a.At("next_cursor").(string)) {
			t.Fatalf("C-29 links.next %q does not contain the cursor", next)
		}
		all = append(all, got...)
		target = next
	}
	return all, pages
}

func TestPaging(t *testing.T) {
	w := filledCabinet(t)
	bothTokens(t, w, cabinetGrant, func(t *testing.T, tok string) {
		for _, query := range []string{"", "order=asc", "filter[title]=Left+tie&fields=id", "connection_id=cin_c1", "expand=notes", "view=brief&order=asc"} {
			t.Run("C-24 REC-10 every record once: "+query, func(t *testing.T) {
				want := places(t, w.Get(tok, "/v1/streams/items/records?"+query))
				for limit := 1; limit <= len(want)+1; limit++ {
					got, pages := walk(t, w, tok, fmt.Sprintf("/v1/streams/items/records?limit=%d&%s", limit, query), limit)
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("limit %d: records differ (-want +got):\n%s", limit, diff)
					}
					if exact := (len(want) + limit - 1) / limit; pages != exact {
						t.Errorf("limit %d: %d pages, want %d", limit, pages, exact)
					}
				}
			})
		}
	})
	t.Run("C-29 links.next keeps the request", func(t *testing.T) {
		tok, _ := w.Grant(cabinetGrant)
		first := w.Get(tok, "/v1/streams/items/records?fields%5B%5D=id&limit=2&order=asc").OK()
		want := "/v1/streams/items/records?fields%5B%5D=id&limit=2&order=asc&cursor=" + first.At("next_cursor").(string)
		sameValue(t, first, "links.next", want)
		second := w.Get(tok, want).OK()
		want = "/v1/streams/items/records?fields%5B%5D=id&limit=2&order=asc&cursor=" + second.At("next_cursor").(string)
		sameValue(t, second, "links.next", want)
		if !strings.HasPrefix(first.At("next_cursor").(string), "pc1.") {
			t.Errorf("next_cursor = %v, want pc1.…", first.At("next_cursor"))
		}
	})
	t.Run("C-9 default limit", func(t *testing.T) {
		var lines []string
		for i := range 130 {
			lines = append(lines, fmt.Sprintf(`{"key":"many%03d","data":{"id":"many%03d"}}`, i, i))
		}
		w.Ingest("cin_c2", "marks", lines...)
		tok := w.OwnerToken()
		for query, want := range map[string]int{"": 25, "limit=100": 100, "limit=101": 100, "limit=7": 7} {
			if got := len(w.Get(tok, "/v1/streams/marks/records?"+query).IDs()); got != want {
				t.Errorf("%q: %d records, want %d", query, got, want)
			}
		}
		all, pages := walk(t, w, tok, "/v1/streams/marks/records", 25)
		if len(all) != 133 || pages != 6 {
			t.Errorf("%d records on %d pages, want 133 on 6", len(all), pages)
		}
	})
	t.Run("REC-10 writes between pages do not repeat or skip other records", func(t *testing.T) {
		tok := w.OwnerToken()
		a := w.Get(tok, "/v1/streams/ticks/records?limit=1&order=asc").OK()
		w.Ingest("cin_c1", "ticks", `{"key":1,"data":{"n":1,"seq":0}}`, `{"key":50,"data":{"n":50,"seq":5}}`, `{"key":9,"op":"delete"}`)
		rest, _ := walk(t, w, tok, a.At("links.next").(string), 1)
		if diff := cmp.Diff([]string{"50@cin_c1", "10@cin_c1", "-1@cin_c1"}, rest); diff != "" {
			t.Errorf("records differ (-want +got):\n%s", diff)
		}
	})
	t.Run("REC-10 a stream of two connectors", func(t *testing.T) {
		two := twoSources(t)
		got, pages := walk(t, two, two.OwnerToken(), "/v1/streams/events/records?limit=1", 1)
		if diff := cmp.Diff([]string{"ev_3@cin_b1", "ev_2@cin_z9", "ev_1@cin_b1", "ev_1@cin_z9"}, got); diff != "" || pages != 4 {
			t.Errorf("%d pages, records differ (-want +got):\n%s", pages, diff)
		}
	})
}

// TestPagingProperty draws records with many ties on two connections. Pages of any size
// together equal the list on one page (REC-7, REC-10, C-24).
func TestPagingProperty(t *testing.T) {
	t.Parallel()
	w := resttest.Cabinet(t)
	tok, _ := w.Grant(cabinetGrant)
	times := []string{`null`, `"soon"`, `5`, `"2026-01-01"`, `"2026-01-01T00:00:00Z"`, `"2026-01-01T01:00:00+01:00"`, `"2025-06-01T10:00:00.5Z"`, `"0001-01-01T00:00:00Z"`, `"9999-12-31T23:59:59Z"`}
	rapid.Check(t, func(rt *rapid.T) {
		w.Do("DELETE", w.OwnerToken(), "/v1/streams/items/records?connection_id=cin_c1", "")
		w.Do("DELETE", w.OwnerToken(), "/v1/streams/items/records?connection_id=cin_c2", "")
		n := 0
		for _, connection := range []string{"cin_c1", "cin_c2"} {
			ids := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "aa", "A", "é", "a/b", "0", "~", "z"}), 0, 9, rapid.ID[string]).Draw(rt, connection)
			var lines []string
			for _, id := range ids {
				lines = append(lines, item(id, `"at":`+rapid.SampledFrom(times).Draw(rt, "at")))
			}
			if n += len(lines); len(lines) > 0 {
				w.Ingest(connection, "items", lines...)
			}
		}
		order := rapid.SampledFrom([]string{"asc", "desc"}).Draw(rt, "order")
		limit := rapid.IntRange(1, 10).Draw(rt, "limit")
		target := "/v1/streams/items/records?fields=at&order=" + order
		want := places(t, w.Get(tok, target))
		if len(want) != n {
			rt.Fatalf("a list of %d records, want %d", len(want), n)
		}
		got, _ := walk(t, w, tok, fmt.Sprintf("%s&limit=%d", target, limit), limit)
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatalf("limit %d: records differ (-want +got):\n%s", limit, diff)
		}
	})
}

// TestPagingLongIDs: ids of the maximum length fit into a cursor (C-37).
func TestPagingLongIDs(t *testing.T) {
	w := resttest.Cabinet(t)
	for _, c := range []string{"a", "é", "\\\"", "😀"} {
		id := strings.Repeat(c, 512/len(c))
		w.Ingest("cin_c1", "covers", item(id, ""))
		sameValue(t, w.Get(w.OwnerToken(), "/v1/streams/covers/records/"+url.PathEscape(id)).OK(), "id", id)
	}
	all, pages := walk(t, w, w.OwnerToken(), "/v1/streams/covers/records?limit=1", 1)
	if len(all) != 4 || pages != 4 {
		t.Errorf("%d records on %d pages, want 4 on 4", len(all), pages)
	}
}
