package engine

import (
	"context"
	"sync"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// SetContext makes statements fail with an interrupt error once ctx is done. It is cheap:
// the context is checked at every Step, and within a Step after every progressOps
// operations. Watch also interrupts a single long operation of the engine, such as a
// checkpoint.
func (c *Conn) SetContext(ctx context.Context) { c.ctx = ctx }

// ClearContext ends the effect of SetContext.
func (c *Conn) ClearContext() { c.ctx = nil }

// pollContext makes the engine check the context of SetContext.
func (c *Conn) pollContext() {
	polled.Store(c.db, c)
	sqlite3.Xsqlite3_progress_handler(c.tls, c.db, progressOps, isDonePointer, c.db)
}

// progressOps is how many operations of the engine pass between two checks of a context:
// a few microseconds.
const progressOps = 1000

// polled maps the handles of open connections to them.
var polled sync.Map // uintptr -> *Conn

// isDone returns 1 if the running statement must stop. The engine calls it in the
// goroutine that runs the statement.
func isDone(_ *libc.TLS, db uintptr) int32 {
	if c, ok := polled.Load(db); ok && c.(*Conn).ended() {
		return 1
	}
	return 0
}

// isDonePointer is isDone as a C function pointer.
var isDonePointer = func() uintptr {
	f := isDone
	return *(*uintptr)(unsafe.Pointer(&f))
}()

// ended reports whether the context of SetContext is done.
func (c *Conn) ended() bool { return c.ctx != nil && c.ctx.Err() != nil }
