package ingest

import (
	"strings"
	"testing"
	"time"

	"pdpp/internal/blobfile"
)

// files without a row are counted, and only RemoveUnknownBlobs removes them; recent ones
// are left out, since their row may not be written yet.
func TestUnknown(t *testing.T) { // B-9
	st, files := newWorld(t).Store, blobFolder(t)
	put := time.Now() // of the files, by the clock of the disk
	for _, content := range []string{"one", "three"} {
		if _, err := files.Put(t.Context(), 1, strings.NewReader(content), 1<<20); err != nil {
			t.Fatal(err)
		}
	}
	found, err := FindUnknownBlobs(t.Context(), st, files, put)
	if found.Files != 0 || err != nil {
		t.Errorf("FindUnknownBlobs at once = %+v, %v", found, err)
	}
	later := put.Add(2 * UploadTime)
	found, err = FindUnknownBlobs(t.Context(), st, files, later)
	if err != nil || found.Files != 2 || found.Bytes != 8 || !found.StoreIsOlder || found.Newest.Before(put.Add(-time.Minute)) {
		t.Errorf("FindUnknownBlobs = %+v, %v", found, err)
	}
	if removed, err := RemoveUnknownBlobs(t.Context(), st, files, put); removed.Files != 0 || err != nil {
		t.Errorf("RemoveUnknownBlobs at once = %+v, %v", removed, err)
	}
	if n := countFiles(t, files); n != 2 {
		t.Errorf("%d files are left, want 2", n)
	}
	removed, err := RemoveUnknownBlobs(t.Context(), st, files, later)
	if err != nil || removed.Files != 2 || removed.Bytes != 8 {
		t.Errorf("RemoveUnknownBlobs = %+v, %v", removed, err)
	}
	if n := countFiles(t, files); n != 0 {
		t.Errorf("%d files are left, want none", n)
	}
}

func countFiles(t *testing.T, files *blobfile.Store) (n int) {
	t.Helper()
	err := files.All(func(int64, string, int64, time.Time) bool {
		n++
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
