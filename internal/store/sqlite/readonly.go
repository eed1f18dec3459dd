package sqlite

import (
	"cmp"
	"errors"
	"io/fs"
	"os"

	"pdpp"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlite/engine"
)

// openReadOnly opens a store whose disk or folder cannot be written to. It migrates
// nothing, and every Update fails.
func (db *DB) openReadOnly() (*DB, error) {
	if err := cmp.Or(db.openReaders(), db.file.remember()); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	r := <-db.readers
	have, err := queryInt(r.Conn, "PRAGMA user_version")
	db.readers <- r
	switch {
	case err != nil:
		err = openError(err)
	case have == 0:
		err = store.ErrNoStore
	case int(have) < SchemaVersion():
		err = &pdpp.Error{
			Code: pdpp.CodeCannotCreate, Message: "The store is of an older version, and its disk or folder is read-only: it cannot be brought up to date.",
			Hint: "Copy the folder to a disk that can be written to.",
		}
	default:
		err = tooNew(have)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// connect opens a connection for reading.
func (db *DB) connect(pragmas []string) (*engine.Conn, error) {
	if !db.readOnly {
		return openConn(db.path, pragmas)
	}
	// If there is a log, another machine may be writing, and the latest commits are only
	// in the log. Without a log, the file is complete and does not change.
	inUse := exists(db.path+"-wal") || exists(db.path+"-shm")
	c, err := engine.OpenReadOnly(db.path, !inUse)
	if err != nil {
		return nil, err
	}
	return c, setUp(c, pragmas)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

func errReadOnly() error {
	return &pdpp.Error{
		Code: pdpp.CodeCannotCreate, Message: "Nothing can be stored: the data folder, or its disk, is read-only.",
		Hint: "Make it writable, or choose another folder with --data.",
	}
}
