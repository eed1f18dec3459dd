//go:build unix && !solaris && !aix

package osfile

import (
	"errors"
	"os"
	"syscall"
)

// Lock takes an exclusive advisory lock without waiting, or fails with ErrLocked. The
// system releases it when the file is closed or the process ends.
func Lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}

// LockFolder takes an exclusive advisory lock on a folder without waiting, or fails with
// ErrLocked. Unlike a file in it, the folder cannot be removed while it is used.
func LockFolder(dir string) (*os.File, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	err = Lock(d)
	if errors.Is(err, ErrLocked) {
		return nil, errors.Join(err, d.Close())
	}
	// A file system without locks of folders (NFS) returns another error, which is ignored.
	return d, nil
}

// Writable reports whether this process may write to a file or folder; false on a disk
// that is mounted read-only, for everybody.
func Writable(path string) bool {
	const write = 2
	return syscall.Access(path, write) == nil
}

// SyncFolder makes new names in a folder durable.
func SyncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Foreign reports whether a file belongs to another user than this process.
func Foreign(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) != os.Geteuid()
}

// Identify returns the id of the file with a name.
func Identify(path string) (FileID, error) {
	var st syscall.Stat_t
	err := syscall.Stat(path, &st)
	for errors.Is(err, syscall.EINTR) {
		err = syscall.Stat(path, &st)
	}
	return FileID{uint64(st.Dev), uint64(st.Ino)}, err
}
