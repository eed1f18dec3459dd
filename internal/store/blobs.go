package store

import (
	"iter"
	"time"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/rawjson"
)

// Blobs reads which blobs were uploaded and who may read them. The bytes are in
// files (package blobfile), named by the subject's number and the hash.
type Blobs interface {
	// FindBlob finds a blob through the visible records that refer to it (B-2). It
	// returns CodeBlobNotFound when there is no such record, and when the blob was not
	// uploaded for that record's connection: the reasons look the same (B-4).
	FindBlob(q query.Blob) (Blob, error)
	// OwnerNumber returns the number under which a subject's blob files are stored.
	OwnerNumber(pdpp.SubjectID) (int64, error)
	// HasBlob reports whether the content was uploaded for any connection of
	// the subject with that number, hence whether its file is needed.
	HasBlob(owner int64, sha256 string) (bool, error)
	// LastWrite returns the time of the latest upload or ingest; zero when there
	// was none. Newer files were written by a newer copy of the store.
	LastWrite() (time.Time, error)
}

// BlobsWriter adds and removes uploads.
type BlobsWriter interface {
	// PutBlob records that a blob was uploaded for a connection. A second upload
	// replaces the media type and the time. CodeConnectionNotFound when the
	// subject has no such connection.
	PutBlob(subject pdpp.SubjectID, c pdpp.ConnectionID, b Blob, now time.Time) error
	// SweepBlobs does one step of a sweep: it removes uploads that no record has
	// referred to for long enough (B-9).
	SweepBlobs(s Sweep) (Swept, error)
}

// Blob is an uploaded blob.
type Blob struct {
	Owner     int64 // the subject's number; not used by PutBlob
	SHA256    string
	MediaType string
	Size      int64
}

// Sweep is one step of a sweep over all uploads, of all subjects.
//
// The first step that finds no record referring to an upload marks it as idle. A step
// at least Grace later removes it, if there is still no such record and the upload is
// as old. A referring record or another upload clears the mark. A blob that a record
// refers to at the time of the step is never removed, marked or not.
type Sweep struct {
	After *BlobPlace // where the step before ended; nil to begin at the start
	Limit int        // number of uploads to check, at most
	Now   time.Time
	Grace time.Duration
	Anew  bool // ignore earlier marks: nothing is removed
}

// Swept is what one step of a sweep did.
type Swept struct {
	Next     *BlobPlace // where the next step starts; nil if the sweep is complete
	Unneeded []Blob     // contents without an upload, by owner, hash and size
}

// BlobPlace is a position in the order of a sweep.
type BlobPlace struct {
	Owner      int64
	Connection pdpp.ConnectionID
	SHA256     string
}

// BlobNotFound returns the one error for every reason why a blob cannot be read (B-4).
func BlobNotFound() error { return pdpp.Errorf(pdpp.CodeBlobNotFound, "There is no such blob here.") }

// BlobIDs yields the blobs that a value of a blob-reference field names: one object,
// or a list of objects, whatever the field declares (M-9). It skips malformed ids,
// since no blob has them.
func BlobIDs(value []byte) iter.Seq[pdpp.BlobID] {
	return func(yield func(pdpp.BlobID) bool) {
		if rawjson.KindOf(value) == rawjson.KindObject {
			if id, ok := blobID(value); ok {
				yield(id)
			}
			return
		}
		if rawjson.KindOf(value) != rawjson.KindArray {
			return
		}
		for item := range rawjson.Elements(value) {
			if id, ok := blobID(item); ok && !yield(id) {
				return
			}
		}
	}
}

func blobID(object []byte) (pdpp.BlobID, bool) {
	if rawjson.KindOf(object) != rawjson.KindObject {
		return "", false
	}
	raw, ok := rawjson.Get(object, "blob_id")
	if !ok {
		return "", false
	}
	text, ok := rawjson.String(raw)
	if !ok {
		return "", false
	}
	id := pdpp.BlobID(text)
	_, ok = id.SHA256()
	return id, ok
}

// RefersTo reports whether a value of a blob-reference field names a blob.
func RefersTo(value []byte, id pdpp.BlobID) bool {
	for have := range BlobIDs(value) {
		if have == id {
			return true
		}
	}
	return false
}

// BlobToken returns the term of the records that refer to a blob in a field.
func BlobToken(field int64, id pdpp.BlobID) string { return ValueToken(field, []byte(id)) }

// blobs appends the tokens of a value's blobs.
func (w *termWriter) blobs(field int64, value []byte) {
	for id := range BlobIDs(value) {
		w.token(BlobToken(field, id))
	}
}
