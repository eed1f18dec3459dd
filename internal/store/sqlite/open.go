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

// Options say what OpenAs may do besides opening a store.
type Options struct {
	Create  bool // make the folder and the store when absent
	Migrate bool // bring an older schema up to date
}

var (
	// ErrNoStore says that there is no store, or one that nothing was ever written to.
	ErrNoStore = errors.New("there is no store")
	// ErrOlder says that the store has the schema of an older program.
	ErrOlder = errors.New("the store is of an older version")
)

// Open opens the store in the folder dir, creating both when absent, and brings
// its schema up to date. A store made by a newer version of the program is
// refused with CodeNotConfigured.
func Open(ctx context.Context, dir string) (*DB, error) {
	return OpenAs(ctx, dir, Options{Create: true, Migrate: true})
}

// OpenAs is Open with only the changes that opts allows. Without Create, a missing store
// is ErrNoStore; without Migrate, an older one is ErrOlder. Neither changes anything.
func OpenAs(_ context.Context, dir string, opts Options) (*DB, error) {
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

// prepare makes the folder, or looks whether there is a store. A file without content
// is none: the engine would make a new store of it.
func (db *DB) prepare(dir string, opts Options) error {
	if opts.Create {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return &pdpp.Error{Code: pdpp.CodeCannotCreate, Message: "The data folder cannot be created.", Err: err}
		}
		return nil
	}
	info, err := os.Stat(db.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return ErrNoStore
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
