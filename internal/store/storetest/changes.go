package storetest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/store"
)

var changeTests = []test{
	{"what is told", testReportedChanges},
	{"hidden fields", testHiddenChanges},
	{"hidden long values", testHiddenLong},
	{"moves in time", testTimeChanges},
	{"resources", testResourceChanges},
	{"after the horizon", testAfterHorizon},
	{"busy record", testBusyRecord},
	{"snapshot under writes", testSnapshotUnderWrites},
	{"removed facts", testRemovedFacts},
	{"scan limit", testScanLimit},
	{"pruned", testPruned},
	{"another time field", testOtherTimeField},
	{"changes of two subjects", testChangesOfTwoSubjects},
	{"followers", testFollowers},
}

// allOf follows everything on both connections.
func (w *world) allOf() *follower { return w.follow(query.Projection{All: true}, w.both) }

// testReportedChanges: each record once, at its last change, in the order of changes;
// a record that was added and removed in between is not reported (REC-34, REC-35).
func testReportedChanges(t *testing.T, open Opener) {
	w := newWorld(t, open)
	f := w.allOf()
	f.expect()
	w.ingest(connA, put("a", `{"memo":"1"}`, 1), put("b", `{"memo":"1"}`, 1))
	w.ingest(connB, put("a", `{"memo":"1"}`, 1))
	f.expect("a@cin_a", "b@cin_a", "a@cin_b")
	f.expect()
	w.ingest(connA, put("b", `{"memo":"2"}`, 2), put("c", `{}`, 2), put("a", `{"memo":"2"}`, 2), put("b", `{"memo":"3"}`, 2))
	w.ingest(connB, drop("a", 3))
	w.ingest(connA, drop("c", 3))
	f.expect("a@cin_a", "b@cin_a", "deleted a@cin_b")
	w.ingest(connB, put("a", `{"memo":"again"}`, 4), drop("a", 4), put("a", `{"memo":"and again"}`, 4))
	w.ingest(connA, drop("a", 4), put("a", `{"memo":"2"}`, 4)) // ended as it began
	f.expect("a@cin_b", "a@cin_a")
	b := w.binding(connA, "entries")
	w.update(func(tx store.Tx) error { _, err := tx.DeleteAll(b, math.MaxInt64, at(5)); return err })
	f.expect("deleted a@cin_a", "deleted b@cin_a")
	fresh := w.allOf()
	fresh.expect("a@cin_b")
}

// testHiddenChanges: a change of hidden fields is not reported; a change of shown fields
// is, whatever else changes before or after it (REC-34).
func testHiddenChanges(t *testing.T, open Opener) {
	w := newWorld(t, open)
	f := w.follow(named("memo"), w.both)
	w.ingest(connA, put("a", `{"memo":"1","note":"x"}`, 1), put("b", `{"memo":"1","note":"x"}`, 1))
	f.expect("a@cin_a", "b@cin_a")
	w.ingest(connA, put("a", `{"memo":"1","note":"y"}`, 2), put("b", `{"note":"x","memo":"1"}`, 2))
	f.expect()
	w.ingest(connA, put("b", `{"memo":"2","note":"x"}`, 2), put("a", `{"memo":"2","note":"y"}`, 2), put("b", `{"memo":"2"}`, 2), put("b", `{"memo":"2","amount":1}`, 2))
	f.expect("b@cin_a", "a@cin_a") // b's last told change is its first
	w.ingest(connA, put("a", `{"memo":"2","note":"z"}`, 3), drop("a", 3))
	f.expect("deleted a@cin_a")
	w.ingest(connA, put("b", `{"memo":"3"}`, 3), put("b", `{"memo":"3","amount":1}`, 3), put("b", `{"memo":"4","amount":1}`, 3))
	f.expect("b@cin_a") // once, with a hidden change between two shown ones
	nothing := w.follow(named(), w.both)
	nothing.expect("b@cin_a")
	w.ingest(connA, put("b", `{"memo":"9"}`, 4), put("c", `{"memo":"9"}`, 4))
	nothing.expect("c@cin_a")
}

// testHiddenLong: the number of long values before a shown one is not part of it.
func testHiddenLong(t *testing.T, open Opener) {
	w := newWorld(t, open)
	f := w.follow(named("note"), w.both)
	long, other := strings.Repeat("long ", store.LongValue), strings.Repeat("else ", store.LongValue)
	w.ingest(connA, put("a", `{"memo":"x","note":"`+long+`"}`, 1))
	f.expect("a@cin_a")
	w.ingest(connA, put("a", `{"memo":"`+long+`","note":"`+long+`"}`, 2))
	f.expect()
	w.ingest(connA, put("a", `{"memo":"`+long+`","note":"`+other+`"}`, 3))
	f.expect("a@cin_a")
}

