package credential

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"pdpp"
)

// Choose returns the credential of a provider (H-204): that of a grant, or, when grant is
// "", the most recent of those that have not ended. It makes no request. The errors are
// CodeNotConnected, CodeGrantNotFound, CodeCredentialInvalid, CodeCredentialExpired and
// CodeOwnerCredential.
func (c *Cache) Choose(provider, grant string) (*Credential, error) {
	choose := c.last
	if grant != "" {
		choose = func(provider string) (*Credential, error) { return c.ofGrant(provider, grant) }
	}
	chosen, err := choose(provider)
	if err != nil {
		return nil, err
	}
	return chosen, c.check(chosen, provider)
}

// last returns the most recent credential that has not ended, or else the most recent one.
// It skips invalid files, except owner credentials (D5).
func (c *Cache) last(provider string) (*Credential, error) {
	all, broken, err := c.of(provider)
	if err != nil {
		return nil, err
	}
	for _, b := range broken {
		if len(all) == 0 || pdpp.CodeOf(b.err) == pdpp.CodeOwnerCredential {
			return nil, b.err
		}
		c.Warn(b.message())
	}
	if len(all) == 0 {
		return nil, pdpp.Errorf(pdpp.CodeNotConnected, "There is no credential for %s in %s.", provider, c.Root)
	}
	if usable := slices.DeleteFunc(slices.Clone(all), func(cred *Credential) bool { return cred.HasEnded(c.Now()) }); len(usable) > 0 {
		all = usable
	}
	return slices.MaxFunc(all, byCreation), nil
}

// ofGrant returns the credential of a grant. Other files matter only for the error
// message.
func (c *Cache) ofGrant(provider, grant string) (*Credential, error) {
	dir := c.folder(provider)
	if there, err := c.usable(dir); err != nil {
		return nil, err
	} else if there && ValidID(grant) {
		cred, err := c.read(filepath.Join(dir, grant+suffix))
		if !errors.Is(err, fs.ErrNotExist) {
			return cred, err
		}
	}
	all, _, err := c.of(provider)
	if err != nil {
		return nil, err
	}
	for _, cred := range all {
		if cred.ID == grant {
			return cred, nil
		}
	}
	if len(all) == 0 {
		return nil, pdpp.Errorf(pdpp.CodeNotConnected, "There is no credential for %s in %s.", provider, c.Root)
	}
	return nil, pdpp.Errorf(pdpp.CodeGrantNotFound, "There is no credential of grant %q for %s. Available: %s.", grant, provider, summary(all))
}

// check rejects a credential that cannot be used (MS-265).
func (c *Cache) check(cred *Credential, provider string) error {
	switch {
	case cred.Provider != provider:
		return refused(cred.Path, "is for "+cred.Provider)
	case cred.IsPackage() && cred.PackageMembers() == nil:
		return refused(cred.Path, "is for a package but contains neither the tokens of its members nor what is needed to obtain them")
	case !cred.IsActive():
		return errExpired(cred, "can no longer be used: its status is "+strconv.Quote(cred.Status))
	case cred.HasEnded(c.Now()):
		return errExpired(cred, "expired on "+pdpp.FormatTime(cred.ExpiresAt))
	}
	return nil
}

// expired reports whether the access token has expired.
func (cred *Credential) expired(now time.Time) bool {
	return !cred.ExpiresAt.IsZero() && !now.Before(cred.ExpiresAt)
}

// IsActive reports whether the file says that the credential can be used.
func (cred *Credential) IsActive() bool { return cred.Status == "" || cred.Status == Active }

// HasEnded reports whether only a new credential helps: this one is not active, or it has
// expired and cannot be renewed.
func (cred *Credential) HasEnded(now time.Time) bool {
	return !cred.IsActive() || cred.Refresh == "" && cred.expired(now)
}

func errExpired(cred *Credential, why string) error {
	return pdpp.Errorf(pdpp.CodeCredentialExpired, "The credential of grant %s for %s %s.", cred.ID, cred.Provider, why)
}

// summary lists credentials without secrets.
func summary(all []*Credential) string {
	var parts []string
	for _, cred := range all {
		text := cred.ID
		if len(cred.Sources()) > 0 {
			text += " (" + strings.Join(cred.Sources(), ", ") + ")"
		}
		parts = append(parts, text+" of "+cred.CreatedAt.UTC().Format("2006-01-02"))
	}
	return strings.Join(parts, "; ")
}

