package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"pdpp"
	"pdpp/internal/store"
)

// TestCopyWhileWriting: a copy is a snapshot of the store, with complete batches only.
func TestCopyWhileWriting(t *testing.T) {
	w := newWorld(t)
	const size = 20
	batch := func(n int) (docs []store.Document) {
		for i := range size {
			docs = append(docs, w.put(fmt.Sprintf("r%d-%d", n, i), fmt.Sprintf(`{"id":"r%d-%d"}`, n, i)))
		}
		return docs
	}
	w.mustIngest(t, batch(0)...)
	stop := make(chan struct{})
	var writing sync.WaitGroup
	writing.Go(func() {
		for n := 1; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			if err := w.ingest(t.Context(), batch(n)...); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for i := range 3 {
		dir := t.TempDir()
		if err := w.db.CopyTo(t.Context(), filepath.Join(dir, "pdpp.db")); err != nil {
			t.Fatal(err)
		}
		copied := openDB(t, dir)
		if err := copied.Check(t.Context()); err != nil {
			t.Error(err)
		}
		err := copied.View(t.Context(), func(v store.View) error {
			n, err := queryInt(v.(*tx).conn, `SELECT count(*) FROM records`)
			if n == 0 || n%size != 0 {
				t.Errorf("copy %d has %d records, want whole batches of %d", i, n, size)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
		(&world{db: copied}).consistent(t)
	}
	close(stop)
	writing.Wait()
	if err := w.db.CopyTo(t.Context(), filepath.Join(t.TempDir(), "no", "such")); err == nil {
		t.Error("CopyTo a folder that is not there: no error")
	}
}

func TestCheckFindsDamage(t *testing.T) {
	dir := t.TempDir()
	w := newWorldIn(t, openDB(t, dir))
	for i := range 200 {
		w.mustIngest(t, w.put(fmt.Sprintf("r%d", i), fmt.Sprintf(`{"id":"r%d"}`, i)))
	}
	if err := w.db.Check(t.Context()); err != nil {
		t.Fatalf("Check of a sound store: %v", err)
	}
	other := t.TempDir()
	path := filepath.Join(other, "pdpp.db")
	if err := w.db.CopyTo(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	damaged := openDB(t, other)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const page = 16384
	for i := page; i < len(content); i += page { // the kind and the size of every page but the first
		copy(content[i:], "damaged!")
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := damaged.Check(t.Context()); err == nil || pdpp.CodeOf(err) == "" {
		t.Errorf("Check of a damaged store: %v", err)
	}
}
