package ingest

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"pdpp"
	"pdpp/internal/blobfile"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlite"
)

// blobWorld returns a store with an owner and no connection, and a folder for blobs.
func blobWorld(t *testing.T) (st store.Store, files *blobfile.Store, owner pdpp.SubjectID) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if files, err = blobfile.Open(t.TempDir(), time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { files.Close() })
	err = db.Update(t.Context(), func(tx store.Tx) error {
		s, err := tx.CreateSubject("ann", time.Unix(0, 0))
		owner = s.ID
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return db, files, owner
}

func TestPutBlobFails(t *testing.T) { // B-9
	st, files, owner := blobWorld(t)
	broken := iotest.ErrReader(errors.New("broken"))
	for name, c := range map[string]struct {
		upload Upload
		want   pdpp.Code
	}{
		"no connection": {Upload{Subject: owner, Connection: "cin_a", Content: strings.NewReader("x")}, pdpp.CodeConnectionNotFound},
		"no owner":      {Upload{Subject: "own_none", Connection: "cin_a", Content: strings.NewReader("x")}, pdpp.CodeNotFound},
		"broken":        {Upload{Subject: owner, Connection: "cin_a", Content: broken}, pdpp.CodeInvalidRequest},
		"too large":     {Upload{Subject: owner, Connection: "cin_a", Content: io.LimitReader(endless{}, MaxBlob+1)}, pdpp.CodeResourceLimit},
	} {
		if _, err := PutBlob(t.Context(), st, files, c.upload, time.Unix(0, 0)); pdpp.CodeOf(err) != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestListBlobs(t *testing.T) { // H-22
	var s Summary
	s.ListBlobs(make([]StoredBlob, MaxListedBlobs+1))
	if len(s.Blobs) != MaxListedBlobs || *s.BlobsStored != MaxListedBlobs+1 {
		t.Errorf("lists %d of %d", len(s.Blobs), *s.BlobsStored)
	}
}
