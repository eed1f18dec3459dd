package storetest

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/store"
)

var propertyTests = []test{
	{"equals a map", testEqualsMap},
	{"pages under writes", testPagesUnderWrites},
}

// testEqualsMap: after any operations, the store answers any question like a map.
func testEqualsMap(t *testing.T, open Opener) {
	t.Parallel()
	EachModel(t, open(t), func(rt *rapid.T, m *Model) {
		for range 4 {
			m.check(rt, m.Question(rt))
		}
	})
}

func (m *Model) check(t *rapid.T, q Question) {
	want := m.Answer(q)
	if diff := cmp.Diff(want, m.w.pages(q.List, q.List.Limit), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s\npages of %d (-want +got):\n%s", q, q.List.Limit, diff)
	}
	if n := m.w.count(q.List.Sources...); n != int64(len(want)) {
		t.Errorf("%s\nCount = %d, want %d", q, n, len(want))
	}
	visible := map[string]int{}
	for _, r := range want {
		visible[r.ID]++
	}
	id := pick(t, "got", someIDs)
	if rows := m.w.get(id, q.List.Sources...); len(rows) != visible[id] {
		t.Errorf("%s\nGet(%s) = %v, want %d records", q, id, rows, visible[id])
	}
}

// String describes a question for failures.
func (q Question) String() string {
	return fmt.Sprintf("order %+v, conditions %v, time %+v, resources %v, %d sources",
		q.List.Order, q.conds, q.time, q.List.Sources[0].Resources, len(q.List.Sources))
}

// testPagesUnderWrites: an unchanged record is seen exactly once, whatever others
// do between two pages (REC-10).
func testPagesUnderWrites(t *testing.T, open Opener) {
	t.Parallel()
	w := newWorld(t, open)
	const stable = 40
	fill := func(c pdpp.ConnectionID) {
		var in []store.Input
		for i := range stable {
			posted := fmt.Sprintf(`"2026-01-%02d"`, i%10+1)
			if i%4 == 0 {
				posted = "null"
			}
			in = append(in, put(fmt.Sprintf("s%02d", i), `{"memo":"x","posted_at":`+posted+`}`, i%7))
		}
		w.ingest(c, in...)
	}
	fill(connA)
	fill(connB)
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() { disturb(t, w, stop) })
	defer writer.Wait()
	defer close(stop)
	rapid.Check(t, func(rt *rapid.T) {
		sources := w.both()
		if rapid.Bool().Draw(rt, "filtered") {
			for i := range sources {
				sources[i].Where = []query.Condition{w.where(sources[i].Stream, "memo", pdpp.OpEq, "x")}
			}
		}
		q := query.List{Sources: sources, Order: query.Order{
			By: pick(rt, "by", []query.OrderBy{query.ByID, query.ByCursor, query.ByEmitted}), Desc: rapid.Bool().Draw(rt, "desc"),
		}}
		seen := map[string]int{}
		for _, r := range w.pages(q, rapid.IntRange(8, 40).Draw(rt, "size")) {
			if r.ID[0] == 's' {
				seen[r.ID+string(r.Connection)]++
			}
		}
		if len(seen) != 2*stable {
			rt.Errorf("order %+v: %d of %d records were seen", q.Order, len(seen), 2*stable)
		}
		for id, n := range seen {
			if n != 1 {
				rt.Errorf("order %+v: %s was seen %d times", q.Order, id, n)
			}
		}
	})
}

// disturb inserts, moves and deletes records between the stable ones.
func disturb(t *testing.T, w *world, stop <-chan struct{}) {
	b := w.binding(connA, "entries")
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		default:
		}
		posted := fmt.Sprintf(`"2026-01-%02dT12:00:00Z"`, i%11+1)
		if i%5 == 0 {
			posted = "null"
		}
		id := fmt.Sprintf("r%02d", i*7%31)
		if i%2 == 0 {
			id = fmt.Sprintf("t%02d", i*7%31)
		}
		docs := []store.Document{
			store.Prepare(b, put(id, fmt.Sprintf(`{"memo":"x","pieces":%d,"posted_at":%s}`, i, posted), i%7)),
			store.Prepare(b, drop(fmt.Sprintf("r%02d", i%31), 1)),
		}
		err := w.store.Update(t.Context(), func(tx store.Tx) error {
			_, err := tx.Ingest(b, docs, at(1))
			return err
		})
		if err != nil {
			t.Errorf("Update: %v", err)
			return
		}
	}
}
