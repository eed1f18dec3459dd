package storetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/store"
)

var reindexTests = []test{
	{"new field", testNewField},
	{"new range", testNewRange},
	{"another cursor field", testAnotherCursor},
	{"another type", testAnotherType},
	{"another key", testAnotherKey},
	{"dropped and declared again", testDroppedStream},
	{"writes after it", testWritesAfterReindex},
	{"progress", testProgress},
	{"connection added later", testLateConnection},
}

// testNewField: a new declaration takes effect at once for what is stored (M-11).
func testNewField(t *testing.T, open Opener) {
	w := newWorld(t, open)
	long := strings.Repeat("long ", store.LongValue)
	w.ingest(connA, put("a", `{"extra":"x","memo":"`+long+`"}`, 1), put("b", `{"extra":"y"}`, 2), put("c", `{}`, 3))
	w.ingest(connB, put("a", `{"extra":"x"}`, 1))
	before := w.list(query.List{Sources: w.both()})
	w.declare(entries().with("extra string"))
	runFilters(t, w, []filterCase{{one("extra", pdpp.OpEq, "x"), "a"}, {one("extra", pdpp.OpEq, "y"), "b"}})
	if diff := cmp.Diff(before, w.list(query.List{Sources: w.both()})); diff != "" {
		t.Errorf("records changed (-before +after):\n%s", diff)
	}
	if out := w.ingest(connA, put("a", `{"extra":"x","memo":"`+long+`"}`, 9)); out[0] != store.Unchanged {
		t.Errorf("the same record again = %v, want unchanged", out[0])
	}
	w.declare(entries())
	w.declare(entries().with("extra number"))
	runFilters(t, w, []filterCase{{one("extra", pdpp.OpEq, "1"), ""}})
}

func testNewRange(t *testing.T, open Opener) {
	d := entries()
	d.ranges = nil
	w := newWorld(t, open, d)
	w.ingest(connA, put("a", `{"pieces":1,"memo":"x"}`, 1), put("b", `{"pieces":2,"memo":"x"}`, 2))
	d.ranges = []string{"pieces"}
	w.declare(d)
	runFilters(t, w, []filterCase{
		{one("pieces", pdpp.OpGt, "1"), "b"},
		{[]cond{{"memo", pdpp.OpEq, "x"}, {"pieces", pdpp.OpLte, "1"}}, "a"},
	})
}

func testAnotherCursor(t *testing.T, open Opener) {
	w := newWorld(t, open)
	w.ingest(connA,
		put("a", `{"amount":3,"posted_at":"2026-01-01","memo":"x"}`, 1), put("b", `{"amount":1,"posted_at":"2026-01-02","memo":"x"}`, 2),
		put("c", `{"posted_at":"2026-01-03","memo":"x"}`, 3), put("d", `{"amount":2,"memo":"x"}`, 4))
	for _, c := range []struct{ cursor, want string }{
		{"posted_at", "a b c d"}, {"amount", "b d a c"}, {"", "a b c d"}, {"due", "a b c d"}, {"amount", "b d a c"},
	} {
		d := entries()
		d.cursor = c.cursor
		w.declare(d)
		src := w.from(connA, "entries")
		for _, conds := range [][]query.Condition{nil, {w.where(src.Stream, "memo", pdpp.OpEq, "x")}} {
			src.Where = conds
			q := query.List{Sources: []query.Source{src}, Order: query.Order{By: query.ByCursor}}
			if got := strings.Join(ids(w.list(q)), " "); got != c.want {
				t.Errorf("cursor %q: %s, want %s", c.cursor, got, c.want)
			}
			if got := strings.Join(ids(w.pages(q, 1)), " "); got != c.want {
				t.Errorf("cursor %q in pages: %s, want %s", c.cursor, got, c.want)
			}
		}
		runFilters(t, w, []filterCase{
			{one("amount", pdpp.OpGte, "2"), "a d"}, {one("posted_at", pdpp.OpEq, "2026-01-02"), "b"},
		})
	}
}

func testAnotherType(t *testing.T, open Opener) {
	w := newWorld(t, open)
	w.ingest(connA, put("a", `{"seen_at":"2026-01-01","memo":"12"}`, 1), put("b", `{"seen_at":"2026-01-01T00:00:00Z","memo":12}`, 2))
	w.declare(entries().with("seen_at string"))
	runFilters(t, w, []filterCase{{one("seen_at", pdpp.OpEq, "2026-01-01"), "a"}})
	d := entries().with("memo number")
	d.lexical = nil
	w.declare(d)
	runFilters(t, w, []filterCase{
		{one("seen_at", pdpp.OpEq, "2026-01-01"), "a b"},
		{one("memo", pdpp.OpEq, "12"), "b"},
	})
}

