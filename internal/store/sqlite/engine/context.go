package engine

import (
	"context"
	"sync"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// Until makes statements fail with an error that IsInterrupt knows once ctx is done. It
// costs next to nothing: the context is asked when a statement goes on, and now and then
// while one runs. Watch also reaches what runs inside a single operation of the engine,
// such as a checkpoint.
func (c *Conn) Until(ctx context.Context) { c.until = ctx }

// Always ends the effect of Until.
func (c *Conn) Always() { c.until = nil }

// askUntil makes the engine ask for the context of Until.
func (c *Conn) askUntil() {
	asked.Store(c.db, c)
	sqlite3.Xsqlite3_progress_handler(c.tls, c.db, progressOps, isDonePointer, c.db)
}

// progressOps is how many operations of the engine pass before a context is asked: some
// microseconds.
const progressOps = 1000

// asked are the open connections by their handles.
var asked sync.Map // uintptr -> *Conn

// isDone is called by the engine, in the goroutine that runs a statement of the
// connection.
func isDone(_ *libc.TLS, db uintptr) int32 {
	if c, ok := asked.Load(db); ok && c.(*Conn).ended() {
		return 1
	}
	return 0
}

// isDonePointer is isDone as the engine calls functions.
var isDonePointer = func() uintptr {
	f := isDone
	return *(*uintptr)(unsafe.Pointer(&f))
}()

// ended reports that the context of Until is done.
func (c *Conn) ended() bool { return c.until != nil && c.until.Err() != nil }
