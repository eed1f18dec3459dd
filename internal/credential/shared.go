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

// sharedPath is where the public implementation keeps its one credential of a provider:
// a file named by host and port, beside our folders (H-202).
func (c *Cache) sharedPath(provider string) string {
	return filepath.Join(c.Root, "clients", sharedName(provider)+suffix)
}

// HasShared reports whether that file is there.
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

// fileRune is a character of a host as it stands in a file name.
func fileRune(r rune) rune {
	if isAlphanumeric(r) || r == '.' || r == '-' {
		return r
	}
	return '_'
}

// isShared reports a file of the public implementation. It has the form of ours, but
// its name is not that of the grant, which it may lack.
func (c *Cache) isShared(path string) bool {
	return filepath.Dir(path) == filepath.Join(c.Root, "clients")
}

// shared reads the credential that the public implementation keeps for a provider;
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
func (c *Cache) of(provider string) (good []*Credential, bad []broken, err error) {
	good, bad, err = c.in(c.folder(provider))
	if err != nil {
		return nil, nil, err
	}
	cred, err := c.shared(provider)
	switch {
	case err == nil:
		good = append(good, cred)
	case !errors.Is(err, fs.ErrNotExist):
		bad = append(bad, broken{c.sharedPath(provider), err})
	}
	return good, bad, nil
}
