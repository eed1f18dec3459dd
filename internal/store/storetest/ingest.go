package storetest

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/store"
)

var ingestTests = []test{
	{"outcomes", testOutcomes},
	{"unchanged keeps emitted_at", testUnchanged},
	{"one batch, one record", testBatchOfOneRecord},
	{"an update moves the record", testUpdateMoves},
	{"far times", testFarTimes},
	{"many in one instant", testManyInOneInstant},
	{"delete all", testDeleteAll},
	{"delete all up to a change", testDeleteUpTo},
	{"last emitted", testLastEmitted},
	{"stale", testStale},
}

func testOutcomes(t *testing.T, open Opener) {
	w := newWorld(t, open)
	got := w.ingest(connA,
		put("1", `{"id":"1","memo":"a"}`, 1), put("1", `{ "id": "1", "memo": "a" }`, 2), put("1", `{"memo":"a","id":"1"}`, 3),
		put("2", `{}`, 1), drop("2", 2), drop("2", 3), drop("3", 1), put("2", `{}`, 4))
	want := []store.Outcome{
		store.Stored, store.Unchanged, store.Stored,
		store.Stored, store.Deleted, store.Absent, store.Absent, store.Stored,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
	rows := w.list(query.List{Sources: w.both(), Order: query.Order{By: query.ByID}})
	wantRows := []Row{{connA, "1", at(3), `{"memo":"a","id":"1"}`}, {connA, "2", at(4), `{}`}}
	if diff := cmp.Diff(wantRows, rows); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

func testUnchanged(t *testing.T, open Opener) {
	w := newWorld(t, open)
	w.ingest(connA, put("1", `{"id":"1","amount":12.50}`, 5))
	for _, c := range []struct {
		data string
		want store.Outcome
	}{
		{`{"id":"1","amount":12.50}`, store.Unchanged},
		{` {"id" : "1",` + "\n" + `"amount":12.50}`, store.Unchanged},
		{`{"id":"1","amount":12.5}`, store.Stored}, // other digits are other content (C-33)
	} {
		if got := w.ingest(connA, put("1", c.data, 9)); got[0] != c.want {
			t.Errorf("Ingest(%s) = %v, want %v", c.data, got[0], c.want)
		}
		wantAt := at(5)
		if c.want == store.Stored {
			wantAt = at(9)
		}
		if rows := w.get("1", w.both()...); len(rows) != 1 || !rows[0].EmittedAt.Equal(wantAt) {
			t.Errorf("after %s: %v, want emitted_at %v", c.data, rows, wantAt)
		}
	}
}

func testBatchOfOneRecord(t *testing.T, open Opener) {
	w := newWorld(t, open)
	w.ingest(connA, put("1", `{"id":"1","memo":"a"}`, 1), drop("1", 1), put("1", `{"id":"1","memo":"b"}`, 1), put("1", `{"id":"1","memo":"c"}`, 1))
	src := w.from(connA, "entries")
	for memo, want := range map[string]int64{"a": 0, "b": 0, "c": 1} {
		src.Where = []query.Condition{w.where(src.Stream, "memo", pdpp.OpEq, memo)}
		if n := w.count(src); n != want {
			t.Errorf("records with memo %s = %d, want %d", memo, n, want)
		}
	}
}

// testUpdateMoves: index entries follow the content of a record.
func testUpdateMoves(t *testing.T, open Opener) {
	w := newWorld(t, open)
	w.ingest(connA,
		put("1", `{"id":"1","memo":"x","amount":1,"posted_at":"2026-01-01","due":"2026-03-01"}`, 1),
		put("2", `{"id":"2","memo":"x","amount":2,"posted_at":"2026-01-02","due":"2026-03-02"}`, 2),
		put("3", `{"id":"3","memo":"x","amount":3,"posted_at":"2026-01-03","due":"2026-03-03"}`, 3))
	w.ingest(connA, put("1", `{"memo":"y","amount":30,"posted_at":"2026-01-09","due":"2026-04-01"}`, 9))
	src := w.from(connA, "entries")
	s := src.Stream
	check := func(what string, by query.OrderBy, want []string, conds ...query.Condition) {
		t.Helper()
		src.Where = conds
		got := ids(w.list(query.List{Sources: []query.Source{src}, Order: query.Order{By: by}}))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	check("by cursor", query.ByCursor, []string{"2", "3", "1"})
	check("by emitted_at", query.ByEmitted, []string{"2", "3", "1"})
	check("old memo", query.ByID, []string{"2", "3"}, w.where(s, "memo", pdpp.OpEq, "x"))
	check("new memo", query.ByCursor, []string{"1"}, w.where(s, "memo", pdpp.OpEq, "y"))
	check("amount", query.ByCursor, []string{"3", "1"}, w.where(s, "amount", pdpp.OpGt, "2"))
	check("key field is gone", query.ByCursor, []string{}, w.where(s, "id", pdpp.OpEq, "1"))
	check("key field is there", query.ByCursor, []string{"2"}, w.where(s, "id", pdpp.OpEq, "2"))
	src.Time = &pdpp.TimeConstraint{Field: "due", Since: day(4, 1)}
	check("consent time", query.ByCursor, []string{"1"})
	src.Time = &pdpp.TimeConstraint{Field: "due", Until: day(4, 1)}
	check("former consent time", query.ByCursor, []string{"2", "3"})
}

func testFarTimes(t *testing.T, open Opener) {
	w := newWorld(t, open)
	years := map[string]int{"a": -1969, "b": -300, "c": -57, "d": 0, "e": 190, "f": 7900}
	for _, id := range []string{"d", "f", "b", "a", "e", "c"} {
		in := put(id, `{"memo":"word"}`, 0)
		in.EmittedAt = start.AddDate(years[id], 0, 0)
		w.ingest(connA, in)
		in.Data = []byte(`{"memo":"other word"}`)
		if out := w.ingest(connA, in); out[0] != store.Stored {
			t.Errorf("update of %s = %v", id, out[0])
		}
	}
	rows := w.list(query.List{Sources: w.both(), Order: query.Order{By: query.ByEmitted}})
	if diff := cmp.Diff([]string{"a", "b", "c", "d", "e", "f"}, ids(rows)); diff != "" {
		t.Errorf("by emitted_at (-want +got):\n%s", diff)
	}
	for _, r := range rows {
		if want := start.AddDate(years[r.ID], 0, 0); !r.EmittedAt.Equal(want) {
			t.Errorf("emitted_at of %s = %v, want %v", r.ID, r.EmittedAt, want)
		}
	}
}

func testManyInOneInstant(t *testing.T, open Opener) {
	w := newWorld(t, open)
	for _, c := range []pdpp.ConnectionID{connA, connB, connA} {
		w.ingest(c, put("1", `{"memo":"a"}`, 7), put("2", `{}`, 7), put("3", `{}`, 8), put("4", `{}`, 7), put("1", `{"memo":"b"}`, 7))
	}
	rows := w.list(query.List{Sources: w.both(), Order: query.Order{By: query.ByEmitted, Desc: true}})
	want := []string{"3@b", "3@a", "4@b", "4@a", "2@b", "2@a", "1@b", "1@a"}
	if diff := cmp.Diff(want, places(rows)); diff != "" {
		t.Errorf("by emitted_at (-want +got):\n%s", diff)
	}
}

func testDeleteAll(t *testing.T, open Opener) {
	w := newWorld(t, open)
	for _, c := range []pdpp.ConnectionID{connA, connB} {
		w.ingest(c, put("1", `{"id":"1","memo":"a"}`, 1), put("2", `{"id":"2"}`, 2), put("3", `{"id":"3"}`, 3))
	}
	b := w.binding(connA, "entries")
	for _, want := range []int64{3, 0} {
		w.update(func(tx store.Tx) error {
			n, err := tx.DeleteAll(b, math.MaxInt64, at(9))
			if n != want {
				t.Errorf("DeleteAll = %d, want %d", n, want)
			}
			return err
		})
	}
	rows := w.list(query.List{Sources: w.both(), Order: query.Order{By: query.ByCursor}})
	if diff := cmp.Diff([]string{"1@b", "2@b", "3@b"}, places(rows)); diff != "" {
		t.Errorf("records left (-want +got):\n%s", diff)
	}
	if n := w.count(w.from(connA, "entries")); n != 0 {
		t.Errorf("Count = %d, want 0", n)
	}
}

// testLastEmitted: the greatest emitted_at of the visible records (S-3).
func testLastEmitted(t *testing.T, open Opener) {
	w := newWorld(t, open)
	src := w.from(connA, "entries")
	last := func() (s string) {
		w.view(func(v store.View) error {
			at, ok, err := v.LastEmitted(w.subject, src)
			if ok {
				s = pdpp.FormatTime(at)
			}
			return err
		})
		return s
	}
	if got := last(); got != "" {
		t.Errorf("LastEmitted of nothing = %s", got)
	}
	w.ingest(connA, put("1", `{"due":"2026-05-01"}`, 30), put("2", `{"due":"2026-06-01"}`, 20), put("3", `{}`, 40))
	if got := last(); got != pdpp.FormatTime(at(40)) {
		t.Errorf("LastEmitted = %s, want second 40", got)
	}
	src.Time = &pdpp.TimeConstraint{Field: "due", Since: day(6, 1)}
	if got := last(); got != pdpp.FormatTime(at(20)) {
		t.Errorf("LastEmitted of the visible = %s, want second 20", got)
	}
	src.Resources = []pdpp.RecordID{"3"}
	if got := last(); got != "" {
		t.Errorf("LastEmitted of nothing visible = %s", got)
	}
}

func testStale(t *testing.T, open Opener) {
	w := newWorld(t, open)
	old := w.binding(connA, "entries")
	doc := store.Prepare(old, put("1", `{"id":"1"}`, 1))
	w.declare(entries().with("extra string"))
	now := w.binding(connA, "entries")
	for name, b := range map[string]*store.Binding{"old binding": old, "new binding": now} {
		err := w.store.Update(t.Context(), func(tx store.Tx) error {
			_, err := tx.Ingest(b, []store.Document{store.Prepare(b, put("0", `{}`, 1)), doc}, at(1))
			return err
		})
		if !errors.Is(err, store.ErrStale) {
			t.Errorf("Ingest with the %s = %v, want ErrStale", name, err)
		}
	}
	if n := w.count(w.both()...); n != 0 {
		t.Errorf("records after stale ingests = %d, want 0", n)
	}
	relabelled := entries().with("extra string")
	relabelled.label = "Lines of the ledger"
	doc = store.Prepare(now, put("1", `{"id":"1"}`, 1))
	w.declare(relabelled)
	w.update(func(tx store.Tx) error { // the declaration changed, the layout did not
		_, err := tx.Ingest(now, []store.Document{doc}, at(1))
		return err
	})
}

// testDeleteUpTo: records that are added or changed after the named change stay.
func testDeleteUpTo(t *testing.T, open Opener) {
	w := newWorld(t, open)
	w.ingest(connA, put("a", `{}`, 1), put("b", `{}`, 1))
	begin := read(w, func(v store.View) (query.Mark, error) { return v.Horizon(w.subject) })
	w.ingest(connA, put("b", `{"memo":"new"}`, 2), put("c", `{}`, 2))
	b := w.binding(connA, "entries")
	w.update(func(tx store.Tx) error {
		n, err := tx.DeleteAll(b, begin.Number, at(3))
		if n != 1 {
			t.Errorf("DeleteAll = %d, want 1", n)
		}
		return err
	})
	if got := ids(w.list(query.List{Sources: w.both()})); !cmp.Equal(got, []string{"b", "c"}) {
		t.Errorf("records %v are left, want b and c", got)
	}
}
