package store

import (
	"errors"
	"time"

	"pdpp"
	"pdpp/internal/query"
)

// Changes reads what happened to records. A record was visible at a change number
// when the query's source would have shown it after that change. The log alone
// decides that (REC-32).
type Changes interface {
	// Horizon returns the subject's last change, and the generation.
	Horizon(pdpp.SubjectID) (query.Mark, error)
	// Snapshot is List by ascending id over the records that were also visible
	// at the change until. A client that copies them and continues with Changed
	// since until misses nothing. It ends after reading about scan records; at
	// is the position of the last one, nil when there was none.
	Snapshot(q query.List, until int64, scan int, visit func(*Record) (taken bool, err error)) (at *query.Position, more bool, err error)
	// Changed visits each record with a reported change once, at the last of
	// these changes, in the order of their numbers. It ends when there are no
	// more, visit refuses one, or q.Scan changes were read. Reported are changes
	// to shown fields of a visible record, those by which a record became
	// visible, and those by which a record that was visible at q.Since ceased to
	// be. A record that was visible at q.Until and is not now is left to the next
	// call. ErrPruned reports that the log does not reach back to q.Since.
	Changed(q query.Changes, visit func(*Change) (taken bool, err error)) (Walk, error)
}

// ChangesWriter keeps the change log short.
type ChangesWriter interface {
	// Prune removes changes that were committed before a time, the oldest of each
	// binding first, and at most limit of them. It returns how many it removed.
	Prune(before time.Time, limit int) (int64, error)
}

// ErrPruned reports that the change log no longer reaches a position, or does not
// contain which records were visible there.
var ErrPruned = errors.New("the change log no longer reaches that position")

// Change is the last reported change of one record.
type Change struct {
	Record            // of a removed record only Source, ID and, as EmittedAt, the time of removal
	Removed   Removal // NotRemoved: the record is visible
	DeletedAt time.Time
}

// Removal is why a record is no longer visible.
type Removal uint8

// The removals.
const (
	NotRemoved Removal = iota
	RemovedDeleted
	RemovedOutOfScope // it left the grant's time range
)

// Walk is how far Changed read the log.
type Walk struct {
	After int64 // the last change that was processed
	More  bool  // there may be more after it
}
