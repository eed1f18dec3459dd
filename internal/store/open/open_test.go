package open

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"pdpp"
	"pdpp/internal/store"
)

func TestStore(t *testing.T) {
	dir := filepath.ToSlash(t.TempDir())
	if _, err := Store(t.Context(), dir, store.OpenOptions{}); !errors.Is(err, store.ErrNoStore) {
		t.Fatalf("Store without Create = %v, want %v", err, store.ErrNoStore)
	}
	for _, location := range []string{"sqlite://" + dir, dir} {
		st, err := Store(t.Context(), location, store.OpenOptions{Create: location != dir})
		if err != nil {
			t.Fatalf("Store(%q) = %v", location, err)
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestUnsupported(t *testing.T) {
	for _, location := range []string{"postgres://ann:secret@db.test/pdpp", "sqlite://host/folder", "sqlite://", "://x", "sqlite:///%zz", "sqlite:///folder?mode=ro", "sqlite:///folder#1", "sqlite:foo.db", "file:foo", "postgres:x"} {
		_, err := Store(t.Context(), location, store.OpenOptions{Create: true})
		var e *pdpp.Error
		if !errors.As(err, &e) || e.Code != pdpp.CodeUsage || !strings.Contains(e.Hint, "sqlite:///folder") {
			t.Errorf("Store(%q) = %v, want %s with what is supported", location, err, pdpp.CodeUsage)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("Store(%q) reveals the password: %v", location, err)
		}
	}
}
