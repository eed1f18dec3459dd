package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pdpp"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlite/engine"
)

// TestTokensOfReaders: although readers cache tokens, a change counts in the next view of
// each of them: a change of this process, of another process, and one whose log was
// checkpointed meanwhile (H-44).
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

// TestManyTokens: the cache of a reader is bounded.
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

// Readers see changes of the schema and the file by another process, and cache no token
// that it changed, also after views that were interrupted or panicked.
func TestReadersBesideAnother(t *testing.T) {
	dir := t.TempDir()
	w := newWorldIn(t, openDB(t, dir))
	hash := store.HashToken("secret")
	update(t, w.db, func(tx store.Tx) error {
		return tx.CreateToken(store.Token{ID: "tok_1", Kind: pdpp.TokenOwner, Subject: w.subject, Audience: []string{"rest"}, IssuedAt: epoch, ExpiresAt: epoch.AddDate(1, 0, 0)}, hash)
	})
	other, err := engine.Open(filepath.Join(dir, "pdpp.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	other.SetBusyTimeout(300_000)
	look := func(want bool) {
		t.Helper()
		everyReader(t, w.db, func(v store.View) error {
			p, err := v.Token(hash)
			if p.Revoked != want {
				t.Errorf("revoked %v, want %v", p.Revoked, want)
			}
			_, err2 := v.Catalog(w.subject)
			return errors.Join(err, err2)
		})
	}
	look(false)
	for i, sql := range []string{
		`CREATE TABLE beside (a)`, `ALTER TABLE tokens ADD COLUMN beside TEXT`, `CREATE INDEX beside_index ON tokens (beside)`, `DROP INDEX beside_index`,
		`DROP TABLE beside`, `VACUUM`, `PRAGMA wal_checkpoint(TRUNCATE)`, `PRAGMA wal_checkpoint(RESTART)`, `ANALYZE`,
	} {
		for _, to := range []string{"1", "NULL"} {
			// views that end badly
			ctx, cancel := context.WithCancel(t.Context())
			_ = w.db.View(ctx, func(v store.View) error {
				_, _ = v.Token(hash)
				cancel()
				_, err := v.Catalog(w.subject)
				if err == nil {
					t.Error("a view reads after its context ended")
				}
				return err
			})
			func() {
				defer func() { _ = recover() }()
				_ = w.db.View(t.Context(), func(v store.View) error {
					_, _ = v.Token(hash)
					panic(i)
				})
			}()
			if err := other.Exec(`UPDATE tokens SET revoked_at = ` + to); err != nil {
				t.Fatal(err)
			}
			look(to == "1")
			if to == "1" {
				if err := other.Exec(sql); err != nil {
					t.Fatal(sql, err)
				}
				look(true)
			}
		}
	}
}

// Many views, some of them interrupted, while another writer changes a token and
// truncates the log: a view never sees content older than the last commit before it
// began, and sees no change within it.
func TestReadersNeverSeeThePast(t *testing.T) {
	dir := t.TempDir()
	w := newWorldIn(t, openDB(t, dir))
	hash := store.HashToken("secret")
	update(t, w.db, func(tx store.Tx) error {
		return tx.CreateToken(store.Token{ID: "tok_1", Kind: pdpp.TokenOwner, Subject: w.subject, IssuedAt: epoch, ExpiresAt: epoch}, hash)
	})
	other, err := engine.Open(filepath.Join(dir, "pdpp.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	other.SetBusyTimeout(300_000)
	var mu sync.Mutex
	committed := epoch
	updates := int64(150)
	if testing.Short() {
		updates = 50
	}
	var over atomic.Bool
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for k := 0; !over.Load(); k++ {
				mu.Lock()
				least := committed
				mu.Unlock()
				ctx, cancel := t.Context(), func() {}
				if k%5 == g%5 {
					ctx, cancel = context.WithTimeout(ctx, time.Duration(k%30)*time.Microsecond)
				}
				err := w.db.View(ctx, func(v store.View) error {
					p, err := v.Token(hash)
					if err != nil {
						return err
					}
					if p.ExpiresAt.Before(least) {
						t.Errorf("a view shows %v after %v was committed", p.ExpiresAt, least)
					}
					stmt, err := readPrincipal(v.(*tx).conn, hash) // past what is remembered
					if err == nil && !stmt.ExpiresAt.Equal(p.ExpiresAt) {
						t.Errorf("remembered %v, stored %v", p.ExpiresAt, stmt.ExpiresAt)
					}
					return err
				})
				if err != nil && ctx.Err() == nil {
					t.Error(err)
				}
				cancel()
			}
		})
	}
	for k := range updates {
		at := epoch.Add(time.Duration(k+1) * time.Millisecond)
		if err := other.Exec(`UPDATE tokens SET expires_at = ?`, at.UnixMilli()); err != nil {
			t.Error(err)
			break
		}
		mu.Lock()
		committed = at
		mu.Unlock()
		if k%17 == 0 {
			_ = other.Exec(`PRAGMA wal_checkpoint(TRUNCATE)`)
		}
	}
	over.Store(true)
	wg.Wait()
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
