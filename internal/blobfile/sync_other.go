//go:build !unix

package blobfile

// syncFolder and syncPath do nothing: the system has no such call for folders.
func (s *Store) syncFolder(string) error { return nil }

func syncPath(string) error { return nil }
