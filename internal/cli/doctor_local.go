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
	"pdpp/internal/store"
)

// lookHere checks the data folder and the settings that serve would start with (H-25).
func (a *app) lookHere(ctx context.Context) []doctor.Check {
	serve, err := a.serveSettings()
	if err != nil {
		return []doctor.Check{wrong("settings", err)}
	}
	checks := a.lookAtFolder(ctx, serve.InstanceKeyFile)
	return append(checks,
		doctor.Check{ID: "password", Status: doctor.Skip, Detail: "This version has no owner pages, hence no password."},
		a.lookAtSettings(serve))
}

// serveSettings are the settings of serve as the environment has them.
func (a *app) serveSettings() (*serveCommand, error) {
	root := new(commands)
	parser, err := newParser(root, a.Env)
	if err != nil {
		return nil, err
	}
	if _, err := parser.Parse([]string{"serve"}); err != nil {
		return nil, pdpp.Errorf(pdpp.CodeUsage, "%s", parseMessage(err, []string{"serve"}))
	}
	return &root.Serve, nil
}

func (a *app) lookAtSettings(c *serveCommand) doctor.Check {
	svc, err := c.service(a)
	if err == nil {
		err = httpx.CheckSettings(httpx.Settings{
			Listen: c.Listen, TLS: svc.cert != nil, AllowPlainHTTP: c.AllowPlainHTTP, Edge: svc.edge,
		})
	}
	if err != nil {
		return wrong("settings", err)
	}
	return doctor.Check{
		ID: "settings", Status: doctor.Pass,
		Detail: "serve would listen on " + c.Listen + ", its public origin " + orDerived(svc.edge.PublicURL) + ". Flags of a command line are not seen here.",
	}
}

func (a *app) lookAtFolder(ctx context.Context, keyFile string) (checks []doctor.Check) {
	dir, err := a.dataFolder()
	if err == nil {
		err = a.haveStore()
	}
	if err != nil {
		return slices.Concat(noStore("data_folder"), []doctor.Check{wrong("store", err)}, noStore("instance_key", "owners", "blobs"))
	}
	checks = append(checks, lookAtModes(dir))
	st, err := a.openStore(ctx, dir)
	if err == nil {
		defer st.Close()
		err = st.Check(ctx)
	}
	if err != nil {
		return slices.Concat(checks, []doctor.Check{wrong("store", err)}, noStore("instance_key", "owners", "blobs"))
	}
	return append(checks,
		doctor.Check{ID: "store", Status: doctor.Pass, Detail: st.Describe() + ", without damage."},
		lookAtKey(ctx, st, dir, keyFile), lookAtOwners(ctx, st), a.lookAtBlobs(ctx, st, dir))
}

// noStore are the checks that need a store that can be read.
func noStore(ids ...string) (checks []doctor.Check) {
	for _, id := range ids {
		checks = append(checks, doctor.Check{ID: id, Status: doctor.Skip, Detail: "There is no store to look at."})
	}
	return checks
}

// lookAtModes finds files that other users of the machine can read (H-4).
func lookAtModes(dir string) doctor.Check {
	c := doctor.Check{ID: "data_folder", Status: doctor.Pass, Detail: dir + " is private."}
	if runtime.GOOS == "windows" {
		c.Detail = dir + " is there."
		return c
	}
	for _, name := range []string{"", instance.StoreFile, instance.StoreFile + "-wal", instance.BlobFolder} {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return wrong("data_folder", err)
		}
		if info.Mode().Perm()&0o077 != 0 {
			c.Status, c.Detail, c.Fix = doctor.Warn, path+" is open to other users of this machine.", "chmod go-rwx "+path
			return c
		}
	}
	return c
}

func lookAtKey(ctx context.Context, st store.Store, dir, file string) doctor.Check {
	key, err := instance.KnownKey(ctx, st, dir, file)
	switch {
	case err != nil:
		return wrong("instance_key", err)
	case key == nil:
		return doctor.Check{ID: "instance_key", Status: doctor.Skip, Detail: "The store has no key yet.", Fix: "pdpp serve takes the one in the folder, or makes one, when it first starts."}
	}
	if path := instance.OpenKey(dir, file); path != "" {
		return doctor.Check{ID: "instance_key", Status: doctor.Warn, Detail: "Other users of this machine can read " + path + ".", Fix: "chmod 600 " + path}
	}
	return doctor.Check{ID: "instance_key", Status: doctor.Pass, Detail: "The key belongs to this store."}
}

func lookAtOwners(ctx context.Context, st store.Store) doctor.Check {
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
		return wrong("owners", err)
	}
	c := doctor.Check{
		ID: "owners", Status: doctor.Pass,
		Detail: count(int64(len(owners)), "owner", "owners") + ", " + count(int64(connections), "connection", "connections") + ".",
	}
	if connections == 0 {
		c.Status, c.Fix = doctor.Warn, "Nothing is connected: pdpp ingest or pdpp import takes data in."
	}
	return c
}

// lookAtBlobs finds files of blobs that the store does not know: it may be an older one.
func (a *app) lookAtBlobs(ctx context.Context, st store.Store, dir string) doctor.Check {
	var found ingest.UnknownBlobs
	err := a.withBlobsAsIs(dir, func(files *blobfile.Store) (err error) {
		found, err = ingest.FindUnknownBlobs(ctx, st, files, a.Now())
		return err
	})
	switch {
	case err != nil:
		return wrong("blobs", err)
	case found.Files > 0:
		return doctor.Check{ID: "blobs", Status: doctor.Warn, Detail: "Found " + unknownText(found) + ".", Fix: unknownAdvice(found, dir)}
	}
	return doctor.Check{ID: "blobs", Status: doctor.Pass, Detail: noUnknownBlobs}
}

// wrong is a check that failed with an error.
func wrong(id string, err error) doctor.Check {
	shown, cause := describe(err)
	c := doctor.Check{ID: id, Status: doctor.Fail, Detail: shown.Message, Fix: shown.Hint}
	if cause != nil {
		c.Detail += " Cause: " + cause.Error() + "."
	}
	return c
}
