//go:build !unix

package blobfile

// syncFolder does nothing: the system has no such call for folders.
func (s *Store) syncFolder(string) error { return nil }
