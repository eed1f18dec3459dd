package osfile

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

const (
	lockExclusive   = 0x2
	failImmediately = 0x1
	errorViolation  = syscall.Errno(33) // ERROR_LOCK_VIOLATION

	// A locked range cannot be read by others, so the lock lies behind the
	// text that says who holds it.
	lockOffset = 1 << 20
)

// Lock takes an exclusive lock at once, or fails with ErrLocked. The system drops it
// when the file is closed, however the process ends.
func Lock(f *os.File) error {
	at := syscall.Overlapped{Offset: lockOffset}
	ok, _, err := syscall.NewLazyDLL("kernel32.dll").NewProc("LockFileEx").Call(
		f.Fd(), lockExclusive|failImmediately, 0, 1, 0, uintptr(unsafe.Pointer(&at)))
	switch {
	case ok != 0:
		return nil
	case errors.Is(err, errorViolation):
		return ErrLocked
	}
	return err
}

// LockFolder opens the folder and locks nothing: a file that is locked cannot be removed
// here.
func LockFolder(dir string) (*os.File, error) { return os.Open(dir) }

// Writable says yes: what cannot be written fails when it is tried.
func Writable(string) bool { return true }

// SyncFolder does nothing: the system has no such call for folders.
func SyncFolder(string) error { return nil }

// Foreign says nothing: the folders of a user are closed to others by their lists of
// rights, which files inherit.
func Foreign(os.FileInfo) bool { return false }

// Identify says nothing: a store that is open cannot be removed or replaced here.
func Identify(string) (FileID, error) { return FileID{}, nil }
