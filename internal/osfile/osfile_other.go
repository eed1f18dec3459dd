//go:build !windows && (!unix || solaris || aix)

package osfile

import "os"

// Lock does nothing: there is no portable call on these systems.
func Lock(*os.File) error { return nil }

// SyncFolder does nothing here.
func SyncFolder(string) error { return nil }

// Foreign says nothing here.
func Foreign(os.FileInfo) bool { return false }
