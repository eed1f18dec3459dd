package sqlite

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"pdpp"
	"pdpp/internal/osfile"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlite/engine"
)

// Open opens the store in the folder dir. It creates both when they are missing, and
// migrates an older schema. A store that a newer version of the program created is
// refused with CodeNotConfigured.
func Open(ctx context.Context, dir string) (*DB, error) {
	return OpenAs(ctx, dir, store.OpenOptions{Create: true, Migrate: true})
}

// OpenAs opens the store like Open, but makes only the changes that opts allow.
func OpenAs(_ context.Context, dir string, opts store.OpenOptions) (*DB, error) {
	path := filepath.Join(dir, "pdpp.db")
	db := &DB{path: path, file: ownFile{path: path, replaced: make(chan struct{})}, write: make(chan *engine.Conn, 1), turns: newTurns(dir), sliceTime: sliceTime}
	if err := db.prepare(dir, opts); err != nil {
		return nil, err
	}
	if db.readOnly = exists(db.path) && !(osfile.Writable(db.path) && osfile.Writable(dir)); db.readOnly {
		return db.openReadOnly()
	}
	writer, err := openConn(db.path, writerPragmas)
	if err != nil {
		return nil, openError(err)
	}
	if err := cmp.Or(os.Chmod(db.path, 0o600), db.file.remember()); err != nil {
		writer.Close()
		return nil, err
	}
	if err := migrate(db, writer, opts); err != nil {
		writer.Close()
		return nil, err
	}
	db.write <- writer
	if err := db.openReaders(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// prepare creates the folder, or checks that there is a store. An empty file is not
// one: the engine would create a new store in it.
func (db *DB) prepare(dir string, opts store.OpenOptions) error {
	if opts.Create {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return &pdpp.Error{Code: pdpp.CodeCannotCreate, Message: "The data folder cannot be created.", Err: err}
		}
		return nil
	}
	info, err := os.Stat(db.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return store.ErrNoStore
	}
	return openError(err)
}

func (db *DB) openReaders() error {
	n := store.Readers()
	db.readers = make(chan *reader, n)
	for range n {
		r, err := db.openReader()
		if err != nil {
			return openError(err)
		}
		db.readers <- r
		db.opened++
	}
	return nil
}
