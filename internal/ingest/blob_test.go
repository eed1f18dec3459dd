package ingest

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pdpp"
	"pdpp/internal/blobfile"
)

// blobFolder returns an empty folder for blobs.
func blobFolder(t *testing.T) *blobfile.Store {
	t.Helper()
	files, err := blobfile.Open(t.TempDir(), noon)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { files.Close() })
	return files
}

func TestPutBlobFails(t *testing.T) { // B-9
	w, files := newWorld(t), blobFolder(t)
	broken := iotest.ErrReader(errors.New("broken"))
	for name, c := range map[string]struct {
		upload Upload
		want   pdpp.Code
	}{
		"no connection": {Upload{Subject: w.subject, Connection: "cin_a", Content: strings.NewReader("x")}, pdpp.CodeConnectionNotFound},
		"no owner":      {Upload{Subject: "own_none", Connection: "cin_a", Content: strings.NewReader("x")}, pdpp.CodeNotFound},
		"broken":        {Upload{Subject: w.subject, Connection: "cin_a", Content: broken}, pdpp.CodeInvalidRequest},
		"too large":     {Upload{Subject: w.subject, Connection: "cin_a", Content: io.LimitReader(endless{}, MaxBlob+1)}, pdpp.CodeResourceLimit},
	} {
		if _, err := PutBlob(t.Context(), w.Store, files, c.upload, noon); pdpp.CodeOf(err) != c.want {
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
