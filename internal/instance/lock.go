package instance

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"pdpp"
	"pdpp/internal/osfile"
)

const lockFile = "serve.lock"

// Lock is the right to be the server of a data folder.
type Lock struct{ file, folder *os.File }

// Acquire takes the lock of a data folder without waiting, or fails with CodeBusy. The
// lock ends with Release or with the process; the file stays and means nothing by itself.
// The folder is locked too, since somebody may remove the file. Operator commands take
// the lock only to migrate a store (H-3, H-5).
func Acquire(dir string) (*Lock, error) {
	path := filepath.Join(dir, lockFile)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, cannotCreate(dir, err)
	}
	err = osfile.Lock(f)
	var folder *os.File
	if err == nil {
		folder, err = osfile.LockFolder(dir)
	}
	if err != nil {
		holder := readHolder(f)
		_ = f.Close()
		if !errors.Is(err, osfile.ErrLocked) {
			return nil, cannotCreate(dir, err)
		}
		return nil, &pdpp.Error{
			Code: pdpp.CodeBusy, Message: "Another server" + holder + " uses the data folder " + dir + ".",
			Hint: "Stop that one first, or choose another folder with --data.",
		}
	}
	// The process id is only for the message above, so failures are ignored.
	_ = f.Truncate(0)
	_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return &Lock{f, folder}, nil
}

// Release releases the lock.
func (l *Lock) Release() error { return errors.Join(l.folder.Close(), l.file.Close()) }

func readHolder(f *os.File) string {
	b, err := io.ReadAll(io.LimitReader(f, 32))
	pid, bad := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || bad != nil {
		return ""
	}
	return " (process " + strconv.Itoa(pid) + ")"
}
