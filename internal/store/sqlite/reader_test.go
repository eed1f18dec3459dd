package sqlite

import (
	"fmt"
	"testing"

	"pdpp"
	"pdpp/internal/store"
)

// TestTokensOfReaders: whatever a reader remembers of a token, a change of it counts in
// the next view of each of them: one made here, one made by another process, and one
// whose log was written back meanwhile (H-44).
func TestTokensOfReaders(t *testing.T) {
	for _, c := range []struct {
		name   string
		beside bool
		tidied bool
	}{{"here", false, false}, {"beside", true, false}, {"beside, log emptied", true, true}} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			w := newWorldIn(t, openDB(t, dir))
			writer := w.db
			if c.beside {
				writer = openDB(t, dir)
			}
			hash := store.HashToken("secret")
			update(t, writer, func(tx store.Tx) error {
				return tx.CreateToken(store.Token{
					ID: "tok_1", Kind: pdpp.TokenOwner, Subject: w.subject, Audience: []string{"rest"}, IssuedAt: epoch, ExpiresAt: epoch.AddDate(1, 0, 0),
				}, hash)
			})
			revoked := func() map[bool]int {
				seen := make(map[bool]int)
				everyReader(t, w.db, func(v store.View) error {
					p, err := v.Token(hash)
					seen[p.Revoked]++
					return err
				})
				return seen
			}
			for range 2 { // read, then remembered
				if got := revoked(); got[true] != 0 {
					t.Fatalf("revoked: %v before it was", got)
				}
			}
			err := w.db.View(t.Context(), func(v store.View) error {
				update(t, writer, func(tx store.Tx) error {
					_, _, err := tx.RevokeToken(w.subject, "tok_1", epoch)
					return err
				})
				p, err := v.Token(hash)
				if p.Revoked {
					t.Error("a view that began before the change sees it")
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if c.tidied {
				conn := <-writer.write
				if busy, err := queryInt(conn, `PRAGMA wal_checkpoint(TRUNCATE)`); err != nil || busy != 0 {
					t.Errorf("checkpoint: busy %d, %v", busy, err)
				}
				writer.write <- conn
			}
			if got := revoked(); got[false] != 0 {
				t.Errorf("not revoked: %v after it was", got)
			}
		})
	}
}

// TestManyTokens: a reader remembers no more than so many.
func TestManyTokens(t *testing.T) {
	w := newWorld(t)
	hash := func(n int) store.TokenHash { return store.HashToken(fmt.Sprint(n)) }
	update(t, w.db, func(tx store.Tx) error {
		for n := range maxTokens + 1 {
			token := store.Token{ID: pdpp.TokenID(fmt.Sprint("tok_", n)), Kind: pdpp.TokenOwner, Subject: w.subject, IssuedAt: epoch, ExpiresAt: epoch}
			if err := tx.CreateToken(token, hash(n)); err != nil {
				return err
			}
		}
		return nil
	})
	err := w.db.View(t.Context(), func(v store.View) error {
		for n := range maxTokens + 1 {
			if p, err := v.Token(hash(n)); err != nil || p.ID != pdpp.TokenID(fmt.Sprint("tok_", n)) {
				t.Fatalf("token %d is %q, %v", n, p.ID, err)
			}
		}
		if got := len(v.(*tx).reader.tokens); got > maxTokens {
			t.Errorf("%d tokens are remembered, want at most %d", got, maxTokens)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func update(t *testing.T, db *DB, fn func(store.Tx) error) {
	t.Helper()
	if err := db.Update(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

// everyReader calls fn with a view of each reader.
func everyReader(t *testing.T, db *DB, fn func(store.View) error) {
	t.Helper()
	var nest func(n int) error
	nest = func(n int) error {
		if n == 0 {
			return nil
		}
		return db.View(t.Context(), func(v store.View) error {
			if err := fn(v); err != nil {
				return err
			}
			return nest(n - 1)
		})
	}
	if err := nest(db.opened); err != nil {
		t.Fatal(err)
	}
}
