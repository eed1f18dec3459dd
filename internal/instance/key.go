package instance

import (
	"bytes"
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"pdpp"
	"pdpp/internal/osfile"
	"pdpp/internal/secret"
	"pdpp/internal/store"
)

const (
	keySize = 32
	metaKey = "instance_key" // the fingerprint of the key, in the store
)

// Key returns the instance key of a store (H-4). It reads the key from file, or, when file
// is "", from instance.key in dir, which it creates on first use. A key that is not the
// store's is CodeNotConfigured; a named file that cannot be read is CodeInputMissing.
func Key(ctx context.Context, st store.Store, dir, file string) ([]byte, error) {
	known, err := knownFingerprint(ctx, st)
	if err != nil {
		return nil, err
	}
	key, err := readOrMake(dir, file, known != nil)
	if err != nil {
		return nil, err
	}
	return key, claim(ctx, st, key)
}

func knownFingerprint(ctx context.Context, st store.Store) (known []byte, err error) {
	err = st.View(ctx, func(v store.View) error {
		known, err = v.Meta(metaKey)
		return err
	})
	return known, err
}

// keyPath returns file, or the path of the key in dir when file is "".
func keyPath(dir, file string) string {
	if file != "" {
		return file
	}
	return filepath.Join(dir, KeyFile)
}

// OpenKey returns the path of the key if other users of the machine can read it;
// otherwise, and without a key, "".
func OpenKey(dir, file string) string {
	path := keyPath(dir, file)
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0 {
		return ""
	}
	return path
}

// restoreKey follows an error about a key that is missing or damaged.
const restoreKey = "Put the file back from a backup, or name the right one with --instance-key-file."

// readOrMake reads the key. It creates one only for a store that never had one.
func readOrMake(dir, file string, hadKey bool) ([]byte, error) {
	path := keyPath(dir, file)
	key, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && file == "" && !hadKey:
		return makeKey(path)
	case errors.Is(err, fs.ErrNotExist) && file == "":
		return nil, &pdpp.Error{
			Code: pdpp.CodeNotConfigured, Message: "The instance key " + path + " is missing.",
			Hint: restoreKey,
		}
	case errors.Is(err, fs.ErrNotExist):
		return nil, &pdpp.Error{
			Code: pdpp.CodeInputMissing, Op: "instance.Key", Err: err, Message: "The instance key " + path + " does not exist.", Hint: restoreKey,
		}
	case err != nil:
		return nil, &pdpp.Error{
			Code: pdpp.CodeInputMissing, Op: "instance.Key", Err: err,
			Message: "The instance key " + path + " cannot be read.",
			Hint:    "Make it readable for this user, or name another file with --instance-key-file.",
		}
	case len(key) != keySize:
		return nil, &pdpp.Error{
			Code: pdpp.CodeNotConfigured, Message: fmt.Sprintf("The instance key %s has %d bytes; a key has %d.", path, len(key), keySize), Hint: restoreKey,
		}
	}
	return key, nil
}

// makeKey writes a new key to path. The file is complete and on the disk before it gets
// its name. The name is created by linking, which fails when another process was faster:
// then that process's key is used.
func makeKey(path string) ([]byte, error) {
	fail := func(err error) ([]byte, error) {
		return nil, &pdpp.Error{
			Code: pdpp.CodeCannotCreate, Op: "instance.makeKey", Err: err,
			Message: "The instance key " + path + " cannot be written.",
			Hint:    "Check that this user may write to its folder, and that the disk is not full.",
		}
	}
	key := secret.Key(keySize)
	temp := path + "." + secret.ID("new_")
	if err := writeNew(temp, key); err != nil {
		return fail(errors.Join(err, os.Remove(temp)))
	}
	err := os.Link(temp, path)
	switch {
	case errors.Is(err, fs.ErrExist):
		_ = os.Remove(temp)
		return readOrMake("", path, true)
	case err != nil: // a file system without links: two processes at once may conflict
		err = os.Rename(temp, path)
	default:
		err = os.Remove(temp)
	}
	if err != nil {
		return fail(err)
	}
	return key, osfile.SyncFolder(filepath.Dir(path))
}

func writeNew(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// fingerprint identifies a key without revealing it. It is derived separately from every
// other use of the key.
func fingerprint(key []byte) (string, error) {
	derived, err := hkdf.Key(sha256.New, key, nil, "pdpp instance key fingerprint", keySize)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(derived)
	return hex.EncodeToString(sum[:16]), nil
}

// claim stores the fingerprint of the key, or checks it against the stored one.
func claim(ctx context.Context, st store.Store, key []byte) error {
	mark, err := fingerprint(key)
	if err != nil {
		return err
	}
	known, err := knownFingerprint(ctx, st)
	if err != nil {
		return err
	}
	if known == nil {
		err = st.Update(ctx, func(tx store.Tx) error {
			if known, err = tx.Meta(metaKey); err != nil || known != nil {
				return err
			}
			known = []byte(mark)
			return tx.PutMeta(metaKey, known)
		})
		if err != nil {
			return err
		}
	}
	if !bytes.Equal(known, []byte(mark)) {
		return &pdpp.Error{
			Code: pdpp.CodeNotConfigured, Message: "The instance key is not the one this store was used with.",
			Hint: "Use the instance.key that belongs to this store.",
		}
	}
	return nil
}

// KnownKey returns the key of a store that already has one. If it has none, it returns
// nil and creates none.
func KnownKey(ctx context.Context, st store.Store, dir, file string) ([]byte, error) {
	known, err := knownFingerprint(ctx, st)
	if err != nil || known == nil {
		return nil, err
	}
	return Key(ctx, st, dir, file)
}

// PutKey writes a key into a folder that has none.
func PutKey(dir string, key []byte) error { return writeNew(filepath.Join(dir, KeyFile), key) }
