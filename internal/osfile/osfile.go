package osfile

import "errors"

// ErrLocked reports that another process has the lock.
var ErrLocked = errors.New("locked by another process")

// FileID identifies a file of a machine, whatever its name is. No other file gets the id
// of an open file.
type FileID struct{ device, number uint64 }