// within narrows all sources of entries to a time range of a field.
func (w *world) within(field string, since, until time.Time) func() []query.Source {
	return func() []query.Source {
		out := w.both()
		for i := range out {
			out[i].Time = &pdpp.TimeConstraint{Field: field, Since: since, Until: until}
		}
		return out
	}
}

// due returns a record with a consent time.
func due(id, day, more string) store.Input { return put(id, `{"due":"`+day+`"`+more+`}`, 1) }

// testTimeChanges: a record that leaves the range is reported as out of scope, one that
// enters it as a record, and changes outside are not reported (REC-35).
func testTimeChanges(t *testing.T, open Opener) {
	const in, out = "2026-02-10", "2026-05-01"
	w := newWorld(t, open)
	f := w.follow(named("memo"), w.within("due", day(2, 1), day(3, 1)))
	w.ingest(connA, due("a", in, ""), due("b", in, ""), due("c", out, ""), due("never", out, ""), put("none", `{}`, 1))
	f.expect("a@cin_a", "b@cin_a")
	w.ingest(connA, due("c", in, ""), due("a", out, ""), due("never", "2026-03-01", ""))
	f.expect("c@cin_a", "out a@cin_a")
	w.ingest(connA, due("a", out, `,"memo":"hidden"`), drop("never", 2), due("b", "2026-02-11", ""))
	f.expect()
	// Changes of b after it left are not reported: neither the edit nor the deletion.
	w.ingest(connA, due("b", out, ""), due("c", in, `,"memo":"m"`), due("b", out, `,"memo":"n"`), drop("b", 3))
	f.expect("out b@cin_a", "c@cin_a")
	w.ingest(connA, due("c", out, `,"memo":"m"`), due("c", in, `,"memo":"m"`)) // out and in again
	f.expect("c@cin_a")
	w.ingest(connA, due("d", in, ""), due("d", out, ""), due("c", out, ""), due("c", in, ""), drop("c", 4))
	f.expect("deleted c@cin_a")
	w.ingest(connA, due("first", "2026-02-01", ""), due("last", "2026-03-01", "")) // the range is half open
	f.expect("first@cin_a")
	w.ingest(connA, drop("first", 5), drop("last", 5))
	f.expect("deleted first@cin_a")
}

// testResourceChanges: records that are not listed are never mentioned (REC-29).
func testResourceChanges(t *testing.T, open Opener) {
	w := newWorld(t, open)
	listed := func(ids ...pdpp.RecordID) *follower {
		return w.follow(named("memo"), func() []query.Source {
			out := w.both()
			for i := range out {
				out[i].Resources = append([]pdpp.RecordID{}, ids...)
			}
			return out
		})
	}
	f, none := listed("a", "b", "nobody"), listed()
	f.expect()
	none.expect()
	w.ingest(connA, put("x", `{"memo":"1"}`, 1), put("b", `{"memo":"1"}`, 1), put("a", `{"memo":"1"}`, 1))
	w.ingest(connB, put("a", `{"memo":"1"}`, 1))
	f.expect("b@cin_a", "a@cin_a", "a@cin_b")
	w.ingest(connA, put("a", `{"memo":"2"}`, 1), drop("x", 1), put("b", `{"memo":"1","note":"hidden"}`, 1))
	w.ingest(connB, drop("a", 1))
	f.expect("a@cin_a", "deleted a@cin_b")
	none.expect()
}

// testAfterHorizon: a session reports changes up to its horizon; those made while it is
// read are in the next session.
func testAfterHorizon(t *testing.T, open Opener) {
	const in, out = "2026-02-10", "2026-05-01"
	for _, c := range []struct {
		name  string
		write func(w *world)
		then  func(w *world)
	}{
		{"created", func(w *world) { w.ingest(connA, due("z", in, "")) }, func(w *world) { w.ingest(connA, drop("z", 1)) }},
		{"moved in", func(w *world) { w.ingest(connA, due("x", in, "")) }, func(w *world) { w.ingest(connA, drop("x", 1)) }},
		{"moved out", func(w *world) { w.ingest(connA, due("c", out, "")) }, func(w *world) { w.ingest(connA, due("c", in, "")) }},
		{"deleted", func(w *world) { w.ingest(connA, drop("c", 1)) }, func(w *world) { w.ingest(connA, due("c", in, "")) }},
		{"changed", func(w *world) { w.ingest(connA, due("c", in, `,"memo":"new"`)) }, func(w *world) { w.ingest(connA, drop("c", 1)) }},
		{"hidden change", func(w *world) { w.ingest(connA, due("c", in, `,"note":"new"`)) }, func(*world) {}},
	} {
		for _, fromStart := range []bool{true, false} {
			t.Run(fmt.Sprint(c.name, " from the start ", fromStart), func(t *testing.T) {
				w := newWorld(t, open)
				f := w.follow(named("memo"), w.within("due", day(2, 1), day(3, 1)))
				if !fromStart {
					f.expect()
				}
				w.ingest(connA, due("a", in, ""), due("b", in, ""), due("c", in, ""), due("x", out, ""))
				pages := 0
				f.catchUp(1, func() {
					if pages++; pages == 1 {
						c.write(w)
					}
				})
				c.then(w)
				f.catchUp(1, nil)
				f.want()
			})
		}
	}
}

