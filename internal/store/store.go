package store

import (
	"context"
	"encoding/json"
	"runtime"
	"time"

	"pdpp"
	"pdpp/internal/query"
)

// Store is an open store. It is safe for concurrent use.
type Store interface {
	// View calls fn with a consistent snapshot. The View ends with fn.
	View(ctx context.Context, fn func(View) error) error
	// Update calls fn with a transaction, commits it when fn returns nil, and
	// leaves nothing of it otherwise. It waits for other writers, and fails
	// with CodeBusy when it could not start in time.
	Update(ctx context.Context, fn func(Tx) error) error
	// Bulk is Update for one slice of a long write: Updates that wait, of this
	// process or another one, go first. The calls that can take long end early
	// in a Bulk, having done a part; the caller goes on in another one.
	Bulk(ctx context.Context, fn func(Tx) error) error
	// Describe says in a few words where the data is.
	Describe() string
	Close() error
}

// Readers is how many views a store has at once; further ones wait.
func Readers() int { return max(4, 2*runtime.GOMAXPROCS(0)) }

// View reads one snapshot. Everything it returns stays valid, except what is
// said to belong to a callback.
type View interface {
	Accounts
	Rights
	Records
	Searcher
	Blobs
	Changes
}

// Tx reads and writes inside one transaction; it sees its own writes.
type Tx interface {
	View
	AccountsWriter
	RightsWriter
	RecordsWriter
	BlobsWriter
	ChangesWriter
}

// Accounts reads who there is and what is connected.
type Accounts interface {
	Generation() (int64, error)
	Subjects() ([]Subject, error)
	// Catalog gives the subject's manifests and connections.
	Catalog(pdpp.SubjectID) (*pdpp.Catalog, error)
	// Usage counts the records of every binding, for operators.
	Usage(pdpp.SubjectID) ([]Usage, error)
	// Meta reads a named value of the instance; nil when there is none.
	Meta(name string) ([]byte, error)
	// State gives what collectors left for a connection.
	State(pdpp.SubjectID, pdpp.ConnectionID) (State, error)
}

// AccountsWriter changes who there is and what is connected.
type AccountsWriter interface {
	CreateSubject(name string, now time.Time) (Subject, error)
	// PutManifest registers a manifest, or replaces the connector's former
	// one. Records that are to be indexed in another way are so by Reindex;
	// until then, reads that depend on it fail with ErrRebuilding.
	PutManifest(subject pdpp.SubjectID, m *pdpp.Manifest) error
	// PutConnection adds a connection, or changes the label of an existing one.
	PutConnection(subject pdpp.SubjectID, c pdpp.Connection) error
	// DropConnection takes back a connection that nothing was ever stored in, and
	// its manifest when that has no other. dropped is false, and nothing changed,
	// when there was something, or no such connection.
	DropConnection(subject pdpp.SubjectID, c pdpp.ConnectionID) (dropped bool, err error)
	// PutMeta stores a named value of the instance.
	PutMeta(name string, value []byte) error
	// PutState replaces the named streams' values.
	PutState(subject pdpp.SubjectID, c pdpp.ConnectionID, values map[string]json.RawMessage, now time.Time) error
}

// Records reads records.
type Records interface {
	// List offers the visible records in order until there are no more or
	// visit refuses one: more says that it did, so that one was left. The
	// Record belongs to the call. visit may use the View.
	List(q query.List, visit func(*Record) (taken bool, err error)) (more bool, err error)
	// Get visits the visible records with q's id, at most one per source.
	Get(q query.Get, visit func(*Record) error) error
	// Count counts the visible records that meet the conditions.
	Count(q query.List) (int64, error)
	// Aggregate computes a metric over the visible records that meet the
	// conditions, of all sources together, exactly (AG-10).
	Aggregate(q query.Aggregate) (Aggregation, error)
	// LastEmitted is the greatest emitted_at of the visible records; false
	// when there are none.
	LastEmitted(subject pdpp.SubjectID, s query.Source) (time.Time, bool, error)
	// Long calls piece with the pieces of a value that a body holds as a stub,
	// in order, beginning with the one that holds character number from, until
	// piece returns false. Every piece but the last has PieceChars characters.
	// The bytes belong to the call.
	Long(ref Ref, stub Stub, from int, piece func([]byte) bool) error
	// Binding gives the numbers Prepare needs; CodeConnectionNotFound when
	// there is no such connection.
	Binding(subject pdpp.SubjectID, c pdpp.Connection, s *pdpp.Stream) (*Binding, error)
	// Unerased reports whether words of deleted records are still in the files;
	// Tidy takes them out (REC-37).
	Unerased() (bool, error)
}

// RecordsWriter changes records.
type RecordsWriter interface {
	// Ingest applies documents in order and tells what became of each. In a
	// Bulk these may be the first ones only, at least one. A document made
	// under an older declaration of its stream fails with ErrStale; prepare
	// again.
	Ingest(b *Binding, docs []Document, now time.Time) ([]Outcome, error)
	// DeleteAll deletes every record of a binding that was there as of a change
	// number, and has not changed since, and says how many. In a Bulk these may
	// be some only: when it says 0, none is left.
	DeleteAll(b *Binding, upTo int64, now time.Time) (int64, error)
	// Reindex indexes records whose stream was declared anew, some of them in a
	// Bulk. It says how many it looked at, and whether to call it again. It goes
	// on where it was, also after a restart.
	Reindex() (done int, more bool, err error)
	// Tidy does a small part of the housekeeping that keeps reads fast and
	// takes what was deleted out of the files (REC-37). It changes nothing that
	// can be read; more says that some is left to do.
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

// State is what collectors left for a connection, by stream.
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
	Order     []byte // the record's place: Position.Key
	Ref       Ref
}
