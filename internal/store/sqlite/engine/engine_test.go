package engine

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

func open(t testing.TB) *Conn {
	t.Helper()
	c, err := Open(filepath.Join(t.TempDir(), "a.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestBindAndColumns(t *testing.T) {
	c := open(t)
	if err := c.Exec(`CREATE TABLE t (a INTEGER, b TEXT, c BLOB, d BLOB)`); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 3*bindBlock)
	if err := c.Exec(`INSERT INTO t VALUES (?, ?, ?, ?)`, 7, long, []byte{0, 1}, nil); err != nil {
		t.Fatal(err)
	}
	if err := c.Exec(`INSERT INTO t VALUES (?, ?, ?, ?)`, true, "", []byte{}, nil); err != nil {
		t.Fatal(err)
	}
	s, err := c.Query(`SELECT a, b, c, d, c IS NULL FROM t ORDER BY rowid`)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if row, err := s.Step(); !row || err != nil {
		t.Fatal(row, err)
	}
	if s.Int(0) != 7 || s.Text(1) != long || string(s.Bytes(2)) != "\x00\x01" || !s.IsNull(3) {
		t.Errorf("first row = %d, %d bytes, %q, null %v", s.Int(0), len(s.Text(1)), s.Bytes(2), s.IsNull(3))
	}
	if row, err := s.Step(); !row || err != nil {
		t.Fatal(row, err)
	}
	if s.Int(0) != 1 || s.Text(1) != "" || s.IsNull(1) || s.Int(4) != 0 {
		t.Errorf("second row = %d, %q, null text %v, null blob %d", s.Int(0), s.Text(1), s.IsNull(1), s.Int(4))
	}
}

func TestNestedUseOfOneStatement(t *testing.T) {
	c := open(t)
	const sql = `SELECT value FROM json_each('[1,2,3]')`
	outer, err := c.Query(sql)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for {
		row, err := outer.Step()
		if err != nil {
			t.Fatal(err)
		}
		if !row {
			break
		}
		inner, err := c.Query(sql)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := inner.Step(); err != nil {
			t.Fatal(err)
		}
		sum += int(outer.Int(0) * 10 * inner.Int(0))
		inner.Close()
	}
	outer.Close()
	if sum != 60 {
		t.Errorf("sum = %d, want 60", sum)
	}
	if n := len(c.idle[sql]); n != 2 {
		t.Errorf("idle statements = %d, want 2", n)
	}
}

func TestInterrupt(t *testing.T) {
	c := open(t)
	s, err := c.Query(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT count(*) FROM n`)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-t.Context().Done():
				return
			default:
				c.Interrupt() // before the statement starts it has no effect, so repeat
			}
			c.mu.Lock()
			closed := c.closed
			c.mu.Unlock()
			if closed {
				return
			}
		}
	}()
	if _, err := s.Step(); !IsInterrupt(err) {
		t.Errorf("Step = %v, want an interrupt", err)
	}
	s.Close()
	c.Close()
	<-done
}

// TestSetContext: a statement that runs when its context ends is interrupted, a later one
// does not begin, and statements after ClearContext are not affected.
func TestSetContext(t *testing.T) {
	c := open(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	c.SetContext(ctx)
	const endless = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT count(*) FROM n`
	if err := c.Exec(endless); !IsInterrupt(err) || ctx.Err() == nil {
		t.Errorf("an endless statement: %v with context %v, want an interrupt after its end", err, ctx.Err())
	}
	if err := c.Exec(`SELECT 1`); !IsInterrupt(err) {
		t.Errorf("a statement after the end of the context: %v, want an interrupt", err)
	}
	c.ClearContext()
	if err := c.Exec(`SELECT 1`); err != nil {
		t.Errorf("a statement without the context: %v", err)
	}
}

func TestErrorsAreTyped(t *testing.T) {
	c := open(t)
	if err := c.Script(`CREATE TABLE t (a PRIMARY KEY); INSERT INTO t VALUES (1)`); err != nil {
		t.Fatal(err)
	}
	if err := c.Exec(`INSERT INTO t VALUES (1)`); !hasCode(err, sqlite3.SQLITE_CONSTRAINT) {
		t.Errorf("second insert = %v, want a constraint error", err)
	}
	if _, err := c.Query(`SELECT nonsense FROM t`); err == nil {
		t.Error("a wrong column must fail to prepare")
	}
}

// TestPlansAreKept: another bound value does not make the engine prepare again.
func TestPlansAreKept(t *testing.T) {
	c := open(t)
	if err := c.Script(`CREATE TABLE t (a INTEGER PRIMARY KEY, b)`); err != nil {
		t.Fatal(err)
	}
	s, err := c.Prepare(`SELECT b FROM t WHERE a > ? ORDER BY a LIMIT ?`)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := range 5 {
		if err := errors.Join(s.BindInt(1, int64(i)), s.BindInt(2, int64(i+1)), s.Run()); err != nil {
			t.Fatal(err)
		}
	}
	if n := sqlite3.Xsqlite3_stmt_status(c.tls, s.ptr, sqlite3.SQLITE_STMTSTATUS_REPREPARE, 0); n != 0 {
		t.Errorf("the statement was prepared anew %d times", n)
	}
}

// TestOpenReadOnly: a database is opened by any name that a file can have, and none is
// created.
func TestOpenReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b?c#d%20e&f")
	for _, immutable := range []bool{true, false} {
		if c, err := OpenReadOnly(path+"absent", immutable); err == nil {
			c.Close()
			t.Errorf("OpenReadOnly(immutable %v) of no file: no error", immutable)
		}
	}
	c, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Script(`CREATE TABLE t (x); INSERT INTO t VALUES (7)`); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	for _, immutable := range []bool{true, false} {
		c, err := OpenReadOnly(path, immutable)
		if err != nil {
			t.Fatal(err)
		}
		s, err := c.Query(`SELECT x FROM t`)
		if err != nil {
			t.Fatal(err)
		}
		if row, err := s.Step(); !row || err != nil || s.Int(0) != 7 {
			t.Errorf("immutable %v: %v, %v", immutable, row, err)
		}
		s.Close()
		if err := c.Exec(`INSERT INTO t VALUES (8)`); err == nil {
			t.Errorf("immutable %v: written to", immutable)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}
