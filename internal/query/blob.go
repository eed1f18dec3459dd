package query

import "pdpp"

// Blob is a query for a blob through the records that refer to it (B-2).
type Blob struct {
	Subject pdpp.SubjectID
	Sources []BlobSource
	ID      pdpp.BlobID
}

// BlobSource is a source with its granted blob-reference fields.
type BlobSource struct {
	Source
	Fields []*pdpp.Field
}
