package store

import (
	"errors"
	"time"

	"pdpp"
	"pdpp/internal/query"
)

// Changes reads what happened to records. A record was visible at a change number
// when the query's source would have shown it after that change; the log alone
// tells so (REC-32).
type Changes interface {
	// Horizon is the subject's last change, and the generation.
	Horizon(pdpp.SubjectID) (query.Mark, error)
	// Snapshot is List by ascending id over the records that were visible at
	// the change until as well. Who keeps a copy of what it offers misses
	// nothing by going on with Changed since until. It ends after looking at
	// about scan records; at is how far it came, nil when nowhere.
	Snapshot(q query.List, until int64, scan int, visit func(*Record) (taken bool, err error)) (at *query.Position, more bool, err error)
	// Changed offers each record with a change that q tells of, once, at the
	// last of them, in the order of their numbers, until there are no more,
	// visit refuses one, or q.Scan changes were looked at. It tells of changes
	// to shown fields of a visible record, and of those by which a record
	// became visible, or ceased to be when it was visible at q.Since. One that
	// was visible at q.Until and is not any more is left to the next reader.
	// ErrForgotten says that the log cannot tell what happened since q.Since.
	Changed(q query.Changes, visit func(*Change) (taken bool, err error)) (Walk, error)
}

// ChangesWriter keeps the change log short.
type ChangesWriter interface {
	// Prune removes changes that were committed before a time, of each binding
	// from the oldest on, and at most so many of all together. It says how many it
	// removed.
	Prune(before time.Time, most int) (int64, error)
}

// ErrForgotten says that the change log does not reach back far enough, or does
// not hold what would tell whether records were visible.
var ErrForgotten = errors.New("the change log does not tell what happened since then")

// Change is what became of one record.
type Change struct {
	Record            // of a removed one Source and ID; EmittedAt is then when it was removed
	Removed   Removal // NotRemoved: the record is visible
	DeletedAt time.Time
}

// Removal says why a record is not visible any more.
type Removal uint8

// The removals.
const (
	NotRemoved Removal = iota
	RemovedDeleted
	RemovedOutOfScope // it left the grant's time range
)

// Walk says how far a reading of the log came.
type Walk struct {
	After int64 // the last change that was dealt with
	More  bool  // there may be more after it
}
