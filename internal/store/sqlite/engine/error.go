package engine

import (
	"errors"
	"fmt"

	sqlite3 "modernc.org/sqlite/lib"
)

// Error is a failure reported by the engine.
type Error struct {
	Code int // extended result code
	Msg  string
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("sqlite: %s (%d)", e.Msg, e.Code) }

var errNoMemory = errors.New("sqlite: out of memory")

func hasCode(err error, primary int) bool {
	var e *Error
	return errors.As(err, &e) && e.Code&0xff == primary
}

// IsBusy reports whether a lock was not obtained within the busy timeout.
func IsBusy(err error) bool { return hasCode(err, sqlite3.SQLITE_BUSY) }

// IsInterrupt reports whether Interrupt, or the context of SetContext, ended the
// statement.
func IsInterrupt(err error) bool { return hasCode(err, sqlite3.SQLITE_INTERRUPT) }

// IsFull reports whether the disk is full or the file may not grow.
func IsFull(err error) bool { return hasCode(err, sqlite3.SQLITE_FULL) }

// IsNotADatabase reports whether the error says that the file is not an SQLite database.
func IsNotADatabase(err error) bool { return hasCode(err, sqlite3.SQLITE_NOTADB) }
