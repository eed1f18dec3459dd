package storetest

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/store"
)

var orderTests = []test{
	{"by cursor", testOrderByCursor},
	{"by id and emitted_at", testOrderByRow},
	{"by number", testOrderByNumber},
	{"without a cursor field", testOrderWithoutCursor},
	{"paging", testPaging},
	{"has more", testHasMore},
	{"nested reads", testNestedReads},
}

// mixed fills both connections with ties, gaps and records without a sort value.
func mixed(w *world) {
	w.Helper()
	w.ingest(connA,
		put("m", `{"posted_at":"2026-01-02"}`, 5), put("n", `{"posted_at":"2026-01-02T00:00:00Z"}`, 5),
		put("a", `{"posted_at":"2026-01-03T00:30:00+01:00"}`, 4), put("b", `{"posted_at":null}`, 3),
		put("c", `{}`, 3), put("d", `{"posted_at":"soon"}`, 9), put("e", `{"posted_at":5}`, 1))
	w.ingest(connB,
		put("m", `{"posted_at":"2026-01-02T01:00:00+01:00"}`, 5), put("a", `{"posted_at":"2026-01-01"}`, 4),
		put("c", `{"posted_at":null}`, 3), put("z", `{"posted_at":"2025-12-31"}`, 2), put("b", `{}`, 1))
}

func checkOrder(t *testing.T, w *world, o query.Order, want []string) {
	t.Helper()
	q := query.List{Sources: w.both(), Order: o}
	if diff := cmp.Diff(want, places(w.list(q))); diff != "" {
		t.Errorf("order %+v (-want +got):\n%s", o, diff)
	}
	q.Sources[0], q.Sources[1] = q.Sources[1], q.Sources[0]
	if diff := cmp.Diff(want, places(w.list(q))); diff != "" {
		t.Errorf("order %+v, sources swapped (-want +got):\n%s", o, diff)
	}
}

func testOrderByCursor(t *testing.T, open Opener) {
	w := newWorld(t, open)
	mixed(w)
	checkOrder(t, w, query.Order{By: query.ByCursor},
		[]string{"z@b", "a@b", "m@a", "m@b", "n@a", "a@a", "b@a", "b@b", "c@a", "c@b", "d@a", "e@a"})
	// Records without a value are last in both directions (REC-7).
	checkOrder(t, w, query.Order{By: query.ByCursor, Desc: true},
		[]string{"a@a", "n@a", "m@b", "m@a", "a@b", "z@b", "e@a", "d@a", "c@b", "c@a", "b@b", "b@a"})
}

func testOrderByRow(t *testing.T, open Opener) {
	w := newWorld(t, open)
	mixed(w)
	byID := []string{"a@a", "a@b", "b@a", "b@b", "c@a", "c@b", "d@a", "e@a", "m@a", "m@b", "n@a", "z@b"}
	byEmitted := []string{"b@b", "e@a", "z@b", "b@a", "c@a", "c@b", "a@a", "a@b", "m@a", "m@b", "n@a", "d@a"}
	checkOrder(t, w, query.Order{By: query.ByID}, byID)
	checkOrder(t, w, query.Order{By: query.ByID, Desc: true}, reversed(byID))
	checkOrder(t, w, query.Order{By: query.ByEmitted}, byEmitted)
	checkOrder(t, w, query.Order{By: query.ByEmitted, Desc: true}, reversed(byEmitted))
}

func reversed(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[len(list)-1-i] = s
	}
	return out
}

// testOrderByNumber: numbers compare as exact decimals, however written.
func testOrderByNumber(t *testing.T, open Opener) {
	d := entries()
	d.cursor = "amount"
	w := newWorld(t, open, d)
	w.ingest(connA,
		put("f", `{"amount":1e400}`, 1), put("e", `{"amount":9007199254740993}`, 1), put("d", `{"amount":9007199254740992}`, 1),
		put("c2", `{"amount":12.0}`, 1), put("c1", `{"amount":1.2e1}`, 1), put("b", `{"amount":-0}`, 1),
		put("a", `{"amount":-1E3}`, 1), put("g", `{"amount":"3"}`, 1))
	want := []string{"a", "b", "c1", "c2", "d", "e", "f", "g"}
	if got := ids(w.list(query.List{Sources: w.both(), Order: query.Order{By: query.ByCursor}})); !cmp.Equal(want, got) {
		t.Errorf("ascending = %v, want %v", got, want)
	}
	want = []string{"f", "e", "d", "c2", "c1", "b", "a", "g"}
	if got := ids(w.list(query.List{Sources: w.both(), Order: query.Order{By: query.ByCursor, Desc: true}})); !cmp.Equal(want, got) {
		t.Errorf("descending = %v, want %v", got, want)
	}
}

