package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"pdpp"
	"pdpp/internal/blobfile"
	"pdpp/internal/instance"
	"pdpp/internal/store"
)

// defaultOwner is the name of the owner that a new store gets on first use (H-7).
const defaultOwner = "owner"

// session is an open store and the owner of a command.
type session struct {
	store store.Store
	owner store.Subject
}

// withStore opens the store of the data folder, migrates it if necessary (H-5), calls fn
// and closes it. It creates a store in an empty folder.
func (a *app) withStore(ctx context.Context, fn func(store.Store) error) error {
	dir, err := a.dataFolder()
	if err != nil {
		return err
	}
	if err := instance.Prepare(dir); err != nil {
		return err
	}
	st, err := a.openStore(ctx, dir)
	if err != nil {
		return err
	}
	return errors.Join(fn(st), st.Close())
}

// withBlobs opens the blobs of a data folder, calls fn and closes them.
func (a *app) withBlobs(dir string, fn func(*blobfile.Store) error) error {
	blobs, err := blobfile.Open(filepath.Join(dir, instance.BlobFolder), a.Now())
	if err != nil {
		return err
	}
	return errors.Join(fn(blobs), blobs.Close())
}

// withBlobsAsIs opens the blobs of a data folder for a command that only reads or removes
// them. It does not call fn when the folder has no blobs.
func (a *app) withBlobsAsIs(dir string, fn func(*blobfile.Store) error) error {
	blobs, err := blobfile.OpenAsIs(filepath.Join(dir, instance.BlobFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(fn(blobs), blobs.Close())
}

// haveStore returns an error if the data folder has no store, so that a mistyped folder is
// not filled.
func (a *app) haveStore() error {
	dir, err := a.dataFolder()
	if err != nil || instance.Exists(dir) {
		return err
	}
	left, err := instance.Remains(dir)
	switch {
	case err != nil:
		return err
	case left != "":
		return a.lostStore(dir, left)
	}
	return &pdpp.Error{
		Code: pdpp.CodeInputMissing, Message: "There is no store in " + dir + ".",
		Hint: "Name another folder with --data, or create a store: ingest and import with --manifest, connections add, owner create, serve.",
	}
}

// withExistingOwner is like withOwner, for commands that must not create a store.
func (a *app) withExistingOwner(ctx context.Context, fn func(session) error) error {
	if err := a.haveStore(); err != nil {
		return err
	}
	return a.withOwner(ctx, fn)
}

// withOwner is like withStore, for commands about one owner.
func (a *app) withOwner(ctx context.Context, fn func(session) error) error {
	return a.withStore(ctx, func(st store.Store) error {
		owner, err := a.findOwner(ctx, st, a.Owner)
		if err != nil {
			return err
		}
		return fn(session{st, owner})
	})
}

// findOwner returns the owner with a name, or the only one when name is "". It creates an
// owner in a store without owners (H-7).
func (a *app) findOwner(ctx context.Context, st store.Store, name string) (store.Subject, error) {
	owners, err := listOwners(ctx, st)
	if err == nil && len(owners) == 0 {
		err = st.Update(ctx, func(tx store.Tx) error {
			owners, err = tx.Subjects()
			if err != nil || len(owners) > 0 {
				return err // another process created it
			}
			first, err := tx.CreateSubject(defaultOwner, a.Now())
			owners = []store.Subject{first}
			return err
		})
	}
	if err != nil {
		return store.Subject{}, err
	}
	return chooseOwner(owners, name)
}

func chooseOwner(owners []store.Subject, name string) (store.Subject, error) {
	if name == "" && len(owners) == 1 {
		return owners[0], nil
	}
	var names []string
	for _, o := range owners {
		if o.Name == name {
			return o, nil
		}
		names = append(names, o.Name)
	}
	message := "This store has several owners."
	if name != "" {
		message = fmt.Sprintf("There is no owner %q.", name)
	}
	return store.Subject{}, &pdpp.Error{Code: pdpp.CodeUsage, Message: message, Hint: "Choose one with --owner: " + strings.Join(names, ", ") + "."}
}

// changeRights updates the store. Changes of rights have audit rows (H-197).
func (s session) changeRights(ctx context.Context, fn func(store.Tx) error) error {
	return s.store.Update(ctx, store.Audited(store.Cause{Actor: store.ByOperator}, fn))
}

// revokeRights is changeRights for revocations. Unlike other commands it waits up to a
// minute while another process writes, because a revocation must not fail during an import.
func (s session) revokeRights(ctx context.Context, fn func(store.Tx) error) error {
	const tries = 12 // each waits for the lock for five seconds
	var err error
	for range tries {
		if err = s.changeRights(ctx, fn); pdpp.CodeOf(err) != pdpp.CodeBusy {
			return err
		}
	}
	return err
}
