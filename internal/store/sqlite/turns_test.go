package sqlite

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"pdpp/internal/osfile"
	"pdpp/internal/store"
)

// isLocked reports whether the lock of a file is held.
func isLocked(t *testing.T, path string) bool {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return errors.Is(osfile.Lock(f), osfile.ErrLocked)
}

func waitLocked(t *testing.T, path string) {
	t.Helper()
	for !isLocked(t, path) {
		runtime.Gosched()
	}
}

// sequence records the order of events.
type sequence struct {
	mu    sync.Mutex
	steps []string
}

func (o *sequence) add(step string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.steps = append(o.steps, step)
}

// TestUpdateGoesBeforeSlices: while one process has many slices to write, an Update of
// another waits for the slice that writes and the one that waits, and no further ones.
func TestUpdateGoesBeforeSlices(t *testing.T) { // H-2, H-171
	dir := t.TempDir()
	busy, other := openDB(t, dir), openDB(t, dir)
	var done sequence
	var wg sync.WaitGroup
	writing, release := make(chan struct{}), make(chan struct{})
	slice := func(store.Tx) error { done.add("slice"); return nil }
	wg.Go(func() {
		err := busy.Bulk(t.Context(), func(store.Tx) error {
			close(writing)
			<-release
			done.add("slice")
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-writing
	for range 20 {
		wg.Go(func() {
			if err := busy.Bulk(t.Context(), slice); err != nil {
				t.Error(err)
			}
		})
	}
	waitLocked(t, filepath.Join(dir, "bulk.lock"))
	// The two halves of other.Update, to know when the first is done.
	conn := <-other.write
	defer func() { other.write <- conn }()
	finish, err := other.turns.waitUpdate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	close(release)
	err = other.transact(t.Context(), other.newTx(conn), func() {}, func(store.Tx) error { done.add("update"); return nil })
	if err := errors.Join(err, finish()); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	if at := slices.Index(done.steps, "update"); at > 2 || at < 0 || len(done.steps) != 22 {
		t.Errorf("the update came after %d slices: %v", at, done.steps)
	}
}

// TestSlicesEndEarly: in a Bulk, work ends when the time of the slice is over, after one
// step at least.
func TestSlicesEndEarly(t *testing.T) { // I-7, I-9
	w := newWorld(t)
	w.db.sliceTime = -1
	docs := []store.Document{w.put("a", `{"memo":"x"}`), w.put("b", `{"memo":"x"}`), w.put("c", `{"memo":"x"}`)}
	slice := func(fn func(store.Tx) (int, error)) int {
		t.Helper()
		var n int
		err := w.db.Bulk(t.Context(), func(tx store.Tx) (err error) {
			n, err = fn(tx)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for len(docs) > 0 {
		n := slice(func(tx store.Tx) (int, error) {
			out, err := tx.Ingest(w.binding, docs, epoch)
			return len(out), err
		})
		if n != 1 {
			t.Fatalf("a slice stored %d records, want 1", n)
		}
		docs = docs[n:]
		w.consistent(t)
	}
	for _, want := range []int{1, 1, 1, 0} {
		n := slice(func(tx store.Tx) (int, error) {
			n, err := tx.DeleteAll(w.binding, math.MaxInt64, epoch)
			return int(n), err
		})
		if n != want {
			t.Errorf("a slice deleted %d records, want %d", n, want)
		}
		w.consistent(t)
	}
}

// TestSlicesOfProcessesTakeTurns: a process that waits is not overtaken by the one
// that wrote last.
func TestSlicesOfProcessesTakeTurns(t *testing.T) { // H-2
	dir := t.TempDir()
	busy, other := openDB(t, dir), openDB(t, dir)
	var done sequence
	var wg sync.WaitGroup
	err := busy.Bulk(t.Context(), func(store.Tx) error {
		wg.Go(func() {
			if err := other.Bulk(t.Context(), func(store.Tx) error { done.add("other"); return nil }); err != nil {
				t.Error(err)
			}
		})
		waitLocked(t, filepath.Join(dir, "bulk.lock"))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if err := busy.Bulk(t.Context(), func(store.Tx) error { done.add("busy"); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	wg.Wait()
	if done.steps[0] != "other" {
		t.Errorf("the process that waited was overtaken: %v", done.steps)
	}
}

// TestPanicEndsUpdate: an Update that panics does not block those of other processes.
func TestPanicEndsUpdate(t *testing.T) { // H-2
	dir := t.TempDir()
	db := openDB(t, dir)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_ = db.Update(t.Context(), func(store.Tx) error { panic("on purpose") })
	}()
	if isLocked(t, filepath.Join(dir, "update.lock")) {
		t.Error("update.lock is held after the Update has ended")
	}
}