// testAnotherKey: what identifies records cannot change under them; nor can the
// source behind a connector key.
func testAnotherKey(t *testing.T, open Opener) {
	w := newWorld(t, open)
	w.ingest(connA, put("a", `{"id":"a","memo":"x"}`, 1), put("x", `{"memo":"y"}`, 2))
	d := entries()
	d.key = []string{"memo"}
	put := func(m *pdpp.Manifest) error {
		return w.store.Update(t.Context(), func(tx store.Tx) error { return tx.PutManifest(w.subject, m, nil) })
	}
	if err := put(declare(w, "ledger", d)); pdpp.CodeOf(err) != pdpp.CodeInvalidInput {
		t.Errorf("another primary key over records = %v, want invalid_input", err)
	}
	other := declare(w, "ledger", entries())
	other.SourceID += "/other"
	if err := put(other); pdpp.CodeOf(err) != pdpp.CodeInvalidInput {
		t.Errorf("another source under the same key = %v, want invalid_input", err)
	}
	runFilters(t, w, []filterCase{{one("memo", pdpp.OpEq, "x"), "a"}, {one("id", pdpp.OpEq, "a"), "a"}})
	for _, id := range []pdpp.ConnectionID{connA, connB} {
		w.update(func(tx store.Tx) error {
			b, err := tx.Binding(w.subject, pdpp.Connection{ID: id}, w.manifest.Stream("entries"))
			if err != nil {
				return err
			}
			_, err = tx.DeleteAll(b, at(9))
			return err
		})
	}
	w.declare(d) // nothing is there any more
}

func testDroppedStream(t *testing.T, open Opener) {
	other := decl{name: "others", fields: []string{"id string"}}
	w := newWorld(t, open, entries(), other)
	w.ingest(connA, put("a", `{"memo":"x","extra":1,"posted_at":"2026-01-02"}`, 1), put("b", `{"extra":2,"posted_at":"2026-01-01"}`, 2))
	old := w.binding(connA, "entries")
	w.declare(other)
	again := entries().with("extra integer").without("memo")
	again.cursor, again.ranges = "extra", []string{"extra"}
	w.declare(again, other)
	if now := w.binding(connA, "entries"); now.ID != old.ID {
		t.Errorf("the binding's number went from %d to %d", old.ID, now.ID)
	}
	runFilters(t, w, []filterCase{{one("extra", pdpp.OpGte, "2"), "b"}, {one("posted_at", pdpp.OpEq, "2026-01-02"), "a"}})
	w.ingest(connA, drop("a", 5), put("b", `{"extra":3}`, 6))
	w.declare(entries(), other)
	runFilters(t, w, []filterCase{{one("memo", pdpp.OpEq, "x"), ""}, {one("posted_at", pdpp.OpLt, "2030-01-01"), ""}})
	if rows := w.get("b", w.both()...); len(rows) != 1 || rows[0].Body != `{"extra":3}` {
		t.Errorf("record b = %v", rows)
	}
}

// testWritesAfterReindex: entries made by a re-index are taken out by the next
// change of the record.
func testWritesAfterReindex(t *testing.T, open Opener) {
	w := newWorld(t, open)
	w.ingest(connA, put("a", `{"extra":"x","memo":"m","posted_at":"2026-01-01"}`, 1), put("b", `{"extra":"x"}`, 1))
	d := entries().with("extra string")
	d.cursor, d.lexical = "due", []string{"extra"}
	w.declare(d)
	w.ingest(connA, put("a", `{"extra":"y"}`, 2), drop("b", 2))
	runFilters(t, w, []filterCase{
		{one("extra", pdpp.OpEq, "x"), ""},
		{one("extra", pdpp.OpEq, "y"), "a"},
		{one("memo", pdpp.OpEq, "m"), ""},
		{one("posted_at", pdpp.OpEq, "2026-01-01"), ""},
	})
}

func testProgress(t *testing.T, open Opener) {
	w := newWorld(t, open)
	var in []store.Input
	for i := range 1200 {
		in = append(in, put(fmt.Sprintf("r%04d", i), `{"extra":"x"}`, i))
	}
	w.ingest(connA, in...)
	w.manifest = declare(t, "ledger", entries().with("extra string"))
	last := 0
	w.update(func(tx store.Tx) error {
		return tx.PutManifest(w.subject, w.manifest, func(done int) {
			if done <= last {
				t.Errorf("progress went from %d to %d", last, done)
			}
			last = done
		})
	})
	if last != len(in) {
		t.Errorf("progress ended at %d, want %d", last, len(in))
	}
	if n := len(w.found(w.from(connA, "entries"), cond{"extra", pdpp.OpEq, "x"})); n != len(in) {
		t.Errorf("found %d records, want %d", n, len(in))
	}
}

func testLateConnection(t *testing.T, open Opener) {
	w := newWorld(t, open)
	w.declare(entries().with("extra string"))
	w.connect(pdpp.Connection{ID: "cin_c", Connector: "ledger", Name: "c", Status: "active", CreatedAt: at(1)})
	w.ingest("cin_c", put("a", `{"extra":"x"}`, 1))
	src := w.from("cin_c", "entries")
	if got := w.found(src, cond{"extra", pdpp.OpEq, "x"}); !cmp.Equal(got, []string{"a"}) {
		t.Errorf("found %v, want a", got)
	}
}
