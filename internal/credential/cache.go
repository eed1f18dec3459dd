package credential

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pdpp"
	"pdpp/internal/osfile"
	"pdpp/internal/secret"
)

// Cache manages the credentials below one folder.
type Cache struct {
	Root string
	Now  func() time.Time
	// Warn receives a message about modes that were too open, and about a renewal that
	// could not be saved.
	Warn func(message string)
	// Transport is for token endpoints; nil: http.DefaultTransport.
	Transport http.RoundTripper
}

const (
	folderMode = 0o700
	fileMode   = 0o600
	lockName   = ".lock"
	suffix     = ".json"
	fileMax    = 1 << 20

	lockTimeout = 15 * time.Second // H-203
	lockPause   = 50 * time.Millisecond
)

// folder returns the folder with the files of a provider.
func (c *Cache) folder(provider string) string {
	return filepath.Join(c.Root, "clients", folderName(provider))
}

// ValidID reports whether an id can name a file of the cache.
func ValidID(id string) bool {
	return id != "" && len(id) <= 128 && id[0] != '.' && strings.IndexFunc(id, func(r rune) bool {
		return !isAlphanumeric(r) && !strings.ContainsRune("._-", r)
	}) < 0
}

// prepare creates the folder of a provider, private to the user.
func (c *Cache) prepare(provider string) (string, error) {
	dir := c.folder(provider)
	if err := os.MkdirAll(c.Root, folderMode); err != nil {
		return "", cannotWrite(c.Root, err)
	}
	if info, err := os.Stat(c.Root); err == nil && isOpen(info) {
		c.Warn(c.Root + " contains credentials, but other users can write to it. Change its mode.")
	}
	for _, d := range []string{filepath.Dir(dir), dir} {
		if err := os.Mkdir(d, folderMode); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", cannotWrite(d, err)
		}
		if err := c.trusted(d, fs.ModeDir); err != nil {
			return "", err
		}
	}
	// A cache inside a repository must not become part of it.
	ignore := filepath.Join(c.Root, ".gitignore")
	f, err := os.OpenFile(ignore, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err == nil {
		_, err = f.WriteString("*\n")
		err = errors.Join(err, f.Close())
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return "", cannotWrite(ignore, err)
	}
	return dir, nil
}

// isOpen reports whether other users can replace files in a folder. The root may have
// other uses, so its mode is not changed (H-202).
func isOpen(info fs.FileInfo) bool {
	return hasModes && info.Mode().Perm()&0o022 != 0 && info.Mode()&fs.ModeSticky == 0
}

// exists reports whether the root exists.
func (c *Cache) exists() (bool, error) {
	info, err := os.Stat(c.Root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, cannotRead(c.Root, err)
	case !info.IsDir():
		return false, pdpp.Errorf(pdpp.CodeNotConfigured, "%s is not a folder, so it cannot contain credentials. Choose another cache folder.", c.Root)
	}
	return true, nil
}

// trusted rejects links, files of another type and files of other users. It corrects a
// mode that gives access to others (H-202).
func (c *Cache) trusted(path string, kind fs.FileMode) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return err
	case err != nil:
		return cannotRead(path, err)
	case info.Mode().Type() != kind:
		return refused(path, "is a link, or has the wrong file type")
	case osfile.Foreign(info):
		return refused(path, "belongs to another user")
	case info.Mode().Perm()&0o077 == 0 || !hasModes:
		return nil
	}
	mode := fs.FileMode(fileMode)
	if kind.IsDir() {
		mode = folderMode
	}
	if err := os.Chmod(path, mode); err != nil {
		return refused(path, "is accessible to other users")
	}
	c.Warn(path + " was accessible to other users. Its mode has been corrected.")
	return nil
}

// hasModes says whether file modes have an effect on this system.
const hasModes = os.PathSeparator == '/'

// read reads one file. A missing file is fs.ErrNotExist.
func (c *Cache) read(path string) (*Credential, error) {
	if err := c.trusted(path, 0); err != nil {
		return nil, err
	}
	raw, err := readSame(path)
	var own *pdpp.Error
	if errors.As(err, &own) || errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err != nil {
		return nil, cannotRead(path, err)
	}
	cred, err := parse(raw)
	if cred != nil {
		cred.Path = path
		if name := strings.TrimSuffix(filepath.Base(path), suffix); cred.ID == "" {
			cred.ID = name
		} else if cred.ID != name && !c.isShared(path) {
			err = errors.Join(err, errors.New("its file name is not the id of the grant"))
		}
	}
	switch {
	case errors.Is(err, errOwner):
		return nil, ownerRefused("The credential " + path + " belongs to an owner.")
	case err != nil:
		return nil, refused(path, "cannot be used: "+err.Error())
	}
	return cred, nil
}

