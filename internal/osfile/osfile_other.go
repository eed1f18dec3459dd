//go:build !windows && (!unix || solaris || aix)

package osfile

import "os"

// Lock does nothing: there is no portable call on these systems.
func Lock(*os.File) error { return nil }

// LockFolder opens the folder and locks nothing here.
func LockFolder(dir string) (*os.File, error) { return os.Open(dir) }

// Writable says yes: what cannot be written fails when it is tried.
func Writable(string) bool { return true }

// SyncFolder does nothing here.
func SyncFolder(string) error { return nil }

// Foreign says nothing here.
func Foreign(os.FileInfo) bool { return false }

// Identify says nothing here.
func Identify(string) (FileID, error) { return FileID{}, nil }
