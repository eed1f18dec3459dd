package credential

import (
	"cmp"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// sharedPath returns the file in which the public implementation stores its only
// credential of a provider. Its name is the host and port (H-202).
func (c *Cache) sharedPath(provider string) string {
	return filepath.Join(c.Root, "clients", sharedName(provider)+suffix)
}

// HasShared reports whether that file exists.
func (c *Cache) HasShared(provider string) bool {
	info, err := os.Lstat(c.sharedPath(provider))
	return err == nil && info.Mode().IsRegular()
}

func sharedName(provider string) string {
	u, err := url.Parse(provider)
	if err != nil {
		return "_"
	}
	return strings.Map(fileRune, u.Host)
}

// fileRune returns a character of a host for a file name.
func fileRune(r rune) rune {
	if isAlphanumeric(r) || r == '.' || r == '-' {
		return r
	}
	return '_'
}

// isShared reports whether a file is of the public implementation. Its name is not the id
// of the grant, which may be missing.
func (c *Cache) isShared(path string) bool {
	return filepath.Dir(path) == filepath.Join(c.Root, "clients")
}

// shared reads the credential of the public implementation for a provider. It returns
// fs.ErrNotExist when there is none, or it is for another provider of the same host.
func (c *Cache) shared(provider string) (*Credential, error) {
	path := c.sharedPath(provider)
	if there, err := c.exists(); err != nil || !there {
		return nil, cmp.Or(err, fs.ErrNotExist)
	}
	if err := c.trusted(filepath.Dir(path), fs.ModeDir); err != nil {
		return nil, err
	}
	cred, err := c.read(path)
	if err == nil && cred.Provider != provider {
		return nil, fs.ErrNotExist
	}
	return cred, err
}

// of reads every credential of a provider: those of its folder, and that of the public
// implementation.
func (c *Cache) of(provider string) (valid []*Credential, invalid []broken, err error) {
	valid, invalid, err = c.in(c.folder(provider))
	if err != nil {
		return nil, nil, err
	}
	cred, err := c.shared(provider)
	switch {
	case err == nil:
		valid = append(valid, cred)
	case !errors.Is(err, fs.ErrNotExist):
		invalid = append(invalid, broken{c.sharedPath(provider), err})
	}
	return valid, invalid, nil
}
