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
	if Exists(dir) {
		return true, nil
	}
	entries, err := os.ReadDir(dir)
	return len(entries) == 0, err
}

// Exists reports whether dir holds a store.
func Exists(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, StoreFile))
	return !errors.Is(err, fs.ErrNotExist)
}

func cannotCreate(dir string, err error) error {
	return &pdpp.Error{
		Code: pdpp.CodeCannotCreate, Op: "instance.Prepare", Err: err,
		Message: "The data folder " + dir + " cannot be used.",
		Hint:    "Choose another one with --data, or make this one writable.",
	}
}
