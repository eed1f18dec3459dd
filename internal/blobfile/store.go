package blobfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"pdpp"
)

const (
	folderMode = 0o700
	fileMode   = 0o600

	tempFolder = "tmp"
	tempPrefix = "put_"

	// abandoned is the age from which no upload writes to a temporary file any more.
	abandoned = 24 * time.Hour
)

// Store is a folder of blobs. Its methods may be called concurrently.
type Store struct{ root *os.Root }

// Open creates the folder dir if it is missing, makes it private, and removes temporary
// files that are a day old at now. CodeCannotCreate when the folder cannot be used. dir
// itself may be a symbolic link: the operator decides where blobs are.
func Open(dir string, now time.Time) (*Store, error) {
	fail := func(err error) (*Store, error) {
		return nil, &pdpp.Error{
			Code: pdpp.CodeCannotCreate, Op: "blobfile.Open", Err: err,
			Message: "The folder for blobs " + dir + " cannot be used.",
		}
	}
	if err := os.MkdirAll(dir, folderMode); err != nil {
		return fail(err)
	}
	// Makes the name of a new folder durable. If the parent cannot be read, dir was
	// not created here.
	_ = syncPath(filepath.Dir(dir))
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fail(err)
	}
	s := &Store{root}
	if err := s.prepare(now); err != nil {
		return fail(errors.Join(err, root.Close()))
	}
	return s, nil
}

// OpenAsIs opens the folder dir without changing anything, so that it works on a
// read-only disk. fs.ErrNotExist when there is no such folder.
func OpenAsIs(dir string) (*Store, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("blobfile.OpenAsIs: %w", err)
	}
	return &Store{root}, nil
}

// Close closes the folder. Files that were opened stay open.
func (s *Store) Close() error { return s.root.Close() }

func (s *Store) prepare(now time.Time) error {
	info, err := s.root.Stat(".")
	if err != nil {
		return err
	}
	if info.Mode().Perm() != folderMode {
		// A mounted volume may belong to another user; its files are 0600.
		_ = s.root.Chmod(".", folderMode)
	}
	if err := s.makeFolder(tempFolder); err != nil {
		return err
	}
	return s.RemoveTemporary(now)
}

// RemoveTemporary removes temporary files that are a day old at now.
func (s *Store) RemoveTemporary(now time.Time) error { return s.removeAbandoned(now.Add(-abandoned)) }

// removeAbandoned removes temporary files last written before limit. Another
// process may do the same at the same time.
func (s *Store) removeAbandoned(limit time.Time) error {
	entries, err := fs.ReadDir(s.root.FS(), tempFolder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !strings.HasPrefix(e.Name(), tempPrefix) || !info.ModTime().Before(limit) {
			continue
		}
		if err := s.root.Remove(tempFolder + "/" + e.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
