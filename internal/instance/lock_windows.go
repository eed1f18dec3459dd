package instance

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

// lock takes a lock that the system drops when the file is closed.
func lock(f *os.File) error {
	at := syscall.Overlapped{Offset: lockOffset}
	ok, _, err := syscall.NewLazyDLL("kernel32.dll").NewProc("LockFileEx").Call(
		f.Fd(), lockExclusive|failImmediately, 0, 1, 0, uintptr(unsafe.Pointer(&at)))
	switch {
	case ok != 0:
		return nil
	case errors.Is(err, errorViolation):
		return errLocked
	}
	return err
}

// syncFolder does nothing: the system has no such call for folders.
func syncFolder(string) error { return nil }
