package storetest

import (
	"fmt"
	"math"
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
	{"reads before it", testReadsBeforeReindex},
	{"writes before it", testWritesBeforeReindex},
	{"time limit before it", testTimeBeforeReindex},
	{"search before it", testSearchBeforeReindex},
	{"connection added later", testLateConnection},
}

// testNewField: a new declaration applies to stored records (M-11).
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

// testAnotherKey: the primary key of a stream with records cannot change, nor the source
// of a connector key.
func testAnotherKey(t *testing.T, open Opener) {
	w := newWorld(t, open)
	w.ingest(connA, put("a", `{"id":"a","memo":"x"}`, 1), put("x", `{"memo":"y"}`, 2))
	d := entries()
	d.key = []string{"memo"}
	put := func(m *pdpp.Manifest) error {
		return w.store.Update(t.Context(), func(tx store.Tx) error { return tx.PutManifest(w.subject, m) })
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
			_, err = tx.DeleteAll(b, math.MaxInt64, at(9))
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

// testWritesAfterReindex: the next change of a record removes the entries that a re-index
// made.
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
	w.update(func(tx store.Tx) error { return tx.PutManifest(w.subject, w.manifest) })
	last := 0
	err := store.Reindex(t.Context(), w.store, func(done int) {
		if done < last {
			t.Errorf("progress went from %d to %d", last, done)
		}
		last = done
	})
	if err != nil || last != len(in) {
		t.Errorf("progress ended at %d, want %d; %v", last, len(in), err)
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

// rebuilding fails unless a read is refused because the index is being rebuilt.
func rebuilding(t *testing.T, what string, err error) {
	t.Helper()
	if pdpp.CodeOf(err) != pdpp.CodeUnavailable {
		t.Errorf("%s before the records are indexed = %v, want %s", what, err, pdpp.CodeUnavailable)
	}
}

// tryList lists and returns the ids.
func (w *world) tryList(q query.List) (got []string, err error) {
	q.Subject, q.Limit = w.subject, 100
	err = w.store.View(w.Context(), func(v store.View) error {
		_, err := v.List(q, func(r *store.Record) (bool, error) {
			got = append(got, string(r.ID))
			return true, nil
		})
		return err
	})
	return got, err
}

// testReadsBeforeReindex: reads that do not depend on stale entries work; others are
// refused (M-11).
func testReadsBeforeReindex(t *testing.T, open Opener) {
	w := newWorld(t, open)
	w.ingest(connA, put("a", `{"extra":"x","memo":"m","amount":2}`, 1), put("b", `{"extra":"y","memo":"m","amount":1}`, 2))
	w.declareOnly(entries().with("extra string"))
	src := w.from(connA, "entries")
	if got, err := w.tryList(query.List{Sources: []query.Source{src}, Order: query.Order{By: query.ByCursor}}); err != nil || len(got) != 2 {
		t.Errorf("a list: %v, %v", got, err)
	}
	src.Where = []query.Condition{w.where(src.Stream, "memo", pdpp.OpEq, "m")}
	if got, err := w.tryList(query.List{Sources: []query.Source{src}}); err != nil || len(got) != 2 {
		t.Errorf("a filter by a field that did not change: %v, %v", got, err)
	}
	src.Where = []query.Condition{w.where(src.Stream, "extra", pdpp.OpEq, "x")}
	_, err := w.tryList(query.List{Sources: []query.Source{src}})
	rebuilding(t, "a filter by the new field", err)
	if got := w.get("a", w.both()...); len(got) != 1 {
		t.Errorf("a record by its id: %v", got)
	}
	d := entries().with("extra string")
	d.cursor = "amount"
	w.declareOnly(d) // before the other was done
	src = w.from(connA, "entries")
	_, err = w.tryList(query.List{Sources: []query.Source{src}, Order: query.Order{By: query.ByCursor}})
	rebuilding(t, "a list in the new order", err)
	if got, err := w.tryList(query.List{Sources: []query.Source{src}, Order: query.Order{By: query.ByID}}); err != nil || len(got) != 2 {
		t.Errorf("a list in another order: %v, %v", got, err)
	}
	w.reindex()
	runFilters(t, w, []filterCase{{one("extra", pdpp.OpEq, "x"), "a"}, {one("amount", pdpp.OpGte, "2"), "a"}})
	if got, err := w.tryList(query.List{Sources: []query.Source{src}, Order: query.Order{By: query.ByCursor}}); err != nil || strings.Join(got, " ") != "b a" {
		t.Errorf("the new order: %v, %v", got, err)
	}
}

// testWritesBeforeReindex: records that were indexed under several layouts are changed
// and deleted before they are re-indexed, and leave no entries.
func testWritesBeforeReindex(t *testing.T, open Opener) {
	w := newWorld(t, open)
	data := `{"extra":"x","memo":"old","note":"words","posted_at":"2026-01-01","amount":1}`
	w.ingest(connA, put("a", data, 1), put("b", data, 2), put("c", data, 3), put("same", data, 3))
	second := entries().with("extra string")
	second.cursor, second.lexical = "amount", []string{"extra"}
	w.declareOnly(second)
	w.ingest(connA, put("d", data, 4), put("a", `{"extra":"y","memo":"new","amount":2}`, 5))
	third := entries().with("extra string")
	third.lexical = []string{"memo", "extra"}
	w.declareOnly(third)
	if out := w.ingest(connA, drop("b", 6), drop("d", 6), put("same", data, 9)); out[2] != store.Unchanged {
		t.Errorf("the same record again = %v, want unchanged", out[2])
	}
	w.ingest(connA, put("e", `{"extra":"z","memo":"new"}`, 7))
	w.reindex()
	runFilters(t, w, []filterCase{
		{one("extra", pdpp.OpEq, "x"), "c same"},
		{one("extra", pdpp.OpEq, "y"), "a"},
		{one("amount", pdpp.OpGte, "1"), "a c same"},
		{one("posted_at", pdpp.OpEq, "2026-01-01"), "c same"},
	})
	for text, want := range map[string]string{"old": "same@a c@a", "new": "e@a a@a", "words": "", "x": "", "z": ""} {
		if got := w.words(text, w.both()...); got != want {
			t.Errorf("%q finds %q, want %q", text, got, want)
		}
	}
	b := w.binding(connA, "entries")
	w.update(func(tx store.Tx) error { _, err := tx.DeleteAll(b, math.MaxInt64, at(9)); return err })
	if got := w.words("old", w.both()...) + w.words("new", w.both()...); got != "" {
		t.Errorf("deleted records are found: %q", got)
	}
}

// testTimeBeforeReindex: a grant's time limit is never checked against stale values.
func testTimeBeforeReindex(t *testing.T, open Opener) {
	d := entries()
	w := newWorld(t, open, d.with("seen_at string"))
	w.ingest(connA, put("a", `{"seen_at":"2026-01-01T00:00:00Z"}`, 1), put("b", `{"seen_at":"2027-01-01T00:00:00Z"}`, 2))
	w.declareOnly(d) // seen_at is a time
	src := w.from(connA, "entries")
	src.Time = &pdpp.TimeConstraint{Field: "seen_at", Until: at(0).AddDate(0, 6, 0)}
	_, err := w.tryList(query.List{Sources: []query.Source{src}})
	rebuilding(t, "a list within a time limit", err)
	for what, read := range map[string]func(store.View) error{
		"a record": func(v store.View) error {
			return v.Get(query.Get{Subject: w.subject, Sources: []query.Source{src}, ID: "a"}, func(*store.Record) error { return nil })
		},
		"a count": func(v store.View) error {
			_, err := v.Count(query.List{Subject: w.subject, Sources: []query.Source{src}})
			return err
		},
		"the time of the last record": func(v store.View) error {
			_, _, err := v.LastEmitted(w.subject, src)
			return err
		},
	} {
		rebuilding(t, what, w.store.View(t.Context(), read))
	}
	w.reindex()
	if got, err := w.tryList(query.List{Sources: []query.Source{src}}); err != nil || strings.Join(got, " ") != "a" {
		t.Errorf("after the records were indexed: %v, %v", got, err)
	}
}

// testSearchBeforeReindex: a search reports that it may miss records.
func testSearchBeforeReindex(t *testing.T, open Opener) {
	w := newWorld(t, open)
	w.ingest(connA, put("a", `{"memo":"rent","parent":"rent"}`, 1))
	incomplete := func(fields ...string) (yes bool) {
		t.Helper()
		w.view(func(v store.View) (err error) {
			yes, err = v.Incomplete(query.Search{
				Subject: w.subject, Sources: []query.SearchSource{searched(w.from(connA, "entries"), fields...)},
			})
			return err
		})
		return yes
	}
	d := entries()
	d.lexical = append(d.lexical, "parent")
	w.declareOnly(d)
	if !incomplete("memo", "parent") || incomplete("memo") {
		t.Error("a search in the new field is complete, or one in another is not")
	}
	w.reindex()
	if incomplete("memo", "parent") {
		t.Error("the search is not complete after the records were indexed")
	}
}