// testBusyRecord: a record that is written while a session is read is reported by that
// session, and again by the next one.
func testBusyRecord(t *testing.T, open Opener) {
	w := newWorld(t, open)
	f := w.allOf()
	f.expect()
	w.ingest(connA, put("a", `{}`, 1), put("b", `{}`, 1))
	f.catchUp(1, func() { w.ingest(connA, put("b", `{"memo":"busy"}`, 2)) })
	if want := []string{"a@cin_a", "b@cin_a"}; !cmp.Equal(want, f.told) {
		t.Errorf("told %v, want %v", f.told, want)
	}
	f.expect("b@cin_a")
}

// testSnapshotUnderWrites: records that were added after the horizon do not count on a
// page, even when there are more of them than fit on one.
func testSnapshotUnderWrites(t *testing.T, open Opener) {
	w := newWorld(t, open)
	for _, c := range []pdpp.ConnectionID{connA, connB} {
		w.ingest(c, put("a", `{}`, 1), put("m", `{}`, 1), put("z", `{}`, 1))
	}
	f := w.allOf()
	pages := 0
	f.catchUp(2, func() {
		if pages++; pages > 1 {
			return
		}
		for i := range 9 {
			w.ingest(connA, put(fmt.Sprint("b", i), `{}`, 1), put(fmt.Sprint("y", i), `{}`, 1))
		}
	})
	if want := []string{"a@cin_a", "a@cin_b", "m@cin_a", "m@cin_b", "z@cin_a", "z@cin_b"}; !cmp.Equal(want, f.told) {
		t.Errorf("the snapshot told %v, want %v", f.told, want)
	}
	f.catchUp(everything, nil)
	f.want()
}

// testRemovedFacts: when a record was deleted, and when that was committed.
func testRemovedFacts(t *testing.T, open Opener) {
	w := newWorld(t, open)
	w.ingest(connA, put("a", `{"due":"2026-02-10"}`, 1), put("b", `{"due":"2026-02-10"}`, 1))
	b := w.binding(connA, "entries")
	since := read(w, func(v store.View) (query.Mark, error) { return v.Horizon(w.subject) })
	w.update(func(tx store.Tx) error {
		_, err := tx.Ingest(b, []store.Document{store.Prepare(b, drop("a", 7)), store.Prepare(b, put("b", `{}`, 8))}, at(9))
		return err
	})
	q := query.Changes{
		Subject: w.subject, Since: since, After: since.Number, Until: since.Number + 2, Scan: everything,
		Sources: w.within("due", day(2, 1), day(3, 1))()[:1], Shown: []query.Projection{{All: true}},
	}
	var got []store.Change
	w.view(func(v store.View) error {
		walk, err := v.Changed(q, func(c *store.Change) (bool, error) {
			c.ID = slices.Clone(c.ID)
			got = append(got, *c)
			return true, nil
		})
		if walk != (store.Walk{After: since.Number + 2}) {
			t.Errorf("Changed = %+v", walk)
		}
		return err
	})
	want := []store.Change{
		{Record: store.Record{ID: []byte("a"), EmittedAt: at(9)}, Removed: store.RemovedDeleted, DeletedAt: at(7)},
		{Record: store.Record{ID: []byte("b"), EmittedAt: at(9)}, Removed: store.RemovedOutOfScope},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Changed (-want +got):\n%s", diff)
	}
}

