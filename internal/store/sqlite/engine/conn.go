package engine

import (
	"context"
	"fmt"
	"net/url"
	"sync"
	"sync/atomic"
	"unsafe"

	"modernc.org/libc"
	"modernc.org/libc/sys/types"
	sqlite3 "modernc.org/sqlite/lib"
)

// Conn is one connection to a database file.
type Conn struct {
	tls *libc.TLS
	db  uintptr

	idle map[string][]*Stmt // prepared and not in use, by SQL text

	mu     sync.Mutex // guards closed against Interrupt
	closed bool

	interrupted atomic.Bool     // by Interrupt, until Resume
	fired       chan struct{}   // signals that Watch has interrupted the connection
	ctx         context.Context // set by SetContext; nil if there is none
}

// Open opens the database file at path, creating it when absent.
func Open(path string) (*Conn, error) {
	return connect(path, sqlite3.SQLITE_OPEN_READWRITE|sqlite3.SQLITE_OPEN_CREATE)
}

// OpenReadOnly opens the database file at path on a disk that cannot be written to.
// immutable means that nobody else writes to it either: it is read without locks and
// without its log.
func OpenReadOnly(path string, immutable bool) (*Conn, error) {
	uri := "file:" + (&url.URL{Path: path}).EscapedPath() + "?mode=ro"
	if immutable {
		uri += "&immutable=1"
	}
	return connect(uri, sqlite3.SQLITE_OPEN_READONLY|sqlite3.SQLITE_OPEN_URI)
}

func connect(path string, flags int32) (*Conn, error) {
	c := &Conn{tls: libc.NewTLS(), idle: make(map[string][]*Stmt), fired: make(chan struct{}, 1)}
	name, err := libc.CString(path)
	if err != nil {
		c.tls.Close()
		return nil, err
	}
	defer libc.Xfree(c.tls, name)
	pp := libc.Xmalloc(c.tls, types.Size_t(unsafe.Sizeof(uintptr(0))))
	defer libc.Xfree(c.tls, pp)

	// One goroutine uses a connection at a time, so the engine needs no mutexes.
	rc := sqlite3.Xsqlite3_open_v2(c.tls, name, pp, flags|sqlite3.SQLITE_OPEN_NOMUTEX, 0)
	c.db = pointerAt(pp)
	if rc != sqlite3.SQLITE_OK {
		err := c.fail(rc)
		c.Close()
		return nil, err
	}
	sqlite3.Xsqlite3_extended_result_codes(c.tls, c.db, 1)
	c.keepPlans()
	c.pollContext()
	return c, nil
}

// keepPlans makes plans independent of bound values. Otherwise some statements, such as
// those with LIMIT ? and those of the text index, are prepared again whenever a value
// changes.
func (c *Conn) keepPlans() {
	args := libc.NewVaList(int32(1), uintptr(0))
	defer libc.Xfree(c.tls, args)
	sqlite3.Xsqlite3_db_config(c.tls, c.db, sqlite3.SQLITE_DBCONFIG_ENABLE_QPSG, args)
}

// SetBusyTimeout makes the connection wait for locks of other connections.
func (c *Conn) SetBusyTimeout(ms int) {
	sqlite3.Xsqlite3_busy_timeout(c.tls, c.db, int32(ms))
}

// Close finalizes all idle statements and closes the connection.
func (c *Conn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	for _, stmts := range c.idle {
		for _, s := range stmts {
			s.finalize()
		}
	}
	c.idle = nil
	polled.Delete(c.db)
	rc := sqlite3.Xsqlite3_close_v2(c.tls, c.db)
	c.tls.Close()
	if rc != sqlite3.SQLITE_OK {
		return &Error{Code: int(rc), Msg: "close"}
	}
	return nil
}

// Interrupt makes the running statement, and every one until Resume, fail with an
// interrupt error (IsInterrupt). It may be called from any goroutine, also after Close.
func (c *Conn) Interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	c.interrupted.Store(true) // the engine ignores an interrupt when nothing runs
	tls := libc.NewTLS()      // c.tls belongs to the goroutine that runs the statement
	sqlite3.Xsqlite3_interrupt(tls, c.db)
	tls.Close()
}

