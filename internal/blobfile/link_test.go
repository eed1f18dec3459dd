package blobfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pdpp"
)

// link puts a symbolic link to target at name, in place of what is there.
func link(t *testing.T, target, name string) {
	t.Helper()
	if err := os.RemoveAll(name); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, name); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
}

// A link in place of a folder is not followed, inside or outside the store.
func TestLinkedFoldersAreNotFollowed(t *testing.T) {
	hash := sum("rent")
	for _, tt := range []struct{ name, at, target string }{
		{"owner to owner", "8", "7"},
		{"first level", "8/" + hash[:2], "../7/" + hash[:2]},
		{"second level", "8/" + hash[:2] + "/" + hash[2:4], "../../7/" + hash[:2] + "/" + hash[2:4]},
		{"outside", "8", "OUTSIDE"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, dir := fresh(t)
			put(t, s, 7, "rent")
			outside, outsideDir := fresh(t)
			put(t, outside, 7, "rent")
			target := tt.target
			if target == "OUTSIDE" {
				target = filepath.Join(outsideDir, "7")
			}
			link(t, target, filepath.Join(dir, filepath.FromSlash(tt.at)))

			if f, _, err := s.Open(8, hash); err == nil {
				f.Close()
				t.Error("Open followed a link")
			}
			if _, err := s.Put(t.Context(), 8, strings.NewReader("rent"), plenty); pdpp.CodeOf(err) != pdpp.CodeUnavailable {
				t.Errorf("Put through a link = %v, want %s", err, pdpp.CodeUnavailable)
			}
			if err := s.Remove(8, hash); err == nil {
				t.Error("Remove through a link gave no error")
			}
			wantOnly(t, s, 7)
			wantContent(t, s, 7, "rent")
			wantContent(t, outside, 7, "rent")
		})
	}
}

// wantOnly checks that All yields one blob, of owner.
func wantOnly(t *testing.T, s *Store, owner int64) {
	t.Helper()
	calls := 0
	err := s.All(func(got int64, _ string, _ int64, _ time.Time) bool {
		calls++
		return got == owner
	})
	if err != nil || calls != 1 {
		t.Errorf("All: %v after %d blobs, want one of owner %d", err, calls, owner)
	}
}

func TestLinkedFileIsNotFollowed(t *testing.T) {
	s, dir := fresh(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("rent"), 0o600); err != nil {
		t.Fatal(err)
	}
	hash := sum("rent")
	put(t, s, 7, "rent")
	for _, target := range []string{secret, filepath.Join("..", "..", "..", mustPlace(7, hash))} {
		link(t, target, filepath.Join(dir, mustPlace(8, hash)))
		if f, _, err := s.Open(8, hash); err == nil {
			f.Close()
			t.Errorf("Open followed a link to %s", target)
		}
		wantOnly(t, s, 7)
		// Put replaces the link, and does not change its target.
		put(t, s, 8, "rent")
		wantContent(t, s, 8, "rent")
		if err := s.Remove(8, hash); err != nil {
			t.Errorf("Remove: %v", err)
		}
		wantContent(t, s, 7, "rent")
	}
	if b, err := os.ReadFile(secret); err != nil || string(b) != "rent" {
		t.Errorf("the file outside is now %q, %v", b, err)
	}
}

func TestLinkedTempFolder(t *testing.T) {
	_, dir := fresh(t)
	link(t, t.TempDir(), filepath.Join(dir, tempFolder))
	if _, err := Open(dir, noon); pdpp.CodeOf(err) != pdpp.CodeCannotCreate {
		t.Errorf("Open with a linked temporary folder = %v, want %s", err, pdpp.CodeCannotCreate)
	}
}

// The operator decides where the folder is.
func TestLinkedStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "blobs")
	link(t, t.TempDir(), dir)
	s := open(t, dir)
	put(t, s, 7, "rent")
	wantContent(t, s, 7, "rent")
}

func TestFolderInThePlaceOfABlob(t *testing.T) {
	s, dir := fresh(t)
	if err := os.MkdirAll(filepath.Join(dir, mustPlace(7, sum("rent"))), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(t.Context(), 7, strings.NewReader("rent"), plenty); pdpp.CodeOf(err) != pdpp.CodeUnavailable {
		t.Errorf("Put = %v, want %s", err, pdpp.CodeUnavailable)
	}
	if f, _, err := s.Open(7, sum("rent")); err == nil {
		f.Close()
		t.Error("Open opened a folder")
	}
	wantFiles(t, dir, 0)
}
