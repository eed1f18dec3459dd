package blobfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pdpp"
)

// childEnv makes the test program run one of the tasks of children instead.
const childEnv = "PDPP_BLOBFILE_CHILD"

func TestMain(m *testing.M) {
	if task, dir, ok := strings.Cut(os.Getenv(childEnv), ":"); ok {
		if err := children()[task](dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

var noon = time.Date(2026, 4, 6, 12, 0, 0, 0, time.UTC)

const plenty = 50 << 20 // B-9

func open(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(dir, noon)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// fresh creates a store in a new folder, and returns both.
func fresh(t testing.TB) (*Store, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "blobs")
	return open(t, dir), dir
}

func put(t testing.TB, s *Store, owner int64, content string) Blob {
	t.Helper()
	blob, err := s.Put(t.Context(), owner, strings.NewReader(content), plenty)
	if err != nil {
		t.Fatalf("Put(%d, %.20q): %v", owner, content, err)
	}
	return blob
}

func sum(content string) string {
	h := sha256.Sum256([]byte(content))
	return hex.EncodeToString(h[:])
}

// wantContent checks that owner has content, and that it is complete.
func wantContent(t testing.TB, s *Store, owner int64, content string) {
	t.Helper()
	f, size, err := s.Open(owner, sum(content))
	if err != nil {
		t.Errorf("Open(%d, hash of %.20q): %v", owner, content, err)
		return
	}
	defer f.Close()
	got, err := io.ReadAll(f)
	if err != nil || string(got) != content || size != int64(len(content)) {
		t.Errorf("Open(%d, hash of %.20q) = %.20q, size %d, %v", owner, content, got, size, err)
	}
}

func wantNone(t testing.TB, s *Store, owner int64, hash string) {
	t.Helper()
	f, _, err := s.Open(owner, hash)
	if pdpp.CodeOf(err) != pdpp.CodeNotFound {
		t.Errorf("Open(%d, %.70q) = %v, %v, want %s", owner, hash, f, err, pdpp.CodeNotFound)
	}
	if err == nil {
		f.Close()
	}
}

// files lists the files below dir, by slash-separated names.
func files(t testing.TB, dir string) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			rel, _ := filepath.Rel(dir, name)
			list = append(list, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func wantFiles(t testing.TB, dir string, want int) {
	t.Helper()
	if list := files(t, dir); len(list) != want {
		t.Errorf("%d files, want %d: %v", len(list), want, list)
	}
}

// wantWhole checks that every file with the name of a blob has its content.
func wantWhole(t testing.TB, s *Store) {
	t.Helper()
	err := s.All(func(owner int64, hash string, size int64, _ time.Time) bool {
		f, _, err := s.Open(owner, hash)
		if err != nil {
			t.Errorf("Open(%d, %s): %v", owner, hash, err)
			return true
		}
		defer f.Close()
		h := sha256.New()
		n, err := io.Copy(h, f)
		if err != nil || n != size || !bytes.Equal(h.Sum(nil), unhex(hash)) {
			t.Errorf("the file of %s for %d has %d bytes with hash %x (%v)", hash, owner, n, h.Sum(nil), err)
		}
		return true
	})
	if err != nil {
		t.Error(err)
	}
}

func unhex(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}
