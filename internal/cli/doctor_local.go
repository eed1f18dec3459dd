package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"pdpp"
	"pdpp/internal/blobfile"
	"pdpp/internal/doctor"
	"pdpp/internal/httpx"
	"pdpp/internal/ingest"
	"pdpp/internal/instance"
	"pdpp/internal/signin"
	"pdpp/internal/store"
)

// checkLocal checks the data folder and the settings of serve in the environment (H-25).
func (a *app) checkLocal(ctx context.Context) []doctor.Check {
	serve, err := a.serveSettings()
	if err != nil {
		return []doctor.Check{failed("settings", err)}
	}
	return append(a.checkFolder(ctx, serve.InstanceKeyFile), a.checkSettings(serve))
}

// serveSettings returns the settings of serve from the environment.
func (a *app) serveSettings() (*serveCommand, error) {
	root := new(commands)
	parser, err := newParser(root, a.Env)
	if err != nil {
		return nil, err
	}
	if _, err := parser.Parse([]string{"serve"}); err != nil {
		return nil, pdpp.Errorf(pdpp.CodeUsage, "%s", parseMessage(err.Error()))
	}
	return &root.Serve, nil
}

func (a *app) checkSettings(c *serveCommand) doctor.Check {
	svc, err := c.service(a)
	if err == nil {
		err = httpx.CheckSettings(httpx.Settings{
			Listen: c.Listen, TLS: svc.cert != nil, AllowPlainHTTP: c.AllowPlainHTTP, Edge: svc.edge,
		})
	}
	if err != nil {
		return failed("settings", err)
	}
	return doctor.Check{
		ID: "settings", Status: doctor.Pass,
		Detail: "serve would listen on " + c.Listen + ", its public origin " + orDerived(svc.edge.PublicURL) + ". Flags of a command line are not checked.",
	}
}

func (a *app) checkFolder(ctx context.Context, keyFile string) (checks []doctor.Check) {
	dir, err := a.dataFolder()
	if err == nil {
		err = a.haveStore()
	}
	if err != nil {
		return slices.Concat(skipped("data_folder"), []doctor.Check{failed("store", err)}, skipped("instance_key", "owners", "blobs", "password"))
	}
	checks = append(checks, checkModes(dir))
	st, err := a.openStore(ctx, dir)
	if err == nil {
		defer st.Close()
		if db, ok := st.(checker); ok {
			err = db.Check(ctx)
		}
	}
	if err != nil {
		return slices.Concat(checks, []doctor.Check{failed("store", err)}, skipped("instance_key", "owners", "blobs", "password"))
	}
	return append(checks,
		doctor.Check{ID: "store", Status: doctor.Pass, Detail: st.Describe() + ", without damage."},
		checkKey(ctx, st, dir, keyFile), a.checkOwners(ctx, st), a.checkBlobs(ctx, st, dir), a.checkPasswords(ctx, st))
}

// skipped returns the results of checks that need a readable store.
func skipped(ids ...string) (checks []doctor.Check) {
	for _, id := range ids {
		checks = append(checks, doctor.Check{ID: id, Status: doctor.Skip, Detail: "There is no store to check."})
	}
	return checks
}

// checkModes finds files that other users of the machine can read (H-4).
func checkModes(dir string) doctor.Check {
	c := doctor.Check{ID: "data_folder", Status: doctor.Pass, Detail: dir + " is private."}
	if runtime.GOOS == "windows" {
		c.Detail = dir + " exists."
		return c
	}
	for _, name := range []string{"", instance.StoreFile, instance.StoreFile + "-wal", instance.BlobFolder} {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			c.Status, c.Detail, c.Fix = doctor.Fail, path+" cannot be read. Cause: "+err.Error()+".", "Run the doctor as the user who runs the server."
			return c
		}
		if info.Mode().Perm()&0o077 != 0 {
			c.Status, c.Detail, c.Fix = doctor.Warn, path+" is open to other users of this machine.", "chmod go-rwx "+path
			return c
		}
	}
	return c
}

func checkKey(ctx context.Context, st store.Store, dir, file string) doctor.Check {
	key, err := instance.KnownKey(ctx, st, dir, file)
	switch {
	case err != nil:
		return failed("instance_key", err)
	case key == nil:
		return doctor.Check{ID: "instance_key", Status: doctor.Skip, Detail: "The store has no key yet.", Fix: "The first start of serve uses the key in the folder, or creates one."}
	}
	if path := instance.OpenKey(dir, file); path != "" {
		return doctor.Check{ID: "instance_key", Status: doctor.Warn, Detail: "Other users of this machine can read " + path + ".", Fix: "chmod 600 " + path}
	}
	return doctor.Check{ID: "instance_key", Status: doctor.Pass, Detail: "The key belongs to this store."}
}

func (a *app) checkOwners(ctx context.Context, st store.Store) doctor.Check {
	var owners []store.Subject
	connections := 0
	err := st.View(ctx, func(v store.View) (err error) {
		if owners, err = v.Subjects(); err != nil {
			return err
		}
		for _, o := range owners {
			catalog, err := v.Catalog(o.ID)
			if err != nil {
				return err
			}
			connections += len(catalog.Connections)
		}
		return nil
	})
	if err != nil {
		return failed("owners", err)
	}
	c := doctor.Check{
		ID: "owners", Status: doctor.Pass,
		Detail: count(int64(len(owners)), "owner", "owners") + ", " + count(int64(connections), "connection", "connections") + ".",
	}
	if connections == 0 {
		c.Status, c.Fix = doctor.Warn, "There is no data yet. Store some with ingest or import; for help, run: "+a.self()+" help ingest"
	}
	return c
}

// checkPasswords finds owners who cannot sign in yet (H-13).
func (a *app) checkPasswords(ctx context.Context, st store.Store) doctor.Check {
	without, err := signin.FirstRunOwners(ctx, st)
	switch {
	case err != nil:
		return failed("password", err)
	case len(without) > 0:
		return doctor.Check{
			ID: "password", Status: doctor.Warn, Detail: plain(without[0].Name) + " has neither a password nor a passkey yet.",
			Fix: "Open the link that pdpp serve prints at its start, or run: " + a.command("owner reset"),
		}
	}
	return doctor.Check{ID: "password", Status: doctor.Pass, Detail: "Every owner has a password or a passkey."}
}

// checkBlobs finds blob files that the store does not know, a sign of an older store.
func (a *app) checkBlobs(ctx context.Context, st store.Store, dir string) doctor.Check {
	var found ingest.UnknownBlobs
	err := a.withBlobsAsIs(dir, func(files *blobfile.Store) (err error) {
		found, err = ingest.FindUnknownBlobs(ctx, st, files, a.Now())
		return err
	})
	switch {
	case err != nil:
		return failed("blobs", err)
	case found.Files > 0:
		return doctor.Check{ID: "blobs", Status: doctor.Warn, Detail: "Found " + unknownText(found) + ".", Fix: unknownAdvice(found, a.self(), dir)}
	}
	return doctor.Check{ID: "blobs", Status: doctor.Pass, Detail: noUnknownBlobs}
}

// failed returns the result of a check that ended with an error.
func failed(id string, err error) doctor.Check {
	shown, cause := describe(err)
	c := doctor.Check{ID: id, Status: doctor.Fail, Detail: shown.Message, Fix: shown.Hint}
	if cause != nil {
		c.Detail += " Cause: " + cause.Error() + "."
	}
	return c
}