func testOrderWithoutCursor(t *testing.T, open Opener) {
	d := entries()
	d.cursor = ""
	w := newWorld(t, open, d)
	mixed(w)
	want := []string{"a@a", "a@b", "b@a", "b@b", "c@a", "c@b", "d@a", "e@a", "m@a", "m@b", "n@a", "z@b"}
	checkOrder(t, w, query.Order{By: query.ByCursor}, want)
	checkOrder(t, w, query.Order{By: query.ByCursor, Desc: true}, reversed(want))
}

// testPaging: pages of every size visit each record exactly once, in order.
func testPaging(t *testing.T, open Opener) {
	w := newWorld(t, open)
	mixed(w)
	for _, by := range []query.OrderBy{query.ByID, query.ByCursor, query.ByEmitted} {
		for _, desc := range []bool{false, true} {
			q := query.List{Sources: w.both(), Order: query.Order{By: by, Desc: desc}}
			want := places(w.list(q))
			if len(want) != 12 {
				t.Errorf("order %+v lists %d records, want 12", q.Order, len(want))
			}
			for _, size := range []int{1, 2, 3, 5, 6, 11, 12, 13} {
				if diff := cmp.Diff(want, places(w.pages(q, size))); diff != "" {
					t.Errorf("order %+v, pages of %d (-want +got):\n%s", q.Order, size, diff)
				}
			}
		}
	}
}

// testHasMore: more is exact (REC-10), whatever the limit is and however many the caller
// takes.
func testHasMore(t *testing.T, open Opener) {
	w := newWorld(t, open)
	for i := range 5 {
		w.ingest(connA, put(fmt.Sprint(i), `{}`, i))
		w.ingest(connB, put(fmt.Sprint(i), `{}`, i))
	}
	for _, limit := range []int{1, 2, 9, 10, 11} {
		for take := 0; take <= limit; take++ {
			w.view(func(v store.View) error {
				q := query.List{Subject: w.subject, Sources: w.both(), Order: query.Order{By: query.ByCursor}, Limit: limit}
				n := 0
				more, err := v.List(q, func(*store.Record) (bool, error) {
					n++
					return n <= take, nil
				})
				if want := take < 10; more != want {
					t.Errorf("limit %d, %d taken: more = %v, want %v", limit, take, more, want)
				}
				return err
			})
		}
	}
}

// testNestedReads: visit may use the View, as expansion does (REC-26).
func testNestedReads(t *testing.T, open Opener) {
	w := newWorld(t, open)
	w.ingest(connA, put("p", `{"memo":"p"}`, 1), put("q", `{"memo":"q"}`, 2),
		put("p1", `{"parent":"p"}`, 1), put("p2", `{"parent":"p"}`, 1), put("q1", `{"parent":"q"}`, 1))
	var got []string
	w.view(func(v store.View) error {
		src := w.from(connA, "entries")
		s := src.Stream
		outer := query.List{Subject: w.subject, Sources: []query.Source{src}, Limit: 10}
		_, err := v.List(outer, func(r *store.Record) (bool, error) {
			id := string(r.ID)
			inner := outer
			inner.Sources = []query.Source{{Connection: connA, Stream: s, Where: []query.Condition{w.where(s, "parent", pdpp.OpEq, id)}}}
			rows, _, err := page(v, inner)
			for _, child := range rows {
				got = append(got, id+">"+child.ID)
			}
			if string(r.ID) != id {
				t.Errorf("the record changed under its reader: %q", r.ID)
			}
			return true, err
		})
		return err
	})
	if diff := cmp.Diff([]string{"p>p1", "p>p2", "q>q1"}, got); diff != "" {
		t.Errorf("children (-want +got):\n%s", diff)
	}
}
