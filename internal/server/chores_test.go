package server

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"time"

	"pdpp/internal/store"
	"pdpp/internal/store/open"
)

// TestNoSweepAtStart: an operator who started with the wrong store has some minutes to
// see it in the log before anything can be removed.
func TestNoSweepAtStart(t *testing.T) { // B-9
	start := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	due := map[string]time.Time{}
	for _, c := range new(Server).chores(start) {
		due[c.name] = c.next
	}
	if first := due["sweeping blobs"]; first.Before(start.Add(5 * time.Minute)) {
		t.Errorf("the first sweep is at %v, the start at %v", first, start)
	}
	if first, ok := due["looking for unknown blobs"]; !ok || first.After(start) {
		t.Errorf("the first look at unknown blobs is at %v, the start at %v", first, start)
	}
}

// TestH196OldRowsArePruned: counts, refusals and audit rows are kept for 400 days, the
// state of sign-in as long as it says.
func TestH196OldRowsArePruned(t *testing.T) {
	st, err := open.Store(t.Context(), t.TempDir(), store.OpenOptions{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	s := &Server{Config: Config{Store: st, Clock: func() time.Time { return now }}}
	var owner store.Subject
	err = st.Update(t.Context(), func(tx store.Tx) (err error) {
		if owner, err = tx.CreateSubject("ann", now); err != nil {
			return err
		}
		for _, age := range []int{0, 400, 401, 900} {
			at := now.AddDate(0, 0, -age)
			if err := tx.AddReads([]store.ReadCount{{ReadKey: store.ReadKey{Subject: owner.ID, Day: store.DayOf(at)}, Reads: 1}}); err != nil {
				return err
			}
			if err := tx.AddAudit(store.Audit{At: at, Action: store.GrantCreated, Subject: owner.ID}); err != nil {
				return err
			}
		}
		for i := range pruneBatch + 2 {
			e := store.Entry{Kind: store.EntryCode, Key: strconv.Itoa(i), Body: []byte("{}"), CreatedAt: now, DeleteAfter: now.Add(-time.Second)}
			if i == 0 {
				e.DeleteAfter = now.Add(time.Second)
			}
			if err := tx.PutEntry(e); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, do := range []func(context.Context) error{s.pruneActivity, s.pruneEntries} {
		if err := do(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	err = st.View(t.Context(), func(v store.View) error {
		reads, err := v.Reads(owner.ID, time.Time{})
		if err != nil {
			return err
		}
		audits, err := v.Audits(owner.ID, 10)
		if err != nil {
			return err
		}
		entries, err := v.CountEntries(store.EntryCode)
		if len(reads) != 2 || len(audits) != 2 || entries != 1 {
			t.Errorf("%d counts, %d audit rows and %d entries are left, want 2, 2 and 1", len(reads), len(audits), entries)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	for _, name := range []string{"pruning counts of reads and audit rows", "removing ended sign-ins and requests"} {
		if !slices.ContainsFunc(s.chores(now), func(c *chore) bool { return c.name == name }) {
			t.Errorf("%s is no chore of the server", name)
		}
	}
}
