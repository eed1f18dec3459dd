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

	// Others cannot read a locked range, so the range is behind the text of the
	// file.
	lockOffset = 1 << 20
)

// Lock takes an exclusive lock without waiting, or fails with ErrLocked. The system
// releases it when the file is closed or the process ends.
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

// LockFolder opens the folder without a lock: a locked file cannot be removed here.
func LockFolder(dir string) (*os.File, error) { return os.Open(dir) }

// Writable returns true: a write that is not allowed fails later.
func Writable(string) bool { return true }

// SyncFolder does nothing: the system has no such call for folders.
func SyncFolder(string) error { return nil }

// Foreign returns false: files inherit the access lists of the user's folders.
func Foreign(os.FileInfo) bool { return false }

// Identify returns the same id for every file: an open store cannot be removed or
// replaced here.
func Identify(string) (FileID, error) { return FileID{}, nil }
