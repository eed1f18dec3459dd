package instance

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"pdpp"
)

// StoreFile is the file in the data folder that says it is one.
const StoreFile = "pdpp.db"

// KeyFile is the file in the data folder that holds the instance key.
const KeyFile = "instance.key"

// BlobFolder is the folder in the data folder that holds the bytes of blobs.
const BlobFolder = "blobs"

// uploads is the folder of blobs that are not complete yet, in BlobFolder.
const uploads = "tmp"

const (
	folderMode = 0o700
	fileMode   = 0o600
)

// Prepare makes sure that dir is a folder that only its owner can look into
// (H-4). An existing folder is closed to others when it is empty or already
// holds a store; any other one, such as a home folder, keeps its mode, and the
// files in it are private all the same. CodeCannotCreate when there can be no
// such folder.
func Prepare(dir string) error {
	err := os.MkdirAll(dir, folderMode)
	if err != nil {
		return cannotCreate(dir, err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return cannotCreate(dir, err)
	}
	if info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	ours, err := isOurs(dir)
	if err != nil {
		return cannotCreate(dir, err)
	}
	if ours {
		// A mounted volume may belong to another user; its files are 0600.
		_ = os.Chmod(dir, folderMode)
	}
	return nil
}

func isOurs(dir string) (bool, error) {
	if _, err := os.Stat(filepath.Join(dir, StoreFile)); err == nil {
		return true, nil
	}
	entries, err := os.ReadDir(dir)
	return len(entries) == 0, err
}

// Exists reports whether dir holds a store. An empty file is none: it is what a full
// disk or a redirection in a shell leaves.
func Exists(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, StoreFile))
	return err == nil && info.Size() > 0 || err != nil && !errors.Is(err, fs.ErrNotExist)
}

// Remains names something in dir that belongs to a store: its log, its key, or a blob.
// It is "" when there is nothing. Beside such things a missing store was lost, and a
// new one would not know them.
func Remains(dir string) (string, error) {
	for _, name := range []string{StoreFile + "-wal", KeyFile} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err == nil && info.Size() > 0 {
			return name, nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", cannotCreate(dir, err)
		}
	}
	found := ""
	err := fs.WalkDir(os.DirFS(dir), BlobFolder, func(name string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case e.IsDir() && name == BlobFolder+"/"+uploads:
			return fs.SkipDir
		case e.Type().IsRegular():
			found = name
			return fs.SkipAll
		}
		return nil
	})
	if err != nil {
		return "", cannotCreate(dir, err)
	}
	return found, nil
}

func cannotCreate(dir string, err error) error {
	return &pdpp.Error{
		Code: pdpp.CodeCannotCreate, Op: "instance.Prepare", Err: err,
		Message: "The data folder " + dir + " cannot be used.",
		Hint:    "Choose another one with --data, or make this one writable.",
	}
}
