package store

import (
	"iter"
	"time"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/rawjson"
)

// Blobs reads which blobs were uploaded and who may read them. The bytes are in
// files of their own (package blobfile), by the subject's number and the hash.
type Blobs interface {
	// FindBlob finds a blob through the visible records that refer to it (B-2);
	// CodeBlobNotFound when there is no such record, or when the blob was not
	// uploaded for that record's connection: one answer for every reason (B-4).
	FindBlob(q query.Blob) (Blob, error)
	// OwnerNumber is the number under which a subject's blob files are kept.
	OwnerNumber(pdpp.SubjectID) (int64, error)
	// HasBlob reports whether the content was uploaded for any connection of
	// the subject with that number, hence whether its file is needed.
	HasBlob(owner int64, sha256 string) (bool, error)
	// LastWrite is the time of the latest upload or ingest that the store knows;
	// zero when there was none. Files that are newer belong to a newer store.
	LastWrite() (time.Time, error)
}

// BlobsWriter changes which blobs there are.
type BlobsWriter interface {
	// PutBlob notes that a blob was uploaded for a connection. When it was
	// before, its type and its time are those of this upload.
	// CodeConnectionNotFound when the subject has no such connection.
	PutBlob(subject pdpp.SubjectID, c pdpp.ConnectionID, b Blob, now time.Time) error
	// SweepBlobs looks at one step of all uploads and forgets those that no
	// record has referred to for long enough (B-9).
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
// An upload that no record refers to is noted the first time that is seen, and
// forgotten when a step that comes Grace or more after that still sees no record,
// provided that the last upload is as old. A record that refers to it, and another
// upload, take the note away. What a record refers to at the time of the step
// stays, whatever was noted.
type Sweep struct {
	After *BlobPlace // where the step before ended; nil: from the start
	Limit int        // uploads to look at, at most
	Now   time.Time
	Grace time.Duration
	Anew  bool // earlier notes do not count: nothing is forgotten
}

// Swept is what one step of a sweep did.
type Swept struct {
	Next     *BlobPlace // where the next step goes on; nil: the sweep is complete
	Unneeded []Blob     // contents that no upload is left of, by owner, hash and size
}

// BlobPlace is a place in the order that a sweep goes through uploads.
type BlobPlace struct {
	Owner      int64
	Connection pdpp.ConnectionID
	SHA256     string
}

// BlobNotFound is the one answer to every reason why a blob cannot be read (B-4).
func BlobNotFound() error { return pdpp.Errorf(pdpp.CodeBlobNotFound, "There is no such blob here.") }

// BlobIDs gives the blobs that a value of a blob-reference field names: one
// object, or a list of them, whatever the field declares (M-9). Ids that are none
// of ours are left out, since no blob has them.
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

// BlobToken is the term that records share that refer to a blob in a field.
func BlobToken(field int64, id pdpp.BlobID) string { return ValueToken(field, []byte(id)) }

// blobs appends the tokens of a value's blobs.
func (w *termWriter) blobs(field int64, value []byte) {
	for id := range BlobIDs(value) {
		w.token(BlobToken(field, id))
	}
}
