package sqlite

import (
	"errors"
	"io/fs"
	"sync"

	"pdpp"
	"pdpp/internal/osfile"
)

// ownFile is the file that a store has open. Its name may come to stand for another one,
// or for none: then commands write elsewhere, and a right that they withdraw would still
// be valid here. So it is looked at before every view and update.
type ownFile struct {
	path string
	id   osfile.FileID

	once     sync.Once
	replaced chan struct{} // closed when the file was removed or replaced
}

// remember is called once the file is open.
func (f *ownFile) remember() (err error) {
	f.id, err = osfile.Identify(f.path)
	return err
}

// check fails when the file is no longer the one of its name. A store that was replaced
// once stays so: nobody knows what the other file was used for meanwhile.
func (f *ownFile) check() error {
	select {
	case <-f.replaced:
		return errReplaced
	default:
	}
	switch id, err := osfile.Identify(f.path); {
	case err == nil && id == f.id:
		return nil
	case err == nil || errors.Is(err, fs.ErrNotExist):
		f.once.Do(func() { close(f.replaced) })
		return errReplaced
	default:
		return &pdpp.Error{Code: pdpp.CodeUnavailable, Message: "The store cannot be looked at.", RetryAfter: 5, Err: err}
	}
}

var errReplaced = &pdpp.Error{
	Code: pdpp.CodeUnavailable, RetryAfter: 5, Message: "The store was removed or replaced while it was in use; it has to be opened again.",
}

// Replaced is closed when the file of the store was found removed or replaced. Nothing
// can be read or written from then on.
func (db *DB) Replaced() <-chan struct{} { return db.file.replaced }
