package ingest

import (
	"context"
	"errors"
	"io"
	"time"

	"pdpp"
	"pdpp/internal/blobfile"
	"pdpp/internal/store"
)

// MaxBlob is the size of the largest blob (B-9).
const MaxBlob = 50 << 20

// Upload is a blob to be stored.
type Upload struct {
	Subject    pdpp.SubjectID
	Connection pdpp.ConnectionID
	MediaType  string // in the form of pdpp.ParseMediaType
	Content    io.Reader
}

// PutBlob stores a blob for a connection: first its bytes in a file, then its row (B-9).
// Storing it again is harmless, and renews its time.
//
// Content above MaxBlob is CodeResourceLimit, content that cannot be read
// CodeInvalidRequest; a connection that does not exist CodeConnectionNotFound. After an
// error the blob cannot be read.
func PutBlob(ctx context.Context, st store.Store, files *blobfile.Store, u Upload, now time.Time) (store.Blob, error) {
	b := store.Blob{MediaType: u.MediaType}
	err := st.View(ctx, func(v store.View) (err error) {
		b.Owner, err = v.OwnerNumber(u.Subject)
		return err
	})
	if err != nil {
		return b, err
	}
	stored, err := files.Put(ctx, b.Owner, u.Content, MaxBlob)
	if err != nil {
		if own := (*pdpp.Error)(nil); !errors.As(err, &own) {
			err = bodyFailure(ctx, err)
		}
		return b, err
	}
	b.SHA256, b.Size = stored.SHA256, stored.Size
	return b, st.Update(ctx, func(tx store.Tx) error {
		if err := tx.PutBlob(u.Subject, u.Connection, b, now); err != nil {
			return err
		}
		return stillThere(files, b)
	})
}

// MaxListedBlobs is how many blobs a summary lists (H-22).
const MaxListedBlobs = 1000

// StoredBlob is a file that was stored as a blob.
type StoredBlob struct {
	File      string      `json:"file"`
	BlobID    pdpp.BlobID `json:"blob_id"`
	SHA256    string      `json:"sha256"`
	Size      int64       `json:"size_bytes"`
	MediaType string      `json:"mime_type"`
}

// ListBlobs adds the blobs that were stored before the records.
func (s *Summary) ListBlobs(stored []StoredBlob) {
	n := int64(len(stored))
	s.BlobsStored = &n
	s.Blobs = append([]StoredBlob{}, stored[:min(len(stored), MaxListedBlobs)]...)
}

// stillThere fails when the file of a blob was swept meanwhile. Sweeps remove files
// within an Update, hence not during this one.
func stillThere(files *blobfile.Store, b store.Blob) error {
	f, _, err := files.Open(b.Owner, b.SHA256)
	if err == nil {
		return f.Close()
	}
	return &pdpp.Error{
		Code: pdpp.CodeUnavailable, RetryAfter: 1, Op: "ingest.PutBlob", Err: err,
		Message: "The blob could not be stored. Send the same call again.",
	}
}
