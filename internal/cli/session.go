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

// defaultOwner is the owner a store gets on first use (H-7).
const defaultOwner = "owner"

// session is an open store and the owner the command is about.
type session struct {
	store store.Store
	owner store.Subject
}

// withStore opens the store of the data folder, up to date (H-5), for the time
// of fn.
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

// withBlobs opens the blobs of a data folder for the time of fn.
func (a *app) withBlobs(dir string, fn func(*blobfile.Store) error) error {
	blobs, err := blobfile.Open(filepath.Join(dir, instance.BlobFolder), a.Now())
	if err != nil {
		return err
	}
	return errors.Join(fn(blobs), blobs.Close())
}

// withBlobsAsIs opens the blobs of a data folder for a command that looks at them, or
// removes some; fn is not called when there never were any.
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

// haveStore refuses a folder without a store, so that a mistyped one is noticed
// and not filled.
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
		return lostStore(dir, left)
	}
	return &pdpp.Error{
		Code: pdpp.CodeInputMissing, Message: "There is no store in " + dir + ".",
		Hint: "Name another folder with --data, or make a store: ingest and import with --manifest, connections add, owner create, serve.",
	}
}

// withKnownOwner is withOwner for commands that look at what is there.
func (a *app) withKnownOwner(ctx context.Context, fn func(session) error) error {
	if err := a.haveStore(); err != nil {
		return err
	}
	return a.withOwner(ctx, fn)
}

// withOwner is withStore for commands about one owner.
func (a *app) withOwner(ctx context.Context, fn func(session) error) error {
	return a.withStore(ctx, func(st store.Store) error {
		owner, err := a.findOwner(ctx, st, a.Owner)
		if err != nil {
			return err
		}
		return fn(session{st, owner})
	})
}

// findOwner finds the owner of that name, or the only one when name is ""; a store
// without owners gets one (H-7).
func (a *app) findOwner(ctx context.Context, st store.Store, name string) (store.Subject, error) {
	var owners []store.Subject
	err := st.View(ctx, func(v store.View) (err error) {
		owners, err = v.Subjects()
		return err
	})
	if err == nil && len(owners) == 0 {
		err = st.Update(ctx, func(tx store.Tx) error {
			owners, err = tx.Subjects()
			if err != nil || len(owners) > 0 {
				return err // another process was faster
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
	known := strings.Join(names, ", ")
	if name == "" {
		return store.Subject{}, &pdpp.Error{
			Code: pdpp.CodeUsage, Message: "This store has several owners.", Hint: "Choose one with --owner: " + known + ".",
		}
	}
	return store.Subject{}, &pdpp.Error{
		Code: pdpp.CodeUsage, Message: fmt.Sprintf("There is no owner %q.", name), Hint: "There is: " + known + ".",
	}
}

// noOwner refuses --owner where it would mean nothing (H-6).
func (a *app) noOwner(command string) error {
	if a.Owner == "" {
		return nil
	}
	return pdpp.Errorf(pdpp.CodeUsage, "--owner means nothing to %s.", command)
}

// insist updates the store and, unlike other commands, waits up to a minute while
// another process writes: taking rights back must not fail because of an import.
func (s session) insist(ctx context.Context, fn func(store.Tx) error) error {
	const tries = 12 // each waits for the lock for five seconds
	var err error
	for range tries {
		if err = s.store.Update(ctx, fn); pdpp.CodeOf(err) != pdpp.CodeBusy {
			return err
		}
	}
	return err
}
