package sqlite

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"pdpp"
	"pdpp/internal/store"
)

// TestReplaced: a store whose file was removed or replaced fails: what commands write now,
// such as the revocation of a grant, is not in it (H-4).
func TestReplaced(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a file that is open cannot be removed here")
	}
	for _, c := range []struct {
		name  string
		spoil func(path string) error
	}{
		{"removed", os.Remove},
		{"renamed", func(path string) error { return os.Rename(path, path+".old") }},
		{"replaced", func(path string) error {
			other := t.TempDir()
			db, err := Open(t.Context(), other)
			if err != nil {
				return err
			}
			if err := db.Close(); err != nil {
				return err
			}
			return os.Rename(filepath.Join(other, "pdpp.db"), path)
		}},
	} {
		t.Run("H-4 "+c.name, func(t *testing.T) {
			dir := t.TempDir()
			db, err := Open(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			uses := map[string]func() error{
				"View":   func() error { return db.View(t.Context(), func(store.View) error { return nil }) },
				"Update": func() error { return db.Update(t.Context(), func(store.Tx) error { return nil }) },
				"Bulk":   func() error { return db.Bulk(t.Context(), func(store.Tx) error { return nil }) },
			}
			for name, use := range uses {
				if err := use(); err != nil {
					t.Fatalf("%s before: %v", name, err)
				}
			}
			select {
			case <-db.Replaced():
				t.Fatal("it counts as replaced from the start")
			default:
			}

			path := filepath.Join(dir, "pdpp.db")
			if err := c.spoil(path); err != nil {
				t.Fatal(err)
			}
			for name, use := range uses {
				if err := use(); pdpp.CodeOf(err) != pdpp.CodeUnavailable {
					t.Errorf("%s: %v, want %s", name, err, pdpp.CodeUnavailable)
				}
			}
			select {
			case <-db.Replaced():
			default:
				t.Error("nobody is told")
			}
			if c.name == "renamed" { // back again: what happened in between is not known
				if err := os.Rename(path+".old", path); err != nil {
					t.Fatal(err)
				}
				if err := uses["View"](); err == nil {
					t.Error("it is used again")
				}
			}
		})
	}
}
