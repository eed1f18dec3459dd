package credential

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"pdpp"
)

// Choose finds the credential of a provider (H-204): that of a grant, or of the last
// connect when grant is "". It makes no call. CodeNotConnected, CodeGrantNotFound,
// CodeCredentialInvalid, CodeCredentialExpired and CodeOwnerCredential say what is
// wrong.
func (c *Cache) Choose(provider, grant string) (*Credential, error) {
	all, err := c.of(provider)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, pdpp.Errorf(pdpp.CodeNotConnected, "There is no credential for %s in %s.", provider, c.Root)
	}
	var chosen *Credential
	for _, cred := range all {
		if grant != "" && cred.ID == grant || grant == "" && (chosen == nil || cred.CreatedAt.After(chosen.CreatedAt)) {
			chosen = cred
		}
	}
	if chosen == nil {
		return nil, pdpp.Errorf(pdpp.CodeGrantNotFound, "There is no credential of grant %q for %s. There is: %s.", grant, provider, summary(all))
	}
	return chosen, c.check(chosen, provider)
}

// check refuses a credential that cannot read (MS-265).
func (c *Cache) check(cred *Credential, provider string) error {
	switch {
	case cred.Provider != provider:
		return refused(cred.Path, "is for "+cred.Provider)
	case cred.Kind == string(pdpp.TokenPackage):
		return refused(cred.Path, "is a package's, which this program cannot read yet; use the credential of one grant")
	case cred.Status == statusReconnect:
		return expired(cred, "was ended by the provider")
	case cred.over(c) && cred.Refresh == "":
		return expired(cred, "ended on "+pdpp.FormatTime(cred.ExpiresAt))
	}
	return nil
}

// over reports whether the access token has ended.
func (cred *Credential) over(c *Cache) bool {
	return !cred.ExpiresAt.IsZero() && !c.Now().Before(cred.ExpiresAt)
}

func expired(cred *Credential, why string) error {
	return pdpp.Errorf(pdpp.CodeCredentialExpired, "The credential of grant %s for %s %s.", cred.ID, cred.Provider, why)
}

// summary lists credentials without their secrets.
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

// Sources are the connectors that the grant is about, as its details name them.
func (cred *Credential) Sources() []string {
	var details []object
	if json.Unmarshal(cred.Details, &details) != nil {
		return nil
	}
	var out []string
	for _, d := range details {
		if s := d.inner("source").text("connector_key"); s != "" {
			out = append(out, s)
		} else if s := d.inner("source").text("id"); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// of reads every credential of a provider, by name.
func (c *Cache) of(provider string) ([]*Credential, error) {
	return c.in(c.folder(provider))
}

// in reads every credential of a folder. Folders that are not there are empty.
func (c *Cache) in(dir string) ([]*Credential, error) {
	for _, d := range []string{filepath.Dir(dir), dir} {
		err := c.trusted(d, fs.ModeDir)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []*Credential
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || !strings.HasSuffix(e.Name(), suffix) {
			continue
		}
		cred, err := c.read(filepath.Join(dir, e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed in the meantime
		}
		if err != nil {
			return nil, err
		}
		out = append(out, cred)
	}
	return out, nil
}

// All reads every credential of the cache. A folder that cannot be used is skipped,
// with a warning: the others can.
func (c *Cache) All() ([]*Credential, error) {
	dir := filepath.Join(c.Root, "clients")
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var out []*Credential
	for _, e := range entries {
		creds, err := c.in(filepath.Join(dir, e.Name()))
		var refusal *pdpp.Error
		if errors.As(err, &refusal) {
			c.Warn(refusal.Message)
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, creds...)
	}
	return out, nil
}

// Forget removes the credential of a grant, or all of a provider when grant is "",
// and gives their ids.
func (c *Cache) Forget(ctx context.Context, provider, grant string) ([]string, error) {
	all, err := c.of(provider)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, cred := range all {
		if cred.Provider != provider || grant != "" && cred.ID != grant {
			continue
		}
		if err := c.remove(ctx, cred); err != nil {
			return ids, err
		}
		ids = append(ids, cred.ID)
	}
	return ids, nil
}

func (c *Cache) remove(ctx context.Context, cred *Credential) error {
	dir := filepath.Dir(cred.Path)
	release, err := c.lock(ctx, dir)
	if err != nil {
		return err
	}
	defer release()
	if err := os.Remove(cred.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return cannotWrite(cred.Path, err)
	}
	return nil
}
