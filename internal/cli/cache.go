package cli

import (
	"context"
	"path/filepath"
	"runtime"

	"pdpp"
	"pdpp/internal/credential"
)

// cacheFlag says where credentials are kept (H-202).
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
				Code: pdpp.CodeNotConfigured, Message: "There is no folder for credentials: the home folder is not known.",
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

// saver gives what writes a new credential where --save-credential says, and tells its
// file (H-27). What can be wrong with the flags is found before there is a token.
func (a *app) saver(url string, f cacheFlag) (func(context.Context, *credential.Credential) (string, error), error) {
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

// configFolder is where a platform keeps the settings of a user's programs; "" when
// that is not known. A relative folder would depend on where a host starts us.
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
