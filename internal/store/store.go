package store

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"time"

	"pdpp"
	"pdpp/internal/query"
)

// Store is an open store. It is safe for concurrent use.
type Store interface {
	// View calls fn with a consistent snapshot. The View ends with fn.
	View(ctx context.Context, fn func(View) error) error
	// Update calls fn with a transaction. It commits when fn returns nil, and
	// rolls back otherwise. It waits for other writers, and fails with CodeBusy
	// when it cannot start in time.
	Update(ctx context.Context, fn func(Tx) error) error
	// Bulk is Update for one slice of a long write: waiting Updates, of this
	// process or another one, go first. Long calls end early in a Bulk, after a
	// part of the work; the caller continues in another Bulk.
	Bulk(ctx context.Context, fn func(Tx) error) error
	// Describe returns in a few words where the data is.
	Describe() string
	Close() error
}

// OpenOptions are the changes that opening a store may make.
type OpenOptions struct {
	Create  bool // create a missing store
	Migrate bool // bring an older schema up to date
}

var (
	// ErrNoStore reports that there is no store, or one that was never written to.
	ErrNoStore = errors.New("there is no store")
	// ErrOlder reports that the store has the schema of an older program.
	ErrOlder = errors.New("the store is of an older version")
)

// Readers returns how many views a store has at once; further ones wait.
func Readers() int { return max(4, 2*runtime.GOMAXPROCS(0)) }

// View reads one snapshot. What it returns stays valid; what it passes to a callback
// is valid during that call.
type View interface {
	Accounts
	Rights
	Records
	Searcher
	Blobs
	Changes
	Entries
	Activity
}

// Tx reads and writes inside one transaction; it sees its own writes.
type Tx interface {
	View
	AccountsWriter
	RightsWriter
	RecordsWriter
	BlobsWriter
	ChangesWriter
	EntriesWriter
	ActivityWriter
}

// Accounts reads owners, manifests and connections.
type Accounts interface {
	Generation() (int64, error)
	Subjects() ([]Subject, error)
	// Catalog returns the subject's manifests and connections.
	Catalog(pdpp.SubjectID) (*pdpp.Catalog, error)
	// Usage counts the records of every binding, for operators.
	Usage(pdpp.SubjectID) ([]Usage, error)
	// Meta reads a named value of the instance; nil when there is none.
	Meta(name string) ([]byte, error)
	// State returns the state of the collectors of a connection.
	State(pdpp.SubjectID, pdpp.ConnectionID) (State, error)
}

// AccountsWriter changes owners, manifests and connections.
type AccountsWriter interface {
	CreateSubject(name string, now time.Time) (Subject, error)
	// PutManifest registers a manifest, or replaces the connector's former
	// one. Records that it indexes differently are left to Reindex; until then,
	// reads that need their index entries fail with ErrRebuilding.
	PutManifest(subject pdpp.SubjectID, m *pdpp.Manifest) error
	// PutConnection adds a connection, or changes the label of an existing one.
	PutConnection(subject pdpp.SubjectID, c pdpp.Connection) error
	// DropConnection removes a connection that was never written to, and its
	// manifest when no other connection uses it. dropped is false, and nothing
	// changes, when there is content or no such connection.
	DropConnection(subject pdpp.SubjectID, c pdpp.ConnectionID) (dropped bool, err error)
	// DeleteConnection removes a connection with all its content. It is gone for
	// every reader at once; Purge removes its rows. CodeConnectionNotFound when
	// there is no such connection.
	DeleteConnection(subject pdpp.SubjectID, c pdpp.ConnectionID) error
	// Purge removes rows of deleted connections; only some of them in a Bulk. more
	// reports whether to call it again. Blobs are left to the sweep.
	Purge(now time.Time) (more bool, err error)
	// PutMeta stores a named value of the instance.
	PutMeta(name string, value []byte) error
	// PutState replaces the named streams' values.
	PutState(subject pdpp.SubjectID, c pdpp.ConnectionID, values map[string]json.RawMessage, now time.Time) error
}

// Records reads records.
type Records interface {
	// List visits the visible records in order until there are no more or visit
	// refuses one: more reports that it did. visit may use the View.
	List(q query.List, visit func(*Record) (taken bool, err error)) (more bool, err error)
	// Get visits the visible records with q's id, at most one per source.
	Get(q query.Get, visit func(*Record) error) error
	// Count counts the visible records that meet the conditions.
	Count(q query.List) (int64, error)
	// Aggregate computes a metric over the visible records that meet the
	// conditions, of all sources together, exactly (AG-10).
	Aggregate(q query.Aggregate) (Aggregation, error)
	// LastEmitted returns the greatest emitted_at of the visible records; false
	// when there are none.
	LastEmitted(subject pdpp.SubjectID, s query.Source) (time.Time, bool, error)
	// Long calls piece with the pieces of a value that has a stub in a body, in
	// order, beginning with the piece that contains character number from, until
	// piece returns false. Every piece but the last has PieceChars characters.
	Long(ref Ref, stub Stub, from int, piece func([]byte) bool) error
	// Binding returns the numbers that Prepare needs; CodeConnectionNotFound when
	// there is no such connection.
	Binding(subject pdpp.SubjectID, c pdpp.Connection, s *pdpp.Stream) (*Binding, error)
	// Unerased reports whether words of deleted records are still in the files;
	// Tidy removes them (REC-37).
	Unerased() (bool, error)
}

// RecordsWriter changes records.
type RecordsWriter interface {
	// Ingest applies documents in order and returns the outcome of each. In a
	// Bulk it may apply only the first ones, at least one. A document that was
	// prepared under an older declaration of its stream fails with ErrStale.
	Ingest(b *Binding, docs []Document, now time.Time) ([]Outcome, error)
	// DeleteAll deletes the records of a binding that have not changed after a
	// change number, and returns how many. In a Bulk it may delete only some:
	// when it returns 0, none is left.
	DeleteAll(b *Binding, upTo int64, now time.Time) (int64, error)
	// Reindex re-indexes records whose stream was declared again; only some of
	// them in a Bulk. It returns how many it read, and whether to call it again.
	// It continues where it stopped, also after a restart.
	Reindex() (done int, more bool, err error)
	// Tidy does a small part of the housekeeping that keeps reads fast and
	// erases deleted content from the files (REC-37). It changes nothing that
	// can be read; more reports that work is left.
	Tidy() (more bool, err error)
}

// Subject is an owner.
type Subject struct {
	ID        pdpp.SubjectID
	Name      string
	CreatedAt time.Time
}

// Usage is the size of one binding.
type Usage struct {
	Connection pdpp.ConnectionID
	Stream     string
	Records    int64
	LastIngest time.Time // zero: never
}

// State is the state of the collectors of a connection, by stream.
type State struct {
	Values    map[string]json.RawMessage
	UpdatedAt time.Time // zero: never
}

// Ref finds a record's long values again, within the snapshot it came from.
type Ref int64

// Record is one stored record.
type Record struct {
	Source    int // index into the query's sources
	ID        []byte
	EmittedAt time.Time
	Body      []byte // compact JSON object, long values as stubs
	Order     []byte // the key of the record's query.Position
	Ref       Ref
}
