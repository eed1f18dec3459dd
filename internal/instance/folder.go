package instance

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"pdpp"
)

// StoreFile is the database in the data folder.
const StoreFile = "pdpp.db"

// KeyFile is the file in the data folder that contains the instance key.
const KeyFile = "instance.key"

// BlobFolder is the folder in the data folder that contains the bytes of blobs.
const BlobFolder = "blobs"

// uploads is the folder of incomplete blobs, in BlobFolder.
const uploads = "tmp"

const (
	folderMode = 0o700
	fileMode   = 0o600
)

// Prepare creates the folder dir, private to its owner (H-4). It makes an existing folder
// private when that is empty or contains a store. Any other folder, such as a home
// folder, keeps its mode; the files in it are private all the same. CodeCannotCreate when
// the folder cannot be used.
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

// Exists reports whether dir contains a store. An empty file is not a store: a full disk
// or a redirection in a shell leaves one.
func Exists(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, StoreFile))
	return err == nil && info.Size() > 0 || err != nil && !errors.Is(err, fs.ErrNotExist)
}

// Remains returns the name of a file in dir that belongs to a store: its log, its key, or
// a blob; "" when there is none. If such a file exists without a store, the store was
// lost, and a new one would not have the file's content.
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
		Hint:    "Choose another one with --data, or run the command as the user who owns this one and may write to it.",
	}
}
