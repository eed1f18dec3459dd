package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"pdpp/internal/query"
	"pdpp/internal/store"
)

// follower maintains a copy of what a query shows, by reading changes only.
type follower struct {
	w       *world
	sources func() []query.Source // for the current declaration
	shown   query.Projection
	scan    int

	mark  query.Mark
	begun bool              // mark is a bookmark
	copy  map[string]string // id@connection to the shown part of the body
	told  []string          // what the last session told, in order
}

func (w *world) follow(shown query.Projection, sources func() []query.Source) *follower {
	return &follower{w: w, sources: sources, shown: shown, scan: everything, copy: map[string]string{}}
}

// named shows some fields.
func named(names ...string) query.Projection { return query.Projection{Names: names} }

// catchUp reads one session in pages of a size. between is called between two pages.
// After ErrPruned it starts from the beginning, as readers do.
func (f *follower) catchUp(size int, between func()) {
	f.w.Helper()
	err := f.session(size, between)
	if errors.Is(err, store.ErrPruned) {
		f.begun = false
		err = f.session(size, between)
	}
	if err != nil {
		f.w.Fatalf("changes: %v", err)
	}
}

func (f *follower) session(size int, between func()) error {
	f.w.Helper()
	f.told = nil
	copied := f.copy
	if !f.begun {
		copied = map[string]string{}
	}
	var until query.Mark
	var at *query.Position
	after := f.mark.Number
	for first, more := true, true; more; first = false {
		if !first && between != nil {
			between()
		}
		err := f.w.store.View(f.w.Context(), func(v store.View) (err error) {
			if first {
				if until, err = v.Horizon(f.w.subject); err != nil {
					return err
				}
			}
			if f.begun {
				more, after, err = f.logPage(v, copied, until, after, size)
			} else {
				more, at, err = f.snapshotPage(v, copied, until, at, size)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	f.copy, f.mark, f.begun = copied, until, true
	return nil
}

func (f *follower) snapshotPage(v store.View, into map[string]string, until query.Mark, at *query.Position, size int) (bool, *query.Position, error) {
	q := query.List{Subject: f.w.subject, Sources: f.sources(), Limit: size, After: at}
	taken := 0
	reached, more, err := v.Snapshot(q, until.Number, f.scan, func(r *store.Record) (bool, error) {
		if taken == size {
			return false, nil
		}
		taken++
		return true, f.note(v, into, q.Sources, &store.Change{Record: *r})
	})
	if reached != nil {
		at = reached
	}
	return more, at, err
}

func (f *follower) logPage(v store.View, into map[string]string, until query.Mark, after int64, size int) (bool, int64, error) {
	q := query.Changes{Subject: f.w.subject, Sources: f.sources(), Since: f.mark, Until: until.Number, After: after, Scan: f.scan}
	for range q.Sources {
		q.Shown = append(q.Shown, f.shown)
	}
	taken := 0
	walk, err := v.Changed(q, func(c *store.Change) (bool, error) {
		if taken == size {
			return false, nil
		}
		taken++
		return true, f.note(v, into, q.Sources, c)
	})
	return walk.More, walk.After, err
}

// note applies an item to the copy.
func (f *follower) note(v store.View, into map[string]string, sources []query.Source, c *store.Change) error {
	key := string(c.ID) + "@" + string(sources[c.Source].Connection)
	switch c.Removed {
	case store.RemovedDeleted:
		f.told = append(f.told, "deleted "+key)
		delete(into, key)
		return nil
	case store.RemovedOutOfScope:
		f.told = append(f.told, "out "+key)
		delete(into, key)
		return nil
	}
	body, err := whole(v, &c.Record)
	into[key] = f.cut(body)
	f.told = append(f.told, key)
	return err
}

// cut returns the shown part of a body, with its names in order.
func (f *follower) cut(body string) string {
	var all map[string]json.RawMessage
	if err := json.Unmarshal([]byte(body), &all); err != nil {
		f.w.Fatalf("body %.100q: %v", body, err)
	}
	maps.DeleteFunc(all, func(name string, _ json.RawMessage) bool { return !f.shown.Shows(name) })
	return encode(f.w, all)
}

// want compares the copy with what the query shows now.
func (f *follower) want() {
	f.w.Helper()
	want := map[string]string{}
	q := query.List{Sources: f.sources()}
	for _, r := range f.w.list(q) {
		want[r.ID+"@"+string(r.Connection)] = f.cut(r.Body)
	}
	if diff := cmp.Diff(want, f.copy, cmpopts.EquateEmpty()); diff != "" {
		f.w.Errorf("the copy differs from the list (-list +copy):\n%s", diff)
	}
}

// expect reads one session and compares what it reported.
func (f *follower) expect(want ...string) {
	f.w.Helper()
	f.catchUp(everything, nil)
	if diff := cmp.Diff(want, f.told, cmpopts.EquateEmpty()); diff != "" {
		f.w.Errorf("the session told (-want +got):\n%s", diff)
	}
	f.want()
}

// testFollowers: whatever is written, also between two pages, a copy maintained by
// reading changes becomes equal to the list (REC-35), and no follower gets a record that
// was never visible to it.
func testFollowers(t *testing.T, open Opener) {
	t.Parallel()
	s := open(t)
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		m := newModel(rt, s, fmt.Sprint("subject ", run))
		followers := make([]*followed, 2)
		for i := range followers {
			followers[i] = m.follower(rt)
		}
		change := func() {
			m.Change(rt)
			for _, f := range followers {
				f.look(m)
			}
		}
		for range rapid.IntRange(1, 6).Draw(rt, "steps") {
			change()
			f := pick(rt, "reader", followers)
			f.read(rt, func() {
				if rapid.Bool().Draw(rt, "meanwhile") {
					change()
				}
			})
		}
		for _, f := range followers {
			f.read(rt, nil)
			f.want()
			f.read(rt, nil)
			if f.begun && len(f.told) > 0 && !f.restarted {
				rt.Errorf("nothing was written, and the session told %v", f.told)
			}
			f.want()
		}
	})
}

// followed is a follower with what it may have seen so far.
type followed struct {
	*follower
	question  Question
	ever      map[string]bool
	restarted bool // the last session started from the beginning
}

// follower draws a reader: connections, a time range, resources, fields.
func (m *Model) follower(t *rapid.T) *followed {
	q := m.Question(t)
	q.conds = nil
	f := &followed{question: q, ever: map[string]bool{}}
	drawn := q.List.Sources
	f.follower = m.w.follow(query.Projection{All: true}, func() []query.Source {
		var out []query.Source
		for _, src := range drawn {
			src.Stream, src.Where = m.w.stream("entries"), nil
			out = append(out, src)
		}
		return out
	})
	if rapid.Bool().Draw(t, "narrow") {
		f.shown = named(rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"memo", "note", "amount", "due", "extra"}), 0, 3, rapid.ID).Draw(t, "fields")...)
	}
	if rapid.Bool().Draw(t, "short of breath") {
		f.scan = rapid.IntRange(1, 4).Draw(t, "scan")
	}
	return f
}

// look records what is visible now.
func (f *followed) look(m *Model) {
	q := f.question
	q.List.Sources = f.sources()
	for _, r := range m.Answer(q) {
		f.ever[r.ID+"@"+string(r.Connection)] = true
	}
}

func (f *followed) read(t *rapid.T, between func()) {
	f.w.tb = t
	before := f.mark
	f.catchUp(rapid.IntRange(1, 5).Draw(t, "page"), between)
	f.restarted = before == query.Mark{} || f.question.time != nil && f.question.time.Field != f.w.stream("entries").ConsentTimeField
	for _, told := range f.told {
		key := told[strings.LastIndex(told, " ")+1:]
		if !f.ever[key] {
			t.Errorf("told of %q, which was never visible", told)
		}
	}
}
