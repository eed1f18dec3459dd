package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"pdpp"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlite/engine"
	"pdpp/internal/store/sqlread"
)

// busyTimeout is how long a statement waits for another process's lock (H-2).
const busyTimeout = 5000

// DB is an open SQLite store.
type DB struct {
	path    string
	file    ownFile
	write   chan *engine.Conn // contains the one writer when it is free
	readers chan *reader
	opened  int // number of readers
	turns   turns

	sliceTime time.Duration

	readOnly bool // the disk or the folder cannot be written to

	bindings sqlread.Bindings
	closing  sync.Once

	logHasErased bool // the log may contain erased content; only used while holding the writer
}

var _ store.Store = (*DB)(nil)

// A commit is on the disk before it is acknowledged (synchronous FULL). The writer has a
// larger cache and checkpoints less often, so that a bulk load rewrites index pages less
// often.
var writerPragmas = []string{
	`PRAGMA page_size = 16384`,
	`PRAGMA journal_mode = WAL`, `PRAGMA synchronous = FULL`, `PRAGMA cache_size = -48000`,
	`PRAGMA wal_autocheckpoint = 8000`, `PRAGMA journal_size_limit = 67108864`, `PRAGMA secure_delete = ON`,
}

// LimitCache limits the page caches of all connections together, in bytes. The writer
// gets three eighths of the total, and no connection more than its default. It is called
// before the store is used.
func (db *DB) LimitCache(total int64) error {
	writer := <-db.write
	err := limitCache(writer, total*3/8, writerCache)
	db.write <- writer
	for range db.opened {
		r := <-db.readers
		err = cmp.Or(err, limitCache(r.Conn, total*5/8/int64(db.opened), readerCache))
		db.readers <- r
	}
	return err
}

func limitCache(c *engine.Conn, limit, standard int64) error {
	return c.Exec(fmt.Sprintf(`PRAGMA cache_size = -%d`, min(limit/1024, standard)))
}

// The caches of connections in KiB, as their pragmas set them.
const (
	writerCache = 48_000
	readerCache = 16_000
)

// WriterPragmas returns the settings of the writing connection, for comparisons.
func WriterPragmas() []string { return slices.Clone(writerPragmas) }

// ReaderPragmas returns those of the reading connections.
func ReaderPragmas() []string { return slices.Clone(readerPragmas) }

var readerPragmas = []string{`PRAGMA query_only = ON`, `PRAGMA cache_size = -16000`}

func openConn(path string, pragmas []string) (*engine.Conn, error) {
	c, err := engine.Open(path)
	if err != nil {
		return nil, err
	}
	return c, setUp(c, pragmas)
}

// setUp configures a new connection. It closes it on failure.
func setUp(c *engine.Conn, pragmas []string) error {
	c.SetBusyTimeout(busyTimeout)
	for _, p := range pragmas {
		if err := c.Exec(p); err != nil {
			c.Close()
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	return nil
}

func openError(err error) error {
	switch {
	case err == nil:
		return nil
	case engine.IsFull(err):
		return &pdpp.Error{Code: pdpp.CodeCannotCreate, Message: "The disk is full.", Hint: "Free some space, then run the command again.", Err: err}
	case engine.IsNotADatabase(err):
		return &pdpp.Error{
			Code: pdpp.CodeNotConfigured, Message: "pdpp.db in the data folder is not a database of this program.",
			Hint: "Put the right file back from a backup, or name another folder with --data.", Err: err,
		}
	case engine.IsBusy(err):
		return &pdpp.Error{Code: pdpp.CodeBusy, Message: "The store is locked by another process; try again.", Err: err}
	}
	return &pdpp.Error{
		Code: pdpp.CodeCannotCreate, Message: "The store cannot be opened.",
		Hint: "Check that this user may read and write the data folder, or name another one with --data.", Err: err,
	}
}

// Describe implements store.Store.
func (db *DB) Describe() string { return "SQLite in " + filepath.Dir(db.path) }

// Close waits for running views and updates, and closes the files.
func (db *DB) Close() error {
	var err error
	db.closing.Do(func() {
		if !db.readOnly {
			err = (<-db.write).Close()
		}
		close(db.write)
		for range db.opened {
			err = errors.Join(err, (<-db.readers).Close())
		}
		close(db.readers)
	})
	return err
}

// Update implements store.Store.
func (db *DB) Update(ctx context.Context, fn func(store.Tx) error) (err error) {
	if db.readOnly {
		return errReadOnly()
	}
	if err := db.file.check(); err != nil {
		return err
	}
	conn, err := take(ctx, db.write)
	if err != nil {
		return err
	}
	defer func() { db.write <- conn }()
	done, err := db.turns.waitUpdate(ctx)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, done()) }() // also after a panic
	return db.transact(ctx, db.newTx(conn), func() {}, fn)
}