// testScanLimit: a page ends after a number of changes, reported or not, and the next
// one continues there.
func testScanLimit(t *testing.T, open Opener) {
	w := newWorld(t, open)
	f := w.follow(named("memo"), w.both)
	w.ingest(connA, put("a", `{"memo":"1"}`, 1))
	f.expect("a@cin_a")
	for i := range 10 {
		w.ingest(connA, put("a", fmt.Sprintf(`{"memo":"1","amount":%d}`, i), 1))
		w.ingest(connB, put("b", fmt.Sprintf(`{"memo":"%d"}`, i), 1))
	}
	f.scan = 3
	pages := 1
	f.catchUp(everything, func() { pages++ })
	if want := []string{"b@cin_b"}; !cmp.Equal(want, f.told) || pages != 7 {
		t.Errorf("told %v in %d pages, want %v in 7: 20 changes, 3 at a time", f.told, pages, want)
	}
	f.want()
}

// testPruned: old changes are removed, and sessions that began before them fail (REC-37).
// Current state needs no log.
func testPruned(t *testing.T, open Opener) {
	w := newWorld(t, open)
	b := w.binding(connA, "entries")
	write := func(id string, now int) {
		w.update(func(tx store.Tx) error {
			_, err := tx.Ingest(b, []store.Document{store.Prepare(b, put(id, `{}`, 1))}, at(now))
			return err
		})
	}
	prune := func(before, most int, want int64) {
		t.Helper()
		w.update(func(tx store.Tx) error {
			n, err := tx.Prune(at(before), most)
			if n != want {
				t.Errorf("Prune(%d, %d) = %d, want %d", before, most, n, want)
			}
			return err
		})
	}
	old, young := w.allOf(), w.allOf()
	old.expect()
	write("a", 10)
	write("b", 20)
	young.expect("a@cin_a", "b@cin_a")
	write("c", 30)
	write("d", 25) // the clock went back
	prune(10, 100, 0)
	prune(21, 1, 1)
	prune(21, 100, 1)
	prune(21, 100, 0)
	if err := old.session(everything, nil); !errors.Is(err, store.ErrPruned) {
		t.Errorf("a session from before the pruned changes = %v, want ErrPruned", err)
	}
	young.expect("c@cin_a", "d@cin_a")
	prune(26, 100, 0) // c is younger, and everything after it stays
	old.begun = false
	old.expect("a@cin_a", "b@cin_a", "c@cin_a", "d@cin_a")
	prune(31, 100, 2)
	old.expect()
	write("e", 40)
	old.expect("e@cin_a")
}

// testOtherTimeField: the log has former consent times only. A reader that is narrowed by
// another field starts from the beginning, and so does one across a declaration of
// another consent time, even when that was reverted.
func testOtherTimeField(t *testing.T, open Opener) {
	const in, out = "2026-02-10", "2026-05-01"
	w := newWorld(t, open)
	f := w.follow(named("memo"), w.within("due", day(2, 1), day(3, 1)))
	free := w.follow(named("memo"), w.both)
	pruned := func(want bool) {
		t.Helper()
		if err := f.session(everything, nil); errors.Is(err, store.ErrPruned) != want {
			t.Errorf("session = %v, want ErrPruned %t", err, want)
		}
	}
	w.ingest(connA, due("a", in, ""), due("b", in, ""))
	f.expect("a@cin_a", "b@cin_a")
	free.expect("a@cin_a", "b@cin_a")
	d := entries()
	d.consent = "posted_at"
	w.declare(d)
	w.ingest(connA, due("a", out, ""))
	pruned(true)
	f.expect("b@cin_a") // from the beginning
	pruned(true)
	w.declare(entries())
	w.ingest(connA, drop("b", 1), due("c", in, ""))
	pruned(true)
	f.expect("c@cin_a")
	pruned(false)
	w.ingest(connA, drop("c", 2))
	f.expect("deleted c@cin_a")
	free.expect("deleted b@cin_a") // no time range, so nothing is missing; c was added and removed
	w.declare(entries().with("extra string"))
	pruned(false)
}

// testChangesOfTwoSubjects: with the same names, no change of the other is reported.
func testChangesOfTwoSubjects(t *testing.T, open Opener) {
	ann := newWorld(t, open)
	bea := subjectIn(t, ann.store, "bea")
	anns, beas := ann.allOf(), bea.allOf()
	anns.expect()
	beas.expect()
	ann.ingest(connA, put("a", `{"memo":"anns"}`, 1), put("b", `{}`, 1))
	beas.expect()
	bea.ingest(connA, put("a", `{"memo":"beas"}`, 1))
	beas.expect("a@cin_a")
	bea.ingest(connA, drop("a", 1))
	anns.expect("a@cin_a", "b@cin_a")
	beas.expect("deleted a@cin_a")
	ann.view(func(v store.View) error {
		m, err := v.Horizon(bea.subject)
		if m.Number != 2 {
			t.Errorf("bea's horizon is %d, want 2", m.Number)
		}
		return err
	})
}