// readSame reads a file after trusted has checked its name. It verifies that the opened
// file is still the same.
func readSame(path string) ([]byte, error) {
	before, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !os.SameFile(before, info) || info.Size() > fileMax {
		return nil, refused(path, "changed while it was read, or is too large")
	}
	raw := make([]byte, info.Size())
	if _, err := f.ReadAt(raw, 0); err != nil && info.Size() > 0 {
		return nil, err
	}
	return raw, nil
}

// Put saves a credential and replaces the previous one of its grant.
func (c *Cache) Put(ctx context.Context, cred *Credential) error {
	tokens := []string{cred.Token}
	for _, m := range cred.Members {
		tokens = append(tokens, m.Token)
	}
	if slices.ContainsFunc(tokens, func(t string) bool { return !ValidToken(t) }) {
		return pdpp.Errorf(pdpp.CodeInvalidInput, "The token contains invalid characters or is too long. Copy it again.")
	}
	if slices.ContainsFunc(tokens, IsOwnerToken) {
		return ownerRefused("The token belongs to an owner.")
	}
	if !ValidID(cred.ID) {
		return pdpp.Errorf(pdpp.CodeUsage, "%q cannot be the id of a grant. Use letters, digits and . _ - only.", cred.ID)
	}
	dir, err := c.prepare(cred.Provider)
	if err != nil {
		return err
	}
	release, err := c.lock(ctx, dir)
	if err != nil {
		return err
	}
	defer release()
	cred.Path = filepath.Join(dir, cred.ID+suffix)
	return c.write(cred)
}

// markOwner marks the file of a token as an owner credential, so that it is rejected from
// now on. It does not change a file that contains another token by now.
func (c *Cache) markOwner(ctx context.Context, path, token string) error {
	release, err := c.lock(ctx, filepath.Dir(path))
	if err != nil {
		return err
	}
	defer release()
	cred, err := c.read(path)
	if errors.Is(err, fs.ErrNotExist) || pdpp.CodeOf(err) == pdpp.CodeOwnerCredential {
		return nil
	}
	if err != nil || !cred.holds(token) {
		return err
	}
	cred.Kind = string(pdpp.TokenOwner)
	return c.write(cred)
}

// write replaces a file atomically. The caller holds the lock.
func (c *Cache) write(cred *Credential) error {
	dir := filepath.Dir(cred.Path)
	temp := filepath.Join(dir, "."+secret.ID("new-"))
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return cannotWrite(temp, err)
	}
	_, err = f.Write(cred.bytes(c.Now()))
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(temp, cred.Path)
	}
	if err != nil {
		_ = os.Remove(temp)
		return cannotWrite(cred.Path, err)
	}
	if err := osfile.SyncFolder(dir); err != nil {
		return cannotWrite(dir, err)
	}
	return nil
}

// lock waits for the lock of a folder (H-203).
func (c *Cache) lock(ctx context.Context, dir string) (release func(), err error) {
	path := filepath.Join(dir, lockName)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, fileMode)
	if err == nil {
		err = c.trusted(path, 0)
	}
	if err != nil {
		return nil, cannotWrite(path, err)
	}
	ctx, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	for {
		err := osfile.Lock(f)
		if err == nil {
			return func() { _ = f.Close() }, nil
		}
		if !errors.Is(err, osfile.ErrLocked) {
			return nil, errors.Join(cannotWrite(path, err), f.Close())
		}
		select {
		case <-time.After(lockPause):
		case <-ctx.Done():
			_ = f.Close()
			if errors.Is(ctx.Err(), context.Canceled) {
				return nil, ctx.Err()
			}
			return nil, pdpp.Errorf(pdpp.CodeBusy, "Another program is writing to %s. Try again.", dir)
		}
	}
}

// refused returns the error for a file that must not be used.
func refused(path, why string) error {
	return pdpp.Errorf(pdpp.CodeCredentialInvalid, "The credential %s %s.", path, why)
}

func ownerRefused(what string) error {
	return pdpp.Errorf(pdpp.CodeOwnerCredential, "%s Only a credential that is limited by a grant may be used here.", what)
}

// otherCache follows an error about the folder of the cache.
const otherCache = "Check the owner and the mode of this folder, or choose another one with --cache-root."

func cannotRead(path string, err error) error {
	return &pdpp.Error{Code: pdpp.CodeNotConfigured, Message: "The credential cache cannot be read: " + path + ".", Hint: otherCache, Err: err}
}

func cannotWrite(path string, err error) error {
	return &pdpp.Error{Code: pdpp.CodeCannotCreate, Message: "The credential cache cannot be written: " + path + ".", Hint: otherCache, Err: err}
}
