package blobfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pdpp"
)

func TestPutAndOpen(t *testing.T) {
	s, dir := fresh(t)
	for _, content := range []string{"", "rent", strings.Repeat("long ", 100_000)} {
		want := Blob{SHA256: sum(content), Size: int64(len(content))}
		if got := put(t, s, 7, content); got != want {
			t.Errorf("Put(%.20q) = %v, want %v", content, got, want)
		}
		wantContent(t, s, 7, content)
	}
	hash := sum("rent")
	name := filepath.Join(dir, "7", hash[:2], hash[2:4], hash)
	if _, err := os.Stat(name); err != nil {
		t.Errorf("the content is not where it belongs: %v", err)
	}
	wantFiles(t, dir, 3)
}

// The same content is one file for each owner, and owners do not see each other's.
func TestOwnersShareNothing(t *testing.T) {
	s, dir := fresh(t)
	hash := put(t, s, 1, "rent").SHA256
	wantNone(t, s, 2, hash)
	put(t, s, 2, "rent")
	wantFiles(t, dir, 2)
	if err := s.Remove(1, hash); err != nil {
		t.Fatal(err)
	}
	wantNone(t, s, 1, hash)
	wantContent(t, s, 2, "rent")
}

func TestPutAgainKeepsTheFile(t *testing.T) {
	s, dir := fresh(t)
	blob := put(t, s, 7, "rent")
	name, _ := place(7, blob.SHA256)
	old := noon.AddDate(-1, 0, 0)
	if err := os.Chtimes(filepath.Join(dir, name), old, old); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	if again := put(t, s, 7, "rent"); again != blob {
		t.Errorf("Put again = %v, want %v", again, blob)
	}
	after, err := os.Stat(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	if !os.SameFile(before, after) {
		t.Error("Put replaced a file that it should keep")
	}
	if !after.ModTime().After(old) {
		t.Errorf("the file is still of %s: a sweep by age would take it", after.ModTime())
	}
	wantFiles(t, dir, 1)
}

func TestPutReplacesADamagedFile(t *testing.T) {
	s, dir := fresh(t)
	name, _ := place(7, put(t, s, 7, "rent").SHA256)
	if err := os.Truncate(filepath.Join(dir, name), 2); err != nil {
		t.Fatal(err)
	}
	put(t, s, 7, "rent")
	wantContent(t, s, 7, "rent")
}

func TestModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes are not those of Windows")
	}
	dir := filepath.Join(t.TempDir(), "blobs")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, open(t, dir), 7, "rent")
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		want := fs.FileMode(0o600)
		if e.IsDir() {
			want = 0o700
		}
		if err == nil && info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v", name, info.Mode().Perm(), want)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestNamesThatAreNone(t *testing.T) {
	s, dir := fresh(t)
	hash := put(t, s, 7, "rent").SHA256
	for _, name := range []string{
		"", ".", "..", "rent", hash[:63], hash + "0", strings.ToUpper(hash), hash[:63] + "g", hash[:63] + "/", hash[:63] + "\x00",
		"../7/" + hash[:2] + "/" + hash[2:4] + "/" + hash, strings.Repeat("../", 22)[:64], "/" + hash[1:], strings.Repeat("é", 32),
	} {
		if validHash(name) {
			t.Errorf("validHash(%q) = true", name)
		}
		wantNone(t, s, 7, name)
		if err := s.Remove(7, name); pdpp.CodeOf(err) != pdpp.CodeNotFound {
			t.Errorf("Remove(7, %q) = %v, want %s", name, err, pdpp.CodeNotFound)
		}
	}
	for _, owner := range []int64{0, -7} {
		wantNone(t, s, owner, hash)
		if _, err := s.Put(t.Context(), owner, strings.NewReader("rent"), plenty); pdpp.CodeOf(err) != pdpp.CodeInternal {
			t.Errorf("Put(%d) = %v, want %s", owner, err, pdpp.CodeInternal)
		}
	}
	wantFiles(t, dir, 1)
}

// Unknown, malformed and another owner's look the same (B-4).
func TestOneNotFound(t *testing.T) {
	s, _ := fresh(t)
	hash := put(t, s, 7, "rent").SHA256
	_, _, other := s.Open(8, hash)
	_, _, unknown := s.Open(7, sum("unknown"))
	_, _, malformed := s.Open(7, "..")
	if diff := cmp.Diff([]string{other.Error(), other.Error()}, []string{unknown.Error(), malformed.Error()}); diff != "" {
		t.Errorf("answers differ (-want +got):\n%s", diff)
	}
}

func TestRemove(t *testing.T) {
	s, dir := fresh(t)
	hash := put(t, s, 7, "rent").SHA256
	f, _, err := s.Open(7, hash)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for range 2 {
		if err := s.Remove(7, hash); err != nil {
			t.Errorf("Remove: %v", err)
		}
	}
	wantNone(t, s, 7, hash)
	wantFiles(t, dir, 0)
	put(t, s, 7, "rent")
	wantContent(t, s, 7, "rent")
}

