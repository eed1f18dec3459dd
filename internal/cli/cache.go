package cli

import (
	"context"
	"path/filepath"
	"runtime"

	"pdpp"
	"pdpp/internal/credential"
)

// cacheFlag names the folder of the saved credentials (H-202).
type cacheFlag struct {
	CacheRoot string `var:"PDPP_CACHE_ROOT" placeholder:"DIR" help:"Folder of the saved credentials (default: pdpp in the user's configuration folder)."`
}

// cache opens the credential cache.
func (a *app) cache(f cacheFlag) (*credential.Cache, error) {
	root := f.CacheRoot
	if root == "" {
		base := configFolder(runtime.GOOS, a.Getenv)
		if base == "" {
			return nil, &pdpp.Error{
				Code: pdpp.CodeNotConfigured, Message: "There is no folder for credentials: the home folder is unknown.",
				Hint: "Name a folder with --cache-root DIR.",
			}
		}
		root = filepath.Join(base, "pdpp")
	}
	return a.cacheIn(root), nil
}

// cacheFor opens the credential cache for a server.
func (a *app) cacheFor(url string, f cacheFlag) (provider string, cache *credential.Cache, err error) {
	if provider, err = credential.Provider(url); err != nil {
		return "", nil, err
	}
	cache, err = a.cache(f)
	return provider, cache, err
}

// credentialSaver returns a function that saves a new credential for the server of
// --save-credential and returns its file (H-27). Wrong flags are reported here, before
// a token exists.
func (a *app) credentialSaver(url string, f cacheFlag) (func(context.Context, *credential.Credential) (string, error), error) {
	if url == "" {
		return func(context.Context, *credential.Credential) (string, error) { return "", nil }, nil
	}
	provider, cache, err := a.cacheFor(url, f)
	return func(ctx context.Context, cred *credential.Credential) (string, error) {
		cred.Provider, cred.Resource = provider, provider
		if err := cache.Put(ctx, cred); err != nil {
			return "", err
		}
		return cred.Path, nil
	}, err
}

func (a *app) cacheIn(root string) *credential.Cache {
	return &credential.Cache{Root: root, Now: a.Now, Warn: func(m string) { a.note("pdpp: %s", m) }}
}

// configFolder returns the folder in which a platform keeps the settings of a user's
// programs; "" when it is unknown. A relative XDG_CONFIG_HOME is ignored: it would depend
// on the folder in which the host starts this program.
func configFolder(goos string, getenv func(string) string) string {
	switch goos {
	case "windows":
		return getenv("AppData")
	case "darwin", "ios":
		return under(getenv("HOME"), "Library", "Application Support")
	}
	if dir := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	return under(getenv("HOME"), ".config")
}
