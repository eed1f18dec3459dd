package storetest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/store"
)

var filterTests = []test{
	{"equality", testEquality},
	{"ranges", testRanges},
	{"several conditions", testSeveralConditions},
	{"key field", testKeyField},
	{"long operands", testLongOperands},
	{"filtered pages", testFilteredPages},
}

// cond is a condition as text.
type cond struct {
	field   string
	op      pdpp.Op
	operand string
}

// found runs conditions in every order, checks that Count and Get agree, and returns the
// ids in ascending order.
func (w *world) found(src query.Source, conds ...cond) []string {
	w.Helper()
	for _, c := range conds {
		src.Where = append(src.Where, w.where(src.Stream, c.field, c.op, c.operand))
	}
	rows := w.list(query.List{Sources: []query.Source{src}, Order: query.Order{By: query.ByID}})
	for _, o := range []query.Order{{By: query.ByCursor}, {By: query.ByCursor, Desc: true}, {By: query.ByEmitted}, {By: query.ByID, Desc: true}} {
		if other := w.list(query.List{Sources: []query.Source{src}, Order: o}); len(other) != len(rows) {
			w.Errorf("%v: order %+v lists %v, by id %v", conds, o, ids(other), ids(rows))
		}
	}
	if n := w.count(src); n != int64(len(rows)) {
		w.Errorf("%v: Count = %d, listed %v", conds, n, ids(rows))
	}
	listed := map[string]bool{}
	for _, r := range rows {
		listed[r.ID] = true
	}
	for _, r := range w.list(query.List{Sources: []query.Source{{Connection: src.Connection, Stream: src.Stream}}}) {
		if got := len(w.get(r.ID, src)) == 1; got != listed[r.ID] {
			w.Errorf("%v: Get(%s) found it: %v, List: %v", conds, r.ID, got, listed[r.ID])
		}
	}
	return ids(rows)
}

type filterCase struct {
	conds []cond
	want  string // ids, separated by spaces
}

func runFilters(t *testing.T, w *world, cases []filterCase) {
	t.Helper()
	for _, c := range cases {
		got := w.found(w.from(connA, "entries"), c.conds...)
		if diff := cmp.Diff(strings.Fields(c.want), got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.conds, diff)
		}
	}
}

func one(field string, op pdpp.Op, operand string) []cond { return []cond{{field, op, operand}} }

func testEquality(t *testing.T, open Opener) {
	w := newWorld(t, open)
	w.ingest(connA,
		put("a", `{"memo":"x","amount":12,"pieces":3,"paid":true,"seen_at":"2026-01-01","posted_at":"2026-01-01"}`, 1),
		put("b", `{"memo":"\u0078","amount":12.0,"pieces":3.0,"paid":false,"seen_at":"2026-01-01T01:00:00+01:00","posted_at":"2026-01-01T00:00:00Z"}`, 2),
		put("c", `{"memo":"X","amount":1.2e1,"pieces":3.5,"paid":"true","seen_at":"2026-01-01T00:00:00.000Z","posted_at":"2026-01-02"}`, 3),
		put("d", `{"memo":null,"amount":"12","pieces":null,"paid":null,"seen_at":"2026-1-1","posted_at":null}`, 4),
		put("e", `{"memo":"","amount":1e400,"pieces":30000000000000000000001}`, 5),
		put("f", `{}`, 6))
	w.ingest(connB, put("a", `{"memo":"x"}`, 1))
	runFilters(t, w, []filterCase{
		{one("memo", pdpp.OpEq, "x"), "a b"},
		{one("memo", pdpp.OpEq, "X"), "c"},
		{one("memo", pdpp.OpEq, ""), "e"},
		{one("memo", pdpp.OpEq, "null"), ""},
		{one("amount", pdpp.OpEq, "12.00"), "a b c"},
		{one("amount", pdpp.OpEq, "1e400"), "e"},
		{one("amount", pdpp.OpEq, "1e399"), ""},
		{one("pieces", pdpp.OpEq, "3"), "a b"},
		{one("pieces", pdpp.OpEq, "30000000000000000000001"), "e"},
		{one("pieces", pdpp.OpEq, "30000000000000000000000"), ""},
		{one("paid", pdpp.OpEq, "true"), "a"},
		{one("paid", pdpp.OpEq, "false"), "b"},
		{one("seen_at", pdpp.OpEq, "2026-01-01T00:00:00Z"), "a b c"},
		{one("posted_at", pdpp.OpEq, "2026-01-01"), "a b"},
		{one("posted_at", pdpp.OpEq, "2026-01-03"), ""},
	})
}

