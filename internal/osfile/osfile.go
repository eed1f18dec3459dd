package osfile

import "errors"

// ErrLocked says that another holder has the lock.
var ErrLocked = errors.New("locked by another process")

// FileID tells the files of a machine apart, whatever their names are. That of a file
// that is open goes to no other one.
type FileID struct{ device, number uint64 }
