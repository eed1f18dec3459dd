//go:build !windows && (!unix || solaris || aix)

package osfile

import "os"

// Lock does nothing: there is no portable call on these systems.
func Lock(*os.File) error { return nil }

// LockFolder opens the folder without a lock.
func LockFolder(dir string) (*os.File, error) { return os.Open(dir) }

// Writable returns true: a write that is not allowed fails later.
func Writable(string) bool { return true }

// SyncFolder does nothing here.
func SyncFolder(string) error { return nil }

// Foreign returns false here.
func Foreign(os.FileInfo) bool { return false }

// Identify returns the same id for every file here.
func Identify(string) (FileID, error) { return FileID{}, nil }
