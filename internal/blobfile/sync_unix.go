//go:build unix

package blobfile

import "errors"

func (s *Store) syncFolder(name string) error {
	d, err := s.root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
