package blobfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"pdpp"
)

// Open opens an owner's content by its hash and returns its size. The caller closes the
// file; it stays readable when the blob is removed. CodeNotFound when the owner has no
// such content, and when hash is malformed.
func (s *Store) Open(owner int64, hash string) (*os.File, int64, error) {
	name, ok := place(owner, hash)
	if !ok {
		return nil, 0, notFound()
	}
	_, err := s.find(name)
	if err == nil {
		return s.open(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, notFound()
	}
	return nil, 0, fmt.Errorf("blobfile.Open: %w", err)
}

// open opens a file that was found; it may have been removed since.
func (s *Store) open(name string) (*os.File, int64, error) {
	f, err := s.root.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, notFound()
	}
	if err != nil {
		return nil, 0, fmt.Errorf("blobfile.Open: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, fmt.Errorf("blobfile.Open: %w", errors.Join(err, f.Close()))
	}
	return f, info.Size(), nil
}

// Remove removes an owner's content by its hash; it is not an error when there is none.
// The removal is on the disk when Remove returns. CodeNotFound when hash is malformed.
func (s *Store) Remove(owner int64, hash string) error {
	name, ok := place(owner, hash)
	if !ok {
		return notFound()
	}
	_, err := s.find(name)
	if err == nil {
		err = s.root.Remove(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		folders := parents(name)
		err = s.syncFolder(folders[len(folders)-1])
	}
	if err != nil {
		return fmt.Errorf("blobfile.Remove: %w", err)
	}
	return nil
}

// RemoveOld is like Remove, for content that was last put before limit; newer content
// stays. It reports whether there was something to remove.
func (s *Store) RemoveOld(owner int64, hash string, limit time.Time) (removed bool, err error) {
	name, ok := place(owner, hash)
	if !ok {
		return false, notFound()
	}
	info, err := s.find(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("blobfile.RemoveOld: %w", err)
	}
	if !info.ModTime().Before(limit) {
		return false, nil
	}
	return true, s.Remove(owner, hash)
}

// All calls yield for every blob, in no particular order, until it returns false. mod is
// when the blob was last put. Other files are skipped. Blobs that are added or removed
// meanwhile may be missed; yield may remove the blob it is called with.
//
// A caller that removes files without a row must spare recent ones, because the row is
// written after the file.
func (s *Store) All(yield func(owner int64, hash string, size int64, mod time.Time) bool) error {
	err := fs.WalkDir(s.root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		owner, hash, ok := parse(name)
		if !ok || !e.Type().IsRegular() {
			return nil
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && !yield(owner, hash, info.Size(), info.ModTime()) {
			err = fs.SkipAll
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("blobfile.All: %w", err)
	}
	return nil
}

// notFound returns the one error for every reason (B-4).
func notFound() error {
	return pdpp.Errorf(pdpp.CodeNotFound, "There is no such blob.")
}
