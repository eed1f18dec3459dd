package instance

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"pdpp"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlite"
)

func open(t *testing.T, dir string) store.Store {
	t.Helper()
	st, err := sqlite.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	return st
}

func wantCode(t *testing.T, what string, err error, want pdpp.Code) {
	t.Helper()
	if got := pdpp.CodeOf(err); got != want {
		t.Errorf("%s: code %q (%v), want %q", what, got, err, want)
	}
}

func TestKeyIsMadeOnceAndKept(t *testing.T) {
	dir := t.TempDir()
	st := open(t, dir)
	first, err := Key(t.Context(), st, dir, "")
	if err != nil {
		t.Fatal(err)
	}
	if len(first) != keySize || bytes.Equal(first, make([]byte, keySize)) {
		t.Fatalf("Key made %d bytes %x", len(first), first)
	}
	again, err := Key(t.Context(), st, dir, "")
	if err != nil || !bytes.Equal(first, again) {
		t.Errorf("second Key = %x, %v, want %x", again, err, first)
	}
	info, err := os.Stat(filepath.Join(dir, KeyFile))
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the key has mode %v, want 0600", info.Mode().Perm())
	}
	left, _ := filepath.Glob(filepath.Join(dir, KeyFile+".*"))
	if len(left) > 0 {
		t.Errorf("temporary files are left: %v", left)
	}
}

func TestKeyIsTheSameForAllWhoStartAtOnce(t *testing.T) {
	dir := t.TempDir()
	st := open(t, dir)
	var keys [8][]byte
	var errs [8]error
	var wg sync.WaitGroup
	for i := range keys {
		wg.Go(func() { keys[i], errs[i] = Key(t.Context(), st, dir, "") })
	}
	wg.Wait()
	for i := range keys {
		if errs[i] != nil || !bytes.Equal(keys[i], keys[0]) {
			t.Errorf("caller %d got %x, %v; caller 0 got %x", i, keys[i], errs[i], keys[0])
		}
	}
}

func TestKeyRefusals(t *testing.T) {
	dir := t.TempDir()
	st := open(t, dir)
	own := filepath.Join(dir, KeyFile)
	if _, err := Key(t.Context(), st, dir, ""); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other.key")
	os.WriteFile(other, bytes.Repeat([]byte{7}, keySize), 0o600)
	_, err := Key(t.Context(), st, dir, other)
	wantCode(t, "another key", err, pdpp.CodeNotConfigured)

	_, err = Key(t.Context(), st, dir, filepath.Join(dir, "absent.key"))
	wantCode(t, "a named file that does not exist", err, pdpp.CodeInputMissing)

	os.WriteFile(other, []byte("short"), 0o600)
	_, err = Key(t.Context(), st, dir, other)
	wantCode(t, "a short key", err, pdpp.CodeNotConfigured)

	os.Remove(own)
	_, err = Key(t.Context(), st, dir, "")
	wantCode(t, "a lost key", err, pdpp.CodeNotConfigured)
	if _, err := os.Stat(own); err == nil {
		t.Error("a lost key was replaced by a new one")
	}
}

func TestFingerprintTellsKeysApartButNotWhatTheyAre(t *testing.T) {
	key := bytes.Repeat([]byte{1}, keySize)
	a, err := fingerprint(key)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := fingerprint(bytes.Repeat([]byte{2}, keySize))
	if a == b || len(a) != 32 || strings.Contains(a, "0101") {
		t.Errorf("fingerprints %q and %q", a, b)
	}
}

func TestPrepareModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes mean nothing here")
	}
	mode := func(dir string) os.FileMode {
		info, err := os.Stat(dir)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode().Perm()
	}
	base := t.TempDir()
	fresh := filepath.Join(base, "a", "b")
	if err := Prepare(fresh); err != nil || mode(fresh) != 0o700 {
		t.Errorf("a new folder: %v, mode %v", err, mode(fresh))
	}
	empty := filepath.Join(base, "empty")
	os.Mkdir(empty, 0o755)
	if err := Prepare(empty); err != nil || mode(empty) != 0o700 {
		t.Errorf("an empty folder: %v, mode %v", err, mode(empty))
	}
	home := filepath.Join(base, "home")
	os.Mkdir(home, 0o755)
	os.WriteFile(filepath.Join(home, "letter.txt"), nil, 0o644)
	if err := Prepare(home); err != nil || mode(home) != 0o755 {
		t.Errorf("a folder with other files: %v, mode %v", err, mode(home))
	}
	os.WriteFile(filepath.Join(home, StoreFile), nil, 0o600)
	if err := Prepare(home); err != nil || mode(home) != 0o700 {
		t.Errorf("a folder with a store: %v, mode %v", err, mode(home))
	}
	wantCode(t, "a file in the way", Prepare(filepath.Join(home, "letter.txt", "x")), pdpp.CodeCannotCreate)
}

func TestLockKeepsTheSecondOut(t *testing.T) {
	dir := t.TempDir()
	first, err := Acquire(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Acquire(dir)
	wantCode(t, "the second server", err, pdpp.CodeBusy)
	if err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("the message does not name the folder: %v", err)
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	third, err := Acquire(dir)
	if err != nil {
		t.Fatalf("after Release: %v", err)
	}
	third.Release()
	_, err = Acquire(filepath.Join(dir, "nowhere"))
	wantCode(t, "no such folder", err, pdpp.CodeCannotCreate)
}

// No new store is created silently where files of another one are left (H-4).
func TestRemains(t *testing.T) {
	for _, c := range []struct{ file, content, want string }{
		{KeyFile, "key", KeyFile},
		{StoreFile + "-wal", "commits", StoreFile + "-wal"},
		{"blobs/1/ab/cd/abcd", "", "blobs/1/ab/cd/abcd"},
		{"blobs/tmp/put_1", "half a bl", ""},
		{"letter.txt", "dear", ""},
		{StoreFile + "-wal", "", ""},
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, filepath.FromSlash(c.file))
		os.MkdirAll(filepath.Dir(file), 0o700)
		if err := os.WriteFile(file, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := Remains(dir); got != c.want || err != nil {
			t.Errorf("Remains beside %s (%q) = %q, %v, want %q", c.file, c.content, got, err, c.want)
		}
	}
	if got, err := Remains(filepath.Join(t.TempDir(), "absent")); got != "" || err != nil {
		t.Errorf("Remains of no folder = %q, %v", got, err)
	}
}

// An empty file is not a store.
func TestExists(t *testing.T) {
	dir := t.TempDir()
	for content, want := range map[string]bool{"": false, "x": true} {
		if err := os.WriteFile(filepath.Join(dir, StoreFile), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := Exists(dir); got != want {
			t.Errorf("Exists with %q in the file = %v, want %v", content, got, want)
		}
	}
}

// The file of the lock may be removed while a server runs; the lock stays (H-4).
func TestLockWithoutItsFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a file that is open cannot be removed here")
	}
	dir := t.TempDir()
	first, err := Acquire(dir)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := os.Remove(filepath.Join(dir, lockFile)); err != nil {
			t.Fatal(err)
		}
		_, err = Acquire(dir)
		wantCode(t, "the second server", err, pdpp.CodeBusy)
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	second, err := Acquire(dir)
	if err != nil {
		t.Fatalf("after Release: %v", err)
	}
	second.Release()
}

func TestOpenKey(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes mean nothing here")
	}
	dir := t.TempDir()
	own, other := filepath.Join(dir, KeyFile), filepath.Join(dir, "other.key")
	if got := OpenKey(dir, ""); got != "" {
		t.Errorf("OpenKey without a key = %q", got)
	}
	for path, mode := range map[string]os.FileMode{own: 0o600, other: 0o640} {
		if err := os.WriteFile(path, nil, mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	if got := OpenKey(dir, ""); got != "" {
		t.Errorf("OpenKey of a private key = %q", got)
	}
	if got := OpenKey(dir, other); got != other {
		t.Errorf("OpenKey = %q, want %q", got, other)
	}
}
