package engine

import (
	"fmt"

	"modernc.org/libc"
	"modernc.org/libc/sys/types"
	sqlite3 "modernc.org/sqlite/lib"
)

// cachedPerText bounds how many idle copies of one statement a connection keeps.
const cachedPerText = 4

// Stmt is a prepared statement. Bound bytes are copied; column bytes are not.
type Stmt struct {
	conn *Conn
	sql  string
	ptr  uintptr
	busy bool // taken from the cache and not yet returned

	// Bound strings and blobs are in the engine's memory until Close: in a block
	// that is reused, and in single allocations when they do not fit.
	block     uintptr
	blockSize int
	blockUsed int
	extra     []uintptr
}

const bindBlock = 4096

// Bind binds the i-th parameter, counted from 1. Integers, booleans, strings,
// byte slices and nil are accepted; a nil byte slice is an empty blob.
func (s *Stmt) Bind(i int, arg any) error {
	switch v := arg.(type) {
	case int:
		return s.BindInt(i, int64(v))
	case int64:
		return s.BindInt(i, v)
	case bool:
		if v {
			return s.BindInt(i, 1)
		}
		return s.BindInt(i, 0)
	case string:
		return s.BindText(i, v)
	case []byte:
		return s.BindBytes(i, v)
	case nil:
		return s.check(sqlite3.Xsqlite3_bind_null(s.conn.tls, s.ptr, int32(i)))
	}
	return fmt.Errorf("bind %d: unsupported type %T", i, arg)
}

// BindInt binds an integer.
func (s *Stmt) BindInt(i int, v int64) error {
	return s.check(sqlite3.Xsqlite3_bind_int64(s.conn.tls, s.ptr, int32(i), v))
}

// BindText binds a string as TEXT.
func (s *Stmt) BindText(i int, v string) error {
	p, err := s.alloc(len(v))
	if err != nil {
		return err
	}
	copy(memory(p, len(v)), v)
	return s.check(sqlite3.Xsqlite3_bind_text(s.conn.tls, s.ptr, int32(i), p, int32(len(v)), 0))
}

// BindBytes binds a byte slice as BLOB.
func (s *Stmt) BindBytes(i int, v []byte) error {
	p, err := s.alloc(len(v))
	if err != nil {
		return err
	}
	copy(memory(p, len(v)), v)
	return s.check(sqlite3.Xsqlite3_bind_blob(s.conn.tls, s.ptr, int32(i), p, int32(len(v)), 0))
}

// Step advances to the next row; false means there is none.
func (s *Stmt) Step() (bool, error) {
	if s.conn.interrupted.Load() || s.conn.ended() {
		return false, &Error{Code: sqlite3.SQLITE_INTERRUPT, Msg: "interrupted"}
	}
	switch rc := sqlite3.Xsqlite3_step(s.conn.tls, s.ptr); rc {
	case sqlite3.SQLITE_ROW:
		return true, nil
	case sqlite3.SQLITE_DONE:
		return false, nil
	default:
		return false, s.conn.fail(rc)
	}
}

// Run executes the statement once, discards its rows, and resets it for new binds. It
// is for writes that are repeated with other values.
func (s *Stmt) Run() error {
	for {
		row, err := s.Step()
		if err != nil || !row {
			s.Reset()
			return err
		}
	}
}

// Reset prepares the statement for new binds.
func (s *Stmt) Reset() {
	sqlite3.Xsqlite3_reset(s.conn.tls, s.ptr)
	s.blockUsed = 0
	for _, p := range s.extra {
		libc.Xfree(s.conn.tls, p)
	}
	s.extra = s.extra[:0]
}

// Close resets the statement and returns it to the connection's cache. Closing it
// again does nothing.
func (s *Stmt) Close() {
	if !s.busy {
		return
	}
	s.busy = false
	s.Reset()
	idle := s.conn.idle[s.sql]
	if s.conn.idle == nil || len(idle) >= cachedPerText {
		s.finalize()
		return
	}
	s.conn.idle[s.sql] = append(idle, s)
}

// Int returns the integer in column col, counted from 0.
func (s *Stmt) Int(col int) int64 {
	return sqlite3.Xsqlite3_column_int64(s.conn.tls, s.ptr, int32(col))
}

// Bytes returns the content of column col. It is valid until the next Step, Reset or
// Close.
func (s *Stmt) Bytes(col int) []byte {
	p := sqlite3.Xsqlite3_column_blob(s.conn.tls, s.ptr, int32(col))
	n := sqlite3.Xsqlite3_column_bytes(s.conn.tls, s.ptr, int32(col))
	if p == 0 || n == 0 {
		return nil
	}
	return memory(p, int(n))
}

// Text returns a copy of column col as a string.
func (s *Stmt) Text(col int) string { return string(s.Bytes(col)) }

// IsNull reports whether column col is NULL.
func (s *Stmt) IsNull(col int) bool {
	return sqlite3.Xsqlite3_column_type(s.conn.tls, s.ptr, int32(col)) == sqlite3.SQLITE_NULL
}

// alloc returns n bytes of engine memory that are valid until Reset.
func (s *Stmt) alloc(n int) (uintptr, error) {
	if n > bindBlock/2 {
		return s.allocExtra(n)
	}
	if s.block == 0 {
		p := libc.Xmalloc(s.conn.tls, bindBlock)
		if p == 0 {
			return 0, errNoMemory
		}
		s.block, s.blockSize = p, bindBlock
	}
	if s.blockUsed+n+1 > s.blockSize {
		return s.allocExtra(n)
	}
	p := s.block + uintptr(s.blockUsed)
	s.blockUsed += n + 1 // at least one byte, so that an empty value has an address and is not bound as NULL
	return p, nil
}

func (s *Stmt) allocExtra(n int) (uintptr, error) {
	p := libc.Xmalloc(s.conn.tls, types.Size_t(n+1))
	if p == 0 {
		return 0, errNoMemory
	}
	s.extra = append(s.extra, p)
	return p, nil
}

func (s *Stmt) check(rc int32) error {
	if rc != sqlite3.SQLITE_OK {
		return s.conn.fail(rc)
	}
	return nil
}

func (s *Stmt) finalize() {
	sqlite3.Xsqlite3_finalize(s.conn.tls, s.ptr)
	if s.block != 0 {
		libc.Xfree(s.conn.tls, s.block)
		s.block = 0
	}
}