func TestRemoveOld(t *testing.T) {
	s, dir := fresh(t)
	hash := put(t, s, 7, "rent").SHA256
	file := filepath.Join(dir, mustPlace(7, hash))
	if err := os.Chtimes(file, noon, noon); err != nil {
		t.Fatal(err)
	}
	for _, limit := range []time.Time{noon.Add(-time.Hour), noon} {
		if removed, err := s.RemoveOld(7, hash, limit); removed || err != nil {
			t.Errorf("RemoveOld = %v, %v, want false", removed, err)
		}
		wantContent(t, s, 7, "rent")
	}
	for _, want := range []bool{true, false} {
		if removed, err := s.RemoveOld(7, hash, noon.Add(time.Second)); removed != want || err != nil {
			t.Errorf("RemoveOld = %v, %v, want %v", removed, err, want)
		}
		wantNone(t, s, 7, hash)
	}
	if _, err := s.RemoveOld(7, "..", noon); pdpp.CodeOf(err) != pdpp.CodeNotFound {
		t.Errorf("RemoveOld of no hash = %v, want %s", err, pdpp.CodeNotFound)
	}
}

func TestMeasure(t *testing.T) {
	got, err := Measure(t.Context(), strings.NewReader("rent"), 4)
	if want := (Blob{SHA256: sum("rent"), Size: 4}); got != want || err != nil {
		t.Errorf("Measure = %v, %v, want %v", got, err, want)
	}
	if _, err := Measure(t.Context(), strings.NewReader("rent"), 3); pdpp.CodeOf(err) != pdpp.CodeResourceLimit {
		t.Errorf("Measure beyond the limit = %v, want %s", err, pdpp.CodeResourceLimit)
	}
}

func TestAll(t *testing.T) {
	s, dir := fresh(t)
	var want []string
	for _, content := range []string{"", "rent", "salary"} {
		put(t, s, 7, content)
		put(t, s, 12, content)
		want = append(want, "7 "+sum(content), "12 "+sum(content))
	}
	strangers(t, dir)
	var got []string
	err := s.All(func(owner int64, hash string, _ int64, mod time.Time) bool {
		if mod.IsZero() {
			t.Errorf("%s has no time", hash)
		}
		name, _, _ := strings.Cut(mustPlace(owner, hash), "/")
		got = append(got, name+" "+hash)
		if err := s.Remove(owner, hash); err != nil {
			t.Errorf("Remove: %v", err)
		}
		return true
	})
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("All: %v (-want +got):\n%s", err, diff)
	}
}

// strangers writes files into dir whose names resemble those of blobs.
func strangers(t *testing.T, dir string) {
	t.Helper()
	hash := sum("stranger")
	for _, name := range []string{
		hash, "7/" + hash, "07/" + hash[:2] + "/" + hash[2:4] + "/" + hash, "-7/" + hash[:2] + "/" + hash[2:4] + "/" + hash,
		"7/00/00/" + hash, "tmp/" + hash, "x/" + hash[:2] + "/" + hash[2:4] + "/" + hash, "7/" + hash[:2] + "/" + hash[2:4] + "/" + hash[:62],
	} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("stranger"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func mustPlace(owner int64, hash string) string {
	name, ok := place(owner, hash)
	if !ok {
		panic("no place for " + hash)
	}
	return name
}

func TestAllStops(t *testing.T) {
	s, _ := fresh(t)
	put(t, s, 7, "rent")
	put(t, s, 7, "salary")
	calls := 0
	err := s.All(func(int64, string, int64, time.Time) bool { calls++; return false })
	if err != nil || calls != 1 {
		t.Errorf("All: %v after %d calls, want 1", err, calls)
	}
}

func TestOpenRemovesAbandonedFiles(t *testing.T) {
	_, dir := fresh(t)
	for name, age := range map[string]time.Duration{
		"put_0000000000000001": 25 * time.Hour,
		"put_0000000000000002": 23 * time.Hour,
		"put_0000000000000003": -time.Hour,
		"other":                25 * time.Hour,
	} {
		file := filepath.Join(dir, tempFolder, name)
		if err := os.WriteFile(file, []byte("half a bl"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, noon.Add(-age), noon.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	open(t, dir)
	want := []string{"tmp/other", "tmp/put_0000000000000002", "tmp/put_0000000000000003"}
	if diff := cmp.Diff(want, files(t, dir)); diff != "" {
		t.Errorf("after Open (-want +got):\n%s", diff)
	}
}

func TestOpenRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "below")} {
		if s, err := Open(dir, noon); pdpp.CodeOf(err) != pdpp.CodeCannotCreate {
			t.Errorf("Open(%q) = %v, %v, want %s", dir, s, err, pdpp.CodeCannotCreate)
		}
	}
}

func TestClosed(t *testing.T) {
	s, _ := fresh(t)
	hash := put(t, s, 7, "rent").SHA256
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(t.Context(), 7, strings.NewReader("x"), plenty); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Put after Close = %v, want %v", err, os.ErrClosed)
	}
	if _, _, err := s.Open(7, hash); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Open after Close = %v, want %v", err, os.ErrClosed)
	}
}
