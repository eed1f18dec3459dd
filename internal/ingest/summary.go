package ingest

import (
	"encoding/json"
	"maps"

	"pdpp"
)

// maxRejections is how many rejections a summary lists (H-22).
const maxRejections = 100

// Counts counts records by their outcome (H-22). The delete of a missing record is
// unchanged. Superseded records are included in the others: a later record of the run
// has their key.
type Counts struct {
	Accepted   int64 `json:"accepted"`
	Unchanged  int64 `json:"unchanged"`
	Deleted    int64 `json:"deleted"`
	Rejected   int64 `json:"rejected"`
	Superseded int64 `json:"superseded"`
}

func (c *Counts) add(d Counts) {
	c.Accepted += d.Accepted
	c.Unchanged += d.Unchanged
	c.Deleted += d.Deleted
	c.Rejected += d.Rejected
	c.Superseded += d.Superseded
}

// Total returns the number of records.
func (c Counts) Total() int64 { return c.Accepted + c.Unchanged + c.Deleted + c.Rejected }

// Summary is the outcome of a run; it marshals to the object of H-22. It covers what was
// committed: of a failed run, the batches before the failure.
//
// Lines counts the lines that are not blank, or rows; every line is a record, a STATE or
// a skipped message. A rejected line counts in Records, and for its stream when that is
// known. State is what this run stored. A dry run compares nothing with the store: every
// valid upsert counts as accepted and every valid delete as deleted.
type Summary struct {
	ConnectionID        pdpp.ConnectionID          `json:"connection_id"`
	ConnectorKey        pdpp.ConnectorKey          `json:"connector_key"`
	CreatedConnection   bool                       `json:"created_connection"` // for the caller to set
	Lines               int64                      `json:"lines"`
	Records             Counts                     `json:"records"`
	Streams             map[string]*Counts         `json:"streams"`
	State               map[string]json.RawMessage `json:"state"`
	SkippedMessages     int64                      `json:"skipped_messages"`
	Rejections          []LineRejection            `json:"rejections"`
	RejectionsTruncated bool                       `json:"rejections_truncated"`
	Blobs               []StoredBlob               `json:"blobs,omitzero"`        // see ListBlobs
	BlobsStored         *int64                     `json:"blobs_stored,omitzero"` // nil if the run had no blobs
	DurationMS          int64                      `json:"duration_ms"`

	// Warnings are for people; they are not part of the object.
	Warnings []string `json:"-"`
}

// LineRejection is a refused line with its position. Line counts from 1; for a row of
// several lines it is the first.
type LineRejection struct {
	File    string   `json:"file"`
	Line    int64    `json:"line"`
	Code    LineCode `json:"code"`
	Message string   `json:"message"`
}

func newSummary() Summary {
	return Summary{
		Streams: map[string]*Counts{}, State: map[string]json.RawMessage{}, Rejections: []LineRejection{},
	}
}

// count adds records of a stream; "" when it is not known.
func (s *Summary) count(stream string, c Counts) {
	s.Records.add(c)
	if stream == "" {
		return
	}
	if s.Streams[stream] == nil {
		s.Streams[stream] = new(Counts)
	}
	s.Streams[stream].add(c)
}

func (s *Summary) reject(stream string, r LineRejection) {
	s.count(stream, Counts{Rejected: 1})
	s.list(r)
}

func (s *Summary) list(r LineRejection) {
	if len(s.Rejections) < maxRejections {
		s.Rejections = append(s.Rejections, r)
	} else {
		s.RejectionsTruncated = true
	}
}

// merge adds the summary of a batch.
func (s *Summary) merge(b *Summary) {
	s.Lines += b.Lines
	s.SkippedMessages += b.SkippedMessages
	s.Records.add(b.Records)
	for name, c := range b.Streams {
		if s.Streams[name] == nil {
			s.Streams[name] = new(Counts)
		}
		s.Streams[name].add(*c)
	}
	maps.Copy(s.State, b.State)
	for _, r := range b.Rejections {
		s.list(r)
	}
	s.RejectionsTruncated = s.RejectionsTruncated || b.RejectionsTruncated
}
