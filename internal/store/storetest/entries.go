package storetest

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pdpp"
	"pdpp/internal/store"
)

var entryTests = []test{
	{"put and find", testPutEntry},
	{"lists", testEntryLists},
	{"prune", testPruneEntries},
	{"one winner", testEntryHasOneWinner},
	{"family", testRevokeFamily},
	{"derived tokens", testRevokeDerived},
	{"prune tokens", testPruneTokens},
}

func (w *world) put(entries ...store.Entry) {
	w.Helper()
	w.update(func(tx store.Tx) error {
		for _, e := range entries {
			if err := tx.PutEntry(e); err != nil {
				return err
			}
		}
		return nil
	})
}

func testPutEntry(t *testing.T, open Opener) {
	w := newWorld(t, open)
	first := store.Entry{Kind: store.EntryCode, Key: "a", Body: []byte(`{"n":1}`), CreatedAt: at(1)}
	w.put(first)
	replaced := store.Entry{
		Kind: store.EntryCode, Key: "a", Subject: w.subject, Parent: "areq", Body: []byte(`{"n":2}`), CreatedAt: at(2), DeleteAfter: at(9),
	}
	for _, want := range []store.Entry{first, replaced} {
		w.put(want)
		got := read(w, func(v store.View) (store.Entry, error) { return v.Entry(store.EntryCode, "a") })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Entry (-want +got):\n%s", diff)
		}
	}
	w.update(func(tx store.Tx) error {
		if err := tx.DeleteEntry(store.EntryCode, "a"); err != nil {
			return err
		}
		return tx.DeleteEntry(store.EntryCode, "a")
	})
	w.view(func(v store.View) error {
		for _, kind := range []store.EntryKind{store.EntryCode, store.EntrySession} {
			if _, err := v.Entry(kind, "a"); pdpp.CodeOf(err) != pdpp.CodeNotFound {
				t.Errorf("Entry(%s) = %v, want not_found", kind, err)
			}
		}
		return nil
	})
	err := w.store.Update(t.Context(), func(tx store.Tx) error {
		return tx.PutEntry(store.Entry{Kind: store.EntryCode, Key: "b", Subject: "own_nobody", CreatedAt: at(1)})
	})
	if pdpp.CodeOf(err) != pdpp.CodeNotFound {
		t.Errorf("PutEntry for an unknown owner = %v, want not_found", err)
	}
}

func testEntryLists(t *testing.T, open Opener) {
	w := newWorld(t, open)
	other := subjectIn(t, w.store, "bea")
	body := []byte("{}")
	old := store.Entry{Kind: store.EntrySession, Key: "old", Subject: w.subject, Parent: "p", Body: body, CreatedAt: at(1)}
	newer := store.Entry{Kind: store.EntrySession, Key: "newer", Subject: w.subject, Parent: "p", Body: body, CreatedAt: at(2), DeleteAfter: at(50)}
	w.put(newer, old,
		store.Entry{Kind: store.EntrySession, Key: "hers", Subject: other.subject, Parent: "q", Body: body, CreatedAt: at(3)},
		store.Entry{Kind: store.EntryPasskey, Key: "old", Subject: w.subject, Parent: "p", Body: body, CreatedAt: at(4)},
		store.Entry{Kind: store.EntrySession, Key: "nobody", Body: body, CreatedAt: at(5)})
	w.view(func(v store.View) error {
		mine, err := v.EntriesOf(store.EntrySession, w.subject)
		if diff := cmp.Diff([]store.Entry{newer, old}, mine); err != nil || diff != "" {
			t.Errorf("EntriesOf = %v (-want +got):\n%s", err, diff)
		}
		children, err := v.Children(store.EntrySession, "p")
		if diff := cmp.Diff([]store.Entry{old, newer}, children); err != nil || diff != "" {
			t.Errorf("Children = %v (-want +got):\n%s", err, diff)
		}
		if n, err := v.CountEntries(store.EntrySession); n != 1 || err != nil {
			t.Errorf("CountEntries = %d, %v; want 1, the one that will be removed", n, err)
		}
		return nil
	})
}

func testPruneEntries(t *testing.T, open Opener) {
	w := newWorld(t, open)
	for i := range 5 {
		w.put(store.Entry{Kind: store.EntryCode, Key: strconv.Itoa(i), Body: []byte("{}"), CreatedAt: at(0), DeleteAfter: at(10 + i)})
	}
	w.put(store.Entry{Kind: store.EntryCode, Key: "kept", Body: []byte("{}"), CreatedAt: at(0)})
	for _, step := range []struct {
		now  int
		want int64
	}{{13, 2}, {13, 1}, {13, 0}, {100, 2}, {100, 0}} {
		w.update(func(tx store.Tx) error {
			n, err := tx.PruneEntries(at(step.now), 2)
			if n != step.want {
				t.Errorf("PruneEntries at %d = %d, want %d", step.now, n, step.want)
			}
			return err
		})
	}
	if e := read(w, func(v store.View) (store.Entry, error) { return v.Entry(store.EntryCode, "kept") }); e.Key != "kept" {
		t.Errorf("an entry without an end was removed")
	}
}