// Sources returns the connectors in the details of the grant, each once.
func (cred *Credential) Sources() []string {
	var out []string
	for _, d := range cred.details() {
		source := d.inner("source")
		name := cmp.Or(source.text("connector_key"), source.text("id"))
		if name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// ClientOf returns the id of the client with this name that was registered at an
// authorization server, from the most recent credential of a provider; "" if there is none.
func (c *Cache) ClientOf(provider, issuer, name string) (string, error) {
	all, _, err := c.of(provider)
	if err != nil {
		return "", err
	}
	all = slices.DeleteFunc(all, func(cred *Credential) bool { return cred.Issuer != issuer || cred.ClientName != name })
	if len(all) == 0 {
		return "", nil
	}
	return slices.MaxFunc(all, byCreation).ClientID, nil
}

func byCreation(a, b *Credential) int { return a.CreatedAt.Compare(b.CreatedAt) }

// broken is a file of the cache that cannot be used.
type broken struct {
	path string
	err  error
}

// message returns the reason.
func (b broken) message() string {
	var e *pdpp.Error
	if errors.As(b.err, &e) {
		return e.Message
	}
	return b.path + " cannot be read."
}

// usable reports whether a folder of credentials exists. It returns an error for one that
// must not be used.
func (c *Cache) usable(dir string) (bool, error) {
	if there, err := c.exists(); err != nil || !there {
		return false, err
	}
	for _, d := range []string{filepath.Dir(dir), dir} {
		if err := c.trusted(d, fs.ModeDir); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return false, nil
			}
			return false, err
		}
	}
	return true, nil
}

// in reads every credential of a folder, by name. A missing folder is empty.
func (c *Cache) in(dir string) (valid []*Credential, invalid []broken, err error) {
	if there, err := c.usable(dir); err != nil || !there {
		return nil, nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, cannotRead(dir, err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || !strings.HasSuffix(e.Name(), suffix) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		cred, err := c.read(path)
		switch {
		case errors.Is(err, fs.ErrNotExist): // removed in the meantime
		case err != nil:
			invalid = append(invalid, broken{path, err})
		default:
			valid = append(valid, cred)
		}
	}
	return valid, invalid, nil
}

// All returns every credential of the cache. It skips invalid files with a warning.
func (c *Cache) All() ([]*Credential, error) {
	if there, err := c.exists(); err != nil || !there {
		return nil, err
	}
	dir := filepath.Join(c.Root, "clients")
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, cannotRead(dir, err)
	}
	var out []*Credential
	for _, e := range entries {
		valid, invalid := c.at(filepath.Join(dir, e.Name()), e)
		for _, b := range invalid {
			c.Warn(b.message())
		}
		out = append(out, valid...)
	}
	return out, nil
}

// at reads one entry of the folder clients: a folder of a provider, or a file of the
// public implementation.
func (c *Cache) at(path string, e fs.DirEntry) (valid []*Credential, invalid []broken) {
	var err error
	switch {
	case strings.HasPrefix(e.Name(), "."):
	case e.Type().IsRegular() && strings.HasSuffix(path, suffix):
		var cred *Credential
		if cred, err = c.read(path); err == nil {
			valid = append(valid, cred)
		}
	default:
		valid, invalid, err = c.in(path)
	}
	if err != nil {
		invalid = []broken{{path, err}}
	}
	return valid, invalid
}

// Forget removes the credential of a grant, or all of a provider when grant is "". It
// also removes invalid files, and returns the ids.
func (c *Cache) Forget(ctx context.Context, provider, grant string) ([]string, error) {
	valid, invalid, err := c.of(provider)
	if err != nil {
		return nil, err
	}
	for _, b := range invalid { // only the file name is known
		valid = append(valid, &Credential{Path: b.path, Provider: provider, ID: strings.TrimSuffix(filepath.Base(b.path), suffix)})
	}
	var ids []string
	for _, cred := range valid {
		if cred.Provider != provider || grant != "" && cred.ID != grant {
			continue
		}
		if err := c.remove(ctx, cred.Path); err != nil {
			return ids, err
		}
		ids = append(ids, cred.ID)
	}
	return ids, nil
}

func (c *Cache) remove(ctx context.Context, path string) error {
	release, err := c.lock(ctx, filepath.Dir(path))
	if err != nil {
		return err
	}
	defer release()
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return cannotWrite(path, err)
	}
	return nil
}
