package sqlite

import (
	"context"
	"sync"
	"time"

	"pdpp/internal/store"
)

// sliceTime is how long a slice works before it commits. The commit can take as long
// again, and other writers wait for both.
const sliceTime = 150 * time.Millisecond

// slice is the time limit of one slice of a long write. The loops that write records
// stop when it is over, and their callers continue in the next Bulk.
type slice struct {
	over <-chan time.Time // receives when the time is over
	late bool             // over has received
}

// Bulk implements store.Store.
func (db *DB) Bulk(ctx context.Context, fn func(store.Tx) error) error {
	if db.readOnly {
		return errReadOnly()
	}
	if err := db.file.check(); err != nil {
		return err
	}
	started, err := db.turns.waitBulk(ctx)
	if err != nil {
		return err
	}
	started = sync.OnceFunc(started)
	defer started()
	conn, err := take(ctx, db.write)
	if err != nil {
		return err
	}
	defer func() { db.write <- conn }()
	t := db.newTx(conn)
	return db.transact(ctx, t, func() {
		started()
		t.slice = &slice{over: time.After(db.sliceTime), late: db.sliceTime < 0}
	}, fn)
}

// sliceOver reports whether this transaction is a slice that has used up its time and
// should commit. An Update has no limit.
func (t *tx) sliceOver() bool {
	if t.slice == nil {
		return false
	}
	select {
	case <-t.slice.over:
		t.slice.late = true
	default:
	}
	return t.slice.late
}
