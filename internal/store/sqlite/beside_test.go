package sqlite

import (
	"testing"

	"pdpp/internal/store"
)

// TestOpenBesideAWriter: a store that is up to date is opened and read while
// another process holds the write lock (H-3).
func TestOpenBesideAWriter(t *testing.T) {
	dir := t.TempDir()
	busy := openDB(t, dir)
	err := busy.Update(t.Context(), func(tx store.Tx) error {
		if err := tx.PutMeta("held", []byte("x")); err != nil {
			return err
		}
		other, err := Open(t.Context(), dir)
		if err != nil {
			return err
		}
		defer other.Close()
		return other.View(t.Context(), func(v store.View) error {
			_, err := v.Generation()
			return err
		})
	})
	if err != nil {
		t.Error(err)
	}
}