func testRanges(t *testing.T, open Opener) {
	w := newWorld(t, open)
	w.ingest(connA,
		put("a", `{"amount":-5,"posted_at":"2026-01-01","due":"2026-01-31"}`, 1),
		put("b", `{"amount":0.5,"posted_at":"2026-01-02T12:00:00Z","due":"2026-02-01"}`, 2),
		put("c", `{"amount":1e3,"posted_at":"2026-01-03","due":"2026-02-02"}`, 3),
		put("d", `{"amount":"7","posted_at":"x","due":null}`, 4), put("e", `{}`, 5))
	runFilters(t, w, []filterCase{
		{one("amount", pdpp.OpGte, "0.50"), "b c"},
		{one("amount", pdpp.OpGt, "0.5"), "c"},
		{one("amount", pdpp.OpLt, "0.5"), "a"},
		{one("amount", pdpp.OpLte, "5e-1"), "a b"},
		{[]cond{{"amount", pdpp.OpGt, "-5"}, {"amount", pdpp.OpLt, "1000"}}, "b"},
		{[]cond{{"amount", pdpp.OpGte, "2"}, {"amount", pdpp.OpLt, "1"}}, ""},
		{one("posted_at", pdpp.OpGte, "2026-01-02T13:00:00+01:00"), "b c"},
		{one("posted_at", pdpp.OpGt, "2026-01-02T12:00:00Z"), "c"},
		{one("posted_at", pdpp.OpLte, "2026-01-02T12:00:00Z"), "a b"},
		{one("posted_at", pdpp.OpLt, "2026-01-02T12:00:00Z"), "a"},
		{[]cond{{"posted_at", pdpp.OpGte, "2026-01-02"}, {"posted_at", pdpp.OpLt, "2026-01-03"}}, "b"},
		{[]cond{{"posted_at", pdpp.OpGt, "2026-01-02"}, {"posted_at", pdpp.OpLt, "2026-01-02"}}, ""},
		{one("due", pdpp.OpGte, "2026-02-01"), "b c"},
		{one("due", pdpp.OpLt, "2026-02-01"), "a"},
	})
}

func testSeveralConditions(t *testing.T, open Opener) {
	w := newWorld(t, open)
	w.ingest(connA,
		put("a", `{"id":"a","memo":"x","note":"n","amount":1,"posted_at":"2026-01-01"}`, 1),
		put("b", `{"id":"b","memo":"x","note":"m","amount":2,"posted_at":"2026-01-02"}`, 2),
		put("c", `{"id":"c","memo":"x","note":"n","amount":3,"posted_at":"2026-01-03"}`, 3),
		put("d", `{"id":"d","memo":"y","note":"n","amount":4,"posted_at":"2026-01-04"}`, 4),
		put("e", `{"id":"e","memo":"x","note":"n"}`, 5))
	memo, note := cond{"memo", pdpp.OpEq, "x"}, cond{"note", pdpp.OpEq, "n"}
	runFilters(t, w, []filterCase{
		{[]cond{memo, note}, "a c e"},
		{[]cond{memo, {"amount", pdpp.OpGte, "2"}}, "b c"},
		{[]cond{note, {"posted_at", pdpp.OpGte, "2026-01-02"}}, "c d"},
		{[]cond{memo, note, {"amount", pdpp.OpLt, "3"}, {"posted_at", pdpp.OpLt, "2026-01-03"}}, "a"},
		{[]cond{{"id", pdpp.OpEq, "c"}, memo, {"posted_at", pdpp.OpEq, "2026-01-03"}}, "c"},
		{[]cond{{"id", pdpp.OpEq, "c"}, {"memo", pdpp.OpEq, "y"}}, ""},
		{[]cond{{"id", pdpp.OpEq, "c"}, {"id", pdpp.OpEq, "d"}}, ""},
		{[]cond{memo, {"memo", pdpp.OpEq, "y"}}, ""},
		{[]cond{{"amount", pdpp.OpEq, "3"}, {"amount", pdpp.OpLt, "3"}}, ""},
		{[]cond{{"amount", pdpp.OpLte, "3"}, {"amount", pdpp.OpEq, "3"}}, "c"},
		{[]cond{{"posted_at", pdpp.OpEq, "2026-01-01"}, {"posted_at", pdpp.OpEq, "2026-01-02"}}, ""},
	})
}

