package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"pdpp"
	"pdpp/internal/blobfile"
	"pdpp/internal/instance"
	"pdpp/internal/osfile"
)

// backupCommand is `pdpp backup` (H-29).
type backupCommand struct {
	Folder          string `arg:"" help:"New folder for the copy."`
	InstanceKeyFile string `placeholder:"FILE" var:"PDPP_INSTANCE_KEY_FILE" help:"Key of this instance (default: instance.key in the data folder)."`
	jsonFlag
}

// backupAnswer is the object of H-29.
type backupAnswer struct {
	Folder        string `json:"folder"`
	DatabaseBytes int64  `json:"database_bytes"`
	Blobs         int64  `json:"blobs"`
	BlobBytes     int64  `json:"blob_bytes"`
	DamagedBlobs  int64  `json:"damaged_blobs"`
}

// Run implements the command. The copy gets its final name when it is complete, so that an
// interrupted copy is not mistaken for a backup.
func (c *backupCommand) Run(ctx context.Context, a *app) error {
	if err := a.haveStore(); err != nil {
		return err
	}
	if c.Folder == "" {
		return pdpp.Errorf(pdpp.CodeUsage, "The folder of the backup is missing. Name a new folder.")
	}
	if _, err := os.Lstat(c.Folder); !errors.Is(err, fs.ErrNotExist) {
		return &pdpp.Error{Code: pdpp.CodeCannotCreate, Message: c.Folder + " already exists.", Hint: "Name a new folder. A backup overwrites nothing."}
	}
	target, err := filepath.Abs(c.Folder)
	if err != nil {
		return err
	}
	partial := target + ".partial"
	if err := os.Mkdir(partial, 0o700); err != nil {
		hint := "Create the folder " + filepath.Dir(target) + " first, or name another one."
		switch {
		case errors.Is(err, fs.ErrExist):
			hint = "If an interrupted backup left it, remove it."
		case errors.Is(err, fs.ErrPermission):
			hint = "Name a folder where this user may write."
		}
		return &pdpp.Error{Code: pdpp.CodeCannotCreate, Message: "The folder " + partial + " cannot be created.", Hint: hint, Err: err}
	}
	answer, err := c.copyAll(ctx, a, partial)
	if err == nil {
		err = errors.Join(osfile.SyncFolder(partial), os.Rename(partial, target), osfile.SyncFolder(filepath.Dir(target)))
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(partial))
	}
	answer.Folder = target
	return c.report(a, answer)
}

// copyAll copies the store, then its key and the blobs. In this order the copy has every
// blob that its store refers to (H-4).
func (c *backupCommand) copyAll(ctx context.Context, a *app, to string) (answer backupAnswer, err error) {
	dir, err := a.dataFolder()
	if err != nil {
		return answer, err
	}
	st, err := a.openStore(ctx, dir)
	if err != nil {
		return answer, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	key, err := instance.KnownKey(ctx, st, dir, c.InstanceKeyFile)
	if err != nil {
		return answer, err
	}
	file := filepath.Join(to, instance.StoreFile)
	db, ok := st.(copier)
	if !ok {
		return answer, pdpp.Errorf(pdpp.CodeUsage, "pdpp cannot copy %s. Use the backup program of the database.", st.Describe())
	}
	if err := db.CopyTo(ctx, file); err != nil {
		return answer, err
	}
	info, err := os.Stat(file)
	if err != nil {
		return answer, err
	}
	answer.DatabaseBytes = info.Size()
	if key != nil {
		if err := instance.PutKey(to, key); err != nil {
			return answer, err
		}
	}
	return answer, a.withBlobs(to, func(into *blobfile.Store) error {
		return a.withBlobsAsIs(dir, func(from *blobfile.Store) error { return answer.copyBlobs(ctx, from, into) })
	})
}

// copyBlobs copies every blob. It skips and counts blobs whose bytes no longer match their
// hash, because the others are still worth keeping.
func (b *backupAnswer) copyBlobs(ctx context.Context, from, into *blobfile.Store) error {
	var failed error
	err := from.All(func(owner int64, hash string, size int64, _ time.Time) bool {
		f, _, err := from.Open(owner, hash)
		if pdpp.CodeOf(err) == pdpp.CodeNotFound {
			return true // removed by a sweep in the meantime
		}
		if err != nil {
			failed = err
			return false
		}
		defer f.Close()
		put, err := into.Put(ctx, owner, f, size)
		switch {
		case err != nil:
			failed = err
		case put.SHA256 != hash:
			b.DamagedBlobs++
			failed = into.Remove(owner, put.SHA256)
		default:
			b.Blobs++
			b.BlobBytes += put.Size
		}
		return failed == nil
	})
	return errors.Join(err, failed)
}

func (c *backupCommand) report(a *app, b backupAnswer) error {
	answer := func() error {
		if c.JSON {
			return a.printJSON(b)
		}
		return a.print("Copied the store (" + thousands(b.DatabaseBytes) + " bytes) and " + count(b.Blobs, "blob", "blobs") +
			" (" + thousands(b.BlobBytes) + " bytes) to " + b.Folder + ".\nThe copy is a data folder. To serve it, run: " + a.self() + " --data " + quote(b.Folder) + " serve\n")
	}
	err := answer()
	if b.DamagedBlobs > 0 {
		a.note("pdpp: %s damaged and not in the copy.", count(b.DamagedBlobs, "blob is", "blobs are"))
		return errors.Join(err, errReported)
	}
	return err
}