// transact runs a transaction that writes. It calls started when the transaction holds
// the store's lock.
func (db *DB) transact(ctx context.Context, t *tx, started func(), fn func(store.Tx) error) error {
	conn := t.conn
	err := db.run(ctx, conn, func() error {
		started()
		if err := cmp.Or(fn(t), ctx.Err()); err != nil {
			return err
		}
		return conn.Exec("COMMIT")
	})
	if err == nil {
		db.logHasErased = t.erased || db.logHasErased
		db.emptyLog(conn)
	}
	return err
}

// emptyLog checkpoints the log and truncates it when it may contain erased content
// (REC-37). While a reader still uses the log, the next update tries again. Closing a
// store removes its log.
func (db *DB) emptyLog(conn *engine.Conn) {
	if !db.logHasErased {
		return
	}
	conn.SetBusyTimeout(50)
	defer conn.SetBusyTimeout(busyTimeout)
	_ = conn.Exec(`PRAGMA wal_checkpoint(PASSIVE)`) // most of the work, while others can write
	busy, err := queryInt(conn, `PRAGMA wal_checkpoint(TRUNCATE)`)
	db.logHasErased = err != nil || busy != 0
}

// take takes a connection from a pool, or waits until one is free or ctx ends.
func take[C any](ctx context.Context, pool chan *C) (*C, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case c, open := <-pool:
		if !open {
			return nil, errClosed
		}
		return c, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

var errClosed = errors.New("the store is closed")

// run runs fn in a transaction that writes. It rolls back unless fn has committed.
func (db *DB) run(ctx context.Context, conn *engine.Conn, fn func() error) (err error) {
	stop := conn.Watch(ctx)
	defer stop()
	if err := conn.Exec("BEGIN IMMEDIATE"); err != nil {
		return storageError(ctx, err)
	}
	defer func() {
		if !conn.InTransaction() {
			return
		}
		stop()
		if rollback := conn.Exec("ROLLBACK"); err == nil {
			err = rollback
		}
	}()
	return storageError(ctx, fn())
}

// storageError translates the failures of the engine.
func storageError(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case engine.IsInterrupt(err) && ctx.Err() != nil:
		return ctx.Err()
	case engine.IsBusy(err):
		return &pdpp.Error{Code: pdpp.CodeBusy, Message: "The store is busy; try again.", RetryAfter: 1, Err: err}
	case engine.IsFull(err):
		return &pdpp.Error{Code: pdpp.CodeUnavailable, Message: "The disk is full.", RetryAfter: 60, Err: err}
	}
	return err
}

// tx is one transaction: a View, or a Tx on the writer.
type tx struct {
	sqlread.Reader
	db     *DB
	conn   *engine.Conn
	reader *reader // of a view; nil on the writer
	erased bool    // content was removed

	numbers store.Numbers // of the records that the transaction writes

	slice *slice // nil unless the transaction is a slice of a Bulk
}

// newTx returns the transaction of a connection that writes.
func (db *DB) newTx(conn *engine.Conn) *tx {
	t := &tx{db: db, conn: conn}
	t.Reader = sqlread.NewInTx(dialect{}, t, &db.bindings)
	return t
}
