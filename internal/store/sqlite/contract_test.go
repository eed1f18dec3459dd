package sqlite

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"pdpp/internal/store"
	"pdpp/internal/store/storetest"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashDir); dir != "" {
		ingestUntilKilled(dir)
		return
	}
	goleak.VerifyTestMain(m)
}

// openDB opens a store that is closed with the test.
func openDB(t *testing.T, dir string) *DB {
	t.Helper()
	db, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return db
}

func TestContract(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) store.Store { return openDB(t, t.TempDir()) })
}
