package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pdpp"
	"pdpp/internal/instance"
	"pdpp/internal/store/sqlite"
	"pdpp/internal/store/sqlite/engine"
)

// A command brings an older store up to date, but not under a server, which may be an
// older program (H-5).
func TestOlderStoreUnderAServer(t *testing.T) {
	dir := t.TempDir()
	older := makeOlder(t, dir)
	lock, err := instance.Acquire(dir)
	if err != nil {
		t.Fatal(err)
	}
	a := new(app)
	if _, err := a.openStore(t.Context(), dir); pdpp.CodeOf(err) != pdpp.CodeBusy {
		t.Errorf("openStore beside a server = %v, want %s", err, pdpp.CodeBusy)
	}
	if got := schemaVersion(t, dir); got != older {
		t.Errorf("the store has version %s now, want %s", got, older)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	st, err := a.openStore(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Error(err)
	}
	if got := schemaVersion(t, dir); got != fmt.Sprint(sqlite.SchemaVersion()) {
		t.Errorf("the store has version %s, want %d", got, sqlite.SchemaVersion())
	}
	if lock, err = instance.Acquire(dir); err != nil {
		t.Fatalf("the command kept the lock: %v", err)
	}
	lock.Release()
}

// makeOlder makes a store with the schema of the program before.
func makeOlder(t *testing.T, dir string) (version string) {
	t.Helper()
	files, err := filepath.Glob("../store/sqlite/migrations/*.sql")
	if err != nil || len(files) != sqlite.SchemaVersion() {
		t.Fatalf("migrations %v, %v", files, err)
	}
	c, err := engine.Open(filepath.Join(dir, instance.StoreFile))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, file := range files[:len(files)-1] {
		text, err := os.ReadFile(file)
		if err == nil {
			err = c.Script(string(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	version = fmt.Sprint(len(files) - 1)
	if err := c.Script("PRAGMA user_version = " + version); err != nil {
		t.Fatal(err)
	}
	return version
}

func schemaVersion(t *testing.T, dir string) string {
	t.Helper()
	c, err := engine.Open(filepath.Join(dir, instance.StoreFile))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s, err := c.Query("PRAGMA user_version")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Step(); err != nil {
		t.Fatal(err)
	}
	return s.Text(0)
}