// testKeyField: a filter on the key field tests the data, where the field may be missing.
func testKeyField(t *testing.T, open Opener) {
	w := newWorld(t, open)
	w.ingest(connA, put("a", `{"id":"a"}`, 1), put("b", `{"memo":"b"}`, 2), put("c", `{"id":null}`, 3),
		put("\"q\"", `{"id":"\u0022q\u0022"}`, 4), put("7", `{"id":7}`, 5))
	runFilters(t, w, []filterCase{
		{one("id", pdpp.OpEq, "a"), "a"},
		{one("id", pdpp.OpEq, "b"), ""},
		{one("id", pdpp.OpEq, "c"), ""},
		{one("id", pdpp.OpEq, `"q"`), `"q"`},
		{one("id", pdpp.OpEq, "7"), ""}, // mistyped: no value of a string field
		{one("id", pdpp.OpEq, "nobody"), ""},
	})
	numbered := newWorld(t, open, decl{name: "entries", fields: []string{"n integer", "memo string"}, key: []string{"n"}, cursor: "n"})
	numbered.ingest(connA, put("7", `{"n":7}`, 1), put("8", `{}`, 1))
	runFilters(t, numbered, []filterCase{
		{one("n", pdpp.OpEq, "7.0"), "7"},
		{one("n", pdpp.OpEq, "8"), ""},
	})
}

// testLongOperands: the longest allowed operand is found (REC-18); no operand equals a
// longer value.
func testLongOperands(t *testing.T, open Opener) {
	w := newWorld(t, open)
	exact, wide := strings.Repeat("x", store.MaxIndexed), strings.Repeat("é", store.MaxIndexed/2)
	escaped := strings.Repeat(`\u00e9`, store.MaxIndexed/2)
	w.ingest(connA, put("a", `{"memo":"`+exact+`"}`, 1), put("b", `{"memo":"`+exact+`x"}`, 1),
		put("c", `{"memo":"`+wide+`"}`, 1), put("d", `{"memo":"`+escaped+`"}`, 1))
	runFilters(t, w, []filterCase{
		{one("memo", pdpp.OpEq, exact), "a"},
		{one("memo", pdpp.OpEq, wide), "c d"},
	})
}

// testFilteredPages: filters apply before limits.
func testFilteredPages(t *testing.T, open Opener) {
	w := newWorld(t, open)
	mixed(w)
	for i, c := range []pdpp.ConnectionID{connA, connB} {
		w.ingest(c, put("x1", `{"memo":"x","posted_at":"2026-01-02"}`, i), put("x2", `{"memo":"x"}`, 5),
			put("x3", `{"memo":"x","posted_at":"2026-02-01"}`, 3), put("x4", `{"memo":"x","posted_at":null}`, 1))
	}
	for _, by := range []query.OrderBy{query.ByID, query.ByCursor, query.ByEmitted} {
		for _, desc := range []bool{false, true} {
			sources := w.both()
			for i := range sources {
				sources[i].Where = []query.Condition{w.where(sources[i].Stream, "memo", pdpp.OpEq, "x")}
			}
			q := query.List{Sources: sources, Order: query.Order{By: by, Desc: desc}}
			want := places(w.list(q))
			if len(want) != 8 {
				t.Errorf("order %+v lists %v, want 8 records", q.Order, want)
			}
			for size := 1; size <= 9; size++ {
				if diff := cmp.Diff(want, places(w.pages(q, size))); diff != "" {
					t.Errorf("order %+v, pages of %d (-want +got):\n%s", q.Order, size, diff)
				}
			}
		}
	}
}
