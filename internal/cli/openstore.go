package cli

import (
	"context"
	"errors"

	"pdpp"
	"pdpp/internal/instance"
	"pdpp/internal/store"
	"pdpp/internal/store/open"
)

// What only some kinds of stores can do.
type (
	cacheLimiter interface{ LimitCache(bytes int64) error }
	checker      interface{ Check(context.Context) error }
	copier       interface {
		CopyTo(ctx context.Context, path string) error
	}
	replaceable interface{ Replaced() <-chan struct{} }
)

// openStore opens the store of a data folder. It creates a store only in a folder
// without a key, blobs or a log: beside these, the store was lost and has to be restored
// (H-4). Only the flag --new-store of `owner create`, which no start script of a server
// has, creates one there. It migrates an older store only while no server uses it,
// because that server may be an older program (H-5).
func (a *app) openStore(ctx context.Context, dir string) (store.Store, error) {
	st, err := a.openStoreAs(ctx, dir, store.OpenOptions{})
	if !errors.Is(err, store.ErrOlder) {
		return st, err
	}
	lock, err := instance.Acquire(dir)
	if pdpp.CodeOf(err) == pdpp.CodeBusy {
		return nil, &pdpp.Error{
			Code: pdpp.CodeBusy, Message: "The store is of an older version, and a server uses it: it cannot be brought up to date now.",
			Hint: "Stop the server, or use the program that the server is.", Err: err,
		}
	}
	if err != nil {
		return nil, err
	}
	defer lock.Release()
	return a.openStoreAs(ctx, dir, store.OpenOptions{Migrate: true})
}

// openStoreAs is like openStore, with the changes that opts allow.
func (a *app) openStoreAs(ctx context.Context, dir string, opts store.OpenOptions) (store.Store, error) {
	left, err := instance.Remains(dir)
	if err != nil {
		return nil, err
	}
	opts.Create = left == "" || a.newStore
	st, err := open.Store(ctx, dir, opts)
	if errors.Is(err, store.ErrNoStore) {
		return nil, a.lostStore(dir, left)
	}
	return st, err
}

// lostStore says that a folder holds something of a store, but not the store.
func (a *app) lostStore(dir, left string) error {
	return &pdpp.Error{
		Code:    pdpp.CodeNotConfigured,
		Message: "There is no store in " + dir + ", but " + left + " of one: pdpp.db is missing or empty.",
		Hint:    "Put pdpp.db back, best the whole folder from a backup. To begin anew, name another folder with --data, or run: " + a.command("owner create NAME --new-store"),
	}
}