// Resume ends the effect of Interrupt.
func (c *Conn) Resume() { c.interrupted.Store(false) }

// Watch interrupts the connection when ctx ends, until the returned function is called.
// That function returns only when no interrupt is pending, so that none affects the
// next user of the connection.
func (c *Conn) Watch(ctx context.Context) (stop func()) {
	if ctx.Done() == nil {
		return func() {}
	}
	cancel := context.AfterFunc(ctx, func() {
		c.Interrupt()
		c.fired <- struct{}{}
	})
	stopped := false
	return func() {
		if !stopped && !cancel() {
			<-c.fired
			c.Resume()
		}
		stopped = true
	}
}

// Changes returns the number of rows that the last statement changed.
func (c *Conn) Changes() int { return int(sqlite3.Xsqlite3_changes(c.tls, c.db)) }

// TotalChanges returns the number of rows changed since the connection was opened.
func (c *Conn) TotalChanges() int { return int(sqlite3.Xsqlite3_total_changes(c.tls, c.db)) }

// InTransaction reports whether a transaction is open.
func (c *Conn) InTransaction() bool { return sqlite3.Xsqlite3_get_autocommit(c.tls, c.db) == 0 }

// Exec runs one statement to its end and discards its rows.
func (c *Conn) Exec(sql string, args ...any) error {
	s, err := c.Query(sql, args...)
	if err != nil {
		return err
	}
	defer s.Close()
	for {
		row, err := s.Step()
		if err != nil || !row {
			return err
		}
	}
}

// Script runs several statements separated by semicolons.
func (c *Conn) Script(sql string) error {
	text, err := libc.CString(sql)
	if err != nil {
		return err
	}
	defer libc.Xfree(c.tls, text)
	rc := sqlite3.Xsqlite3_exec(c.tls, c.db, text, 0, 0, 0)
	if rc != sqlite3.SQLITE_OK {
		return c.fail(rc)
	}
	return nil
}

// Query prepares sql, or takes it from the cache, and binds args in order. The
// caller steps through the rows and then closes the statement.
func (c *Conn) Query(sql string, args ...any) (*Stmt, error) {
	s, err := c.Prepare(sql)
	if err != nil {
		return nil, err
	}
	for i, arg := range args {
		if err := s.Bind(i+1, arg); err != nil {
			s.Close()
			return nil, err
		}
	}
	return s, nil
}

// Prepare returns a statement for sql, from the cache when it has an idle one. Close
// returns it to the cache.
func (c *Conn) Prepare(sql string) (*Stmt, error) {
	if stmts := c.idle[sql]; len(stmts) > 0 {
		s := stmts[len(stmts)-1]
		c.idle[sql] = stmts[:len(stmts)-1]
		s.busy = true
		return s, nil
	}
	text, err := libc.CString(sql)
	if err != nil {
		return nil, err
	}
	defer libc.Xfree(c.tls, text)
	pp := libc.Xmalloc(c.tls, types.Size_t(unsafe.Sizeof(uintptr(0))))
	defer libc.Xfree(c.tls, pp)
	rc := sqlite3.Xsqlite3_prepare_v3(c.tls, c.db, text, int32(len(sql)), sqlite3.SQLITE_PREPARE_PERSISTENT, pp, 0)
	if rc != sqlite3.SQLITE_OK {
		return nil, fmt.Errorf("prepare %.200q: %w", sql, c.fail(rc))
	}
	return &Stmt{conn: c, sql: sql, ptr: pointerAt(pp), busy: true}, nil
}

func (c *Conn) fail(rc int32) error {
	msg := ""
	if c.db != 0 {
		msg = libc.GoString(sqlite3.Xsqlite3_errmsg(c.tls, c.db))
	}
	return &Error{Code: int(rc), Msg: msg}
}
