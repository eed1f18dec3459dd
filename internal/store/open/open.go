package open

import (
	"context"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"pdpp"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlite"
)

// Store opens the store at a location, as far as opts allow. Without opts.Create, a
// missing store is store.ErrNoStore; without opts.Migrate, a store with an older
// schema is store.ErrOlder. Neither error changes anything.
func Store(ctx context.Context, location string, opts store.OpenOptions) (store.Store, error) {
	dir, err := Folder(location)
	if err != nil {
		return nil, err
	}
	db, err := sqlite.OpenAs(ctx, dir, opts)
	if err != nil {
		return nil, err // not db, which is a nil pointer in a non-nil interface
	}
	return db, nil
}

// schemes are the schemes of URLs without slashes that people try. Other names with a
// colon are folders.
var schemes = []string{"sqlite", "sqlite3", "file", "postgres", "postgresql"}

// Folder returns the data folder of a location. It fails with CodeUsage when the
// location is a URL that no store of this program has.
func Folder(location string) (string, error) {
	scheme, _, _ := strings.Cut(location, ":")
	if !strings.Contains(location, "://") && !slices.Contains(schemes, scheme) {
		return location, nil
	}
	u, err := url.Parse(location)
	if err != nil || u.String() != "sqlite://"+u.EscapedPath() || u.Path == "" {
		return "", &pdpp.Error{ // without the location, which may contain a password
			Code: pdpp.CodeUsage, Message: "This program cannot open the store at this " + scheme + ": URL.",
			Hint: "Name a folder, such as my-data, or a URL of the form sqlite:///folder. The store is the file pdpp.db in that folder.",
		}
	}
	return filepath.FromSlash(u.Path), nil
}