// testEntryHasOneWinner: of several Updates that read an entry and then change it, each
// sees the change of the one before.
func testEntryHasOneWinner(t *testing.T, open Opener) {
	w := newWorld(t, open)
	w.put(store.Entry{Kind: store.EntryCode, Key: "a", Body: []byte("unused"), CreatedAt: at(0)})
	var wg sync.WaitGroup
	var mu sync.Mutex
	winners := 0
	for range 8 {
		wg.Go(func() {
			err := w.store.Update(context.WithoutCancel(t.Context()), func(tx store.Tx) error {
				e, err := tx.Entry(store.EntryCode, "a")
				if err != nil || string(e.Body) != "unused" {
					return err
				}
				mu.Lock()
				winners++
				mu.Unlock()
				e.Body = []byte("used")
				return tx.PutEntry(e)
			})
			if err != nil {
				t.Errorf("Update: %v", err)
			}
		})
	}
	wg.Wait()
	if winners != 1 {
		t.Errorf("%d Updates saw the unused entry, want 1", winners)
	}
}

func testRevokeFamily(t *testing.T, open Opener) {
	w := rightsWorld(t, open)
	other := subjectIn(t, w.store, "bea")
	w.update(func(tx store.Tx) error {
		for i, family := range []string{"fam", "fam", "other", ""} {
			token := tokenNo(w, pdpp.TokenID("tok_f"+strconv.Itoa(i)), "grt_1")
			token.Family = family
			if err := tx.CreateToken(token, store.HashToken("f"+strconv.Itoa(i))); err != nil {
				return err
			}
		}
		if err := tx.RevokeFamily(other.subject, "other", at(5)); err != nil {
			return err
		}
		return tx.RevokeFamily(w.subject, "fam", at(6))
	})
	w.view(func(v store.View) error {
		for i, want := range []store.Principal{{Family: "fam", Revoked: true}, {Family: "fam", Revoked: true}, {Family: "other"}, {}} {
			p, err := v.Token(store.HashToken("f" + strconv.Itoa(i)))
			if err != nil || p.Revoked != want.Revoked || p.Family != want.Family {
				t.Errorf("token %d: revoked = %v, family %q, %v; want %v, %q", i, p.Revoked, p.Family, err, want.Revoked, want.Family)
			}
		}
		tokens, err := v.Tokens(w.subject, "grt_1")
		for _, token := range tokens {
			if token.Family == "fam" && !token.RevokedAt.Equal(at(6)) {
				t.Errorf("%s was revoked at %v, want %v", token.ID, token.RevokedAt, at(6).Format(time.RFC3339))
			}
		}
		return err
	})
}

// A token that was derived from another one, which its family names, ends with it.
func testRevokeDerived(t *testing.T, open Opener) {
	w := rightsWorld(t, open)
	w.update(func(tx store.Tx) error {
		for i, family := range []string{"fam", "tok_f0", "", "tok_f2", "tok_f4", ""} {
			token := tokenNo(w, pdpp.TokenID("tok_f"+strconv.Itoa(i)), "grt_1")
			token.Family = family
			if err := tx.CreateToken(token, store.HashToken("f"+strconv.Itoa(i))); err != nil {
				return err
			}
		}
		if err := tx.RevokeFamily(w.subject, "fam", at(5)); err != nil {
			return err
		}
		_, _, err := tx.RevokeToken(w.subject, "tok_f2", at(6))
		return err
	})
	w.view(func(v store.View) error {
		for i, want := range []bool{true, true, true, true, false, false} {
			p, err := v.Token(store.HashToken("f" + strconv.Itoa(i)))
			if err != nil || p.Revoked != want {
				t.Errorf("token %d: revoked = %v, %v; want %v", i, p.Revoked, err, want)
			}
		}
		return nil
	})
}

func testPruneTokens(t *testing.T, open Opener) {
	w := rightsWorld(t, open)
	w.update(func(tx store.Tx) error {
		for i, family := range []string{"fam", "fam", "other", "other", ""} {
			token := tokenNo(w, pdpp.TokenID("tok_p"+strconv.Itoa(i)), "grt_1")
			token.Family, token.ExpiresAt = family, at(10+i)
			if err := tx.CreateToken(token, store.HashToken("p"+strconv.Itoa(i))); err != nil {
				return err
			}
		}
		return nil
	})
	for _, want := range []int64{2, 1, 0} {
		w.update(func(tx store.Tx) error {
			n, err := tx.PruneTokens(at(13), 2)
			if n != want {
				t.Errorf("PruneTokens = %d, want %d", n, want)
			}
			return err
		})
	}
	w.view(func(v store.View) error {
		for i, want := range []bool{false, false, false, true, true} { // the last one has no family
			_, err := v.Token(store.HashToken("p" + strconv.Itoa(i)))
			if found := err == nil; found != want || !found && pdpp.CodeOf(err) != pdpp.CodeNotFound {
				t.Errorf("token %d: %v; want it kept: %v", i, err, want)
			}
		}
		return nil
	})
}
