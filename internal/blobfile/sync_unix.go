//go:build unix

package blobfile

import (
	"errors"
	"os"
)

func (s *Store) syncFolder(name string) error {
	d, err := s.root.Open(name)
	if err != nil {
		return err
	}
	return syncAndClose(d)
}

// syncPath does what syncFolder does, for a folder outside the store.
func syncPath(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return syncAndClose(d)
}

func syncAndClose(d *os.File) error { return errors.Join(d.Sync(), d.Close()) }
