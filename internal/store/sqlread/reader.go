package sqlread

import (
	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlgen"
)

// Conn runs statements in one transaction. Rows of several statements are open at
// the same time.
type Conn interface {
	Query(sqlgen.Statement) (Rows, error)
	// Probe runs a statement that counts index entries up to a bound. The result
	// only decides between plans, so an estimate is enough.
	Probe(sqlgen.Statement) (int64, error)
	// Stale returns the bindings whose records are being re-indexed, by number.
	Stale() (map[int64]*store.Stale, error)
	// Horizon implements the method of store.Changes.
	Horizon(pdpp.SubjectID) (query.Mark, error)
}

// Rows are the rows of a statement. Columns are counted from 0. Bytes returns memory
// that is valid until the next Step or Close.
type Rows interface {
	Step() (bool, error)
	Int(col int) int64
	Bytes(col int) []byte
	Text(col int) string
	IsNull(col int) bool
	Close()
}

// Reader implements the reads of store.Records, store.Searcher, store.Changes and
// store.Blobs within one transaction.
type Reader struct {
	dialect   sqlgen.Dialect
	conn      Conn
	bindings  *Bindings
	committed bool // the content is committed, so row numbers may be cached
}

// New returns a Reader of committed content.
func New(d sqlgen.Dialect, c Conn, b *Bindings) Reader {
	return Reader{dialect: d, conn: c, bindings: b, committed: true}
}

// NewInTx returns a Reader for a transaction that writes. It adds nothing to b,
// because the transaction may be rolled back.
func NewInTx(d sqlgen.Dialect, c Conn, b *Bindings) Reader {
	return Reader{dialect: d, conn: c, bindings: b}
}

// first calls read with the first row of a statement, if there is one.
func (r *Reader) first(s sqlgen.Statement, read func(Rows) error) error {
	rows, err := r.conn.Query(s)
	if err != nil {
		return err
	}
	defer rows.Close()
	if row, err := rows.Step(); err != nil || !row {
		return err
	}
	return read(rows)
}

// number returns the first column of the first row; 0 when there is none.
func (r *Reader) number(s sqlgen.Statement) (n int64, err error) {
	err = r.first(s, func(rows Rows) error {
		n = rows.Int(0)
		return nil
	})
	return n, err
}
