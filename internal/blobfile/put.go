package blobfile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"pdpp"
	"pdpp/internal/secret"
)

// Blob identifies stored content.
type Blob struct {
	SHA256 string // 64 lower-case hexadecimal digits
	Size   int64
}

// Put stores the content of r for owner, a number above 0. More than limit bytes are
// CodeResourceLimit (B-9); Put reads at most one byte beyond them. Content that the owner
// already has is kept, with a new modification time (see All). A failure of the disk is
// CodeUnavailable; an error of r is returned wrapped.
//
// After an error nothing is stored and no file is left, except that CodeUnavailable may
// come after the content got its name. ctx is checked before each read and before the
// content gets its name; only the owner of r can end a read that blocks.
func (s *Store) Put(ctx context.Context, owner int64, r io.Reader, limit int64) (Blob, error) {
	if owner <= 0 {
		return Blob{}, fmt.Errorf("blobfile.Put: there is no owner %d", owner)
	}
	temp := tempFolder + "/" + secret.ID(tempPrefix)
	f, err := s.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return Blob{}, notStored(err)
	}
	blob, err := fill(f, &source{ctx: ctx, r: r, left: limit, limit: limit})
	if err == nil {
		err = s.settle(ctx, f, temp, owner, blob)
	}
	if err != nil {
		_ = f.Close()           // settle may have closed it
		_ = s.root.Remove(temp) // or moved it
		return Blob{}, err
	}
	return blob, nil
}

// Measure reads r to its end under the rules of Put, and returns what Put would store.
func Measure(ctx context.Context, r io.Reader, limit int64) (Blob, error) {
	return fill(io.Discard, &source{ctx: ctx, r: r, left: limit, limit: limit})
}

// fill copies everything from r to f and returns its hash and size.
func fill(f io.Writer, r io.Reader) (Blob, error) {
	hash, buf, size := sha256.New(), make([]byte, 64<<10), int64(0)
	for {
		n, err := r.Read(buf)
		hash.Write(buf[:n])
		size += int64(n)
		if _, failed := f.Write(buf[:n]); failed != nil {
			return Blob{}, notStored(failed)
		}
		if err == io.EOF {
			return Blob{SHA256: hex.EncodeToString(hash.Sum(nil)), Size: size}, nil
		}
		if err != nil {
			return Blob{}, err
		}
	}
}

// settle renames the complete file temp, or removes it when the content exists already.
func (s *Store) settle(ctx context.Context, f *os.File, temp string, owner int64, blob Blob) error {
	name, _ := place(owner, blob.SHA256)
	kept, err := s.renew(f, name, blob.Size)
	if err != nil {
		return notStored(err)
	}
	if !kept {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return notStored(err)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("blobfile.Put: %w", err)
	}
	if kept {
		err = s.root.Remove(temp)
	} else {
		err = s.move(temp, name)
	}
	if err == nil {
		err = s.syncParents(name)
	}
	if err != nil {
		return notStored(err)
	}
	return nil
}

// renew reports whether the file name already has size bytes, and sets its time to that
// of f, so that a sweep by age keeps it. A file of another size was damaged from outside
// and is to be replaced.
func (s *Store) renew(f *os.File, name string, size int64) (bool, error) {
	info, err := s.find(name)
	if err != nil || info.Size() != size {
		return false, nil // move reports the fault, if there is one
	}
	fresh, err := f.Stat()
	if err != nil {
		return false, err
	}
	if err := s.root.Chtimes(name, fresh.ModTime(), fresh.ModTime()); err != nil {
		return false, nil // removed in between
	}
	return true, nil
}

// move renames temp to name. A link in the place of name is replaced, not followed.
func (s *Store) move(temp, name string) error {
	for _, folder := range parents(name) {
		if err := s.makeFolder(folder); err != nil {
			return err
		}
	}
	return s.root.Rename(temp, name)
}

func notStored(err error) error {
	return &pdpp.Error{
		Code: pdpp.CodeUnavailable, Op: "blobfile.Put", Err: err, RetryAfter: 60,
		Message: "The blob could not be stored. Send the same call again later.",
	}
}
