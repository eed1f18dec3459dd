package sqlite

import (
	"errors"
	"io/fs"
	"sync"

	"pdpp"
	"pdpp/internal/osfile"
)

// ownFile is the file that a store has open. If the file is renamed, removed or replaced,
// other processes write to another file, and a grant that they revoke would still be
// valid in this process. So it is checked before every view and update.
type ownFile struct {
	path string
	id   osfile.FileID

	once     sync.Once
	replaced chan struct{} // closed when the file was removed or replaced
}

// remember stores the identity of the open file.
func (f *ownFile) remember() (err error) {
	f.id, err = osfile.Identify(f.path)
	return err
}

// check returns an error if the path no longer refers to the open file. After the first
// failure it always fails, because the other file may have been written to meanwhile.
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
		return &pdpp.Error{Code: pdpp.CodeUnavailable, Message: "The file of the store cannot be checked.", RetryAfter: 5, Err: err}
	}
}

var errReplaced = &pdpp.Error{
	Code: pdpp.CodeUnavailable, RetryAfter: 5, Message: "The store was removed or replaced while it was in use; it has to be opened again.",
}

// Replaced returns a channel that is closed when the file of the store was removed or
// replaced. From then on all reads and writes fail.
func (db *DB) Replaced() <-chan struct{} { return db.file.replaced }
