package cli

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"

	"pdpp"
	"pdpp/internal/credential"
	"pdpp/internal/httpx"
	"pdpp/internal/instance"
	"pdpp/internal/setup"
	"pdpp/internal/store/open"
)

// demoCommand is `pdpp demo`: a server with invented data, and commands to try.
type demoCommand struct {
	Listen string `placeholder:"ADDR" help:"Address to listen on (default: 127.0.0.1:7663, or the next free port)."`
	Reset  bool   `help:"Delete the invented data and build it again."`
	Tour   bool   `help:"Print a long list of commands to try, each with a part of its answer."`
}

const (
	demoHost = "127.0.0.1"
	demoPort = 7663
	// demoTries is the number of ports to try without --listen.
	demoTries = 20
	// demoMark is a file that marks a folder whose data is invented.
	demoMark = "DEMO"
	// demoCache is the folder of the demo's credential. It is inside the demo's folder and
	// not in the user's cache, so that deleting the demo deletes all of it.
	demoCache = "credentials"
)

// Run implements the command.
func (c *demoCommand) Run(ctx context.Context, a *app) error {
	dir, err := c.folder(a)
	if err != nil {
		return err
	}
	_, flush := a.startLogPipe("text")
	defer flush()
	svc := &service{edge: &httpx.Edge{}, rate: httpx.DefaultRate, memory: defaultMemory, providerName: "Mara's data (demo)", registration: true, documents: clientDocuments(), clock: a.Now}
	svc.log = newLogger(a.Stderr, "text", slog.LevelWarn.String())
	if err := c.prepare(dir); err != nil {
		return err
	}
	err = a.openInstance(ctx, dir, "", func(in opened) error {
		svc.opened = in
		d, err := a.buildDemo(ctx, in)
		if err != nil {
			return err
		}
		ln, err := c.listener(ctx, a, svc.edge)
		if err != nil {
			return err
		}
		t := tour{
			url: "http://" + ln.Addr().String(), dir: dir, program: program(a.Program),
			demo: d, color: a.color && isTerminal(a.Stdout),
		}
		t.adapter = setup.Place{Base: t.url, Program: absoluteProgram(a.Program), CacheRoot: filepath.Join(dir, demoCache), Connected: true}
		if err := a.saveDemo(ctx, d.client, t.adapter); err != nil {
			return errors.Join(err, ln.Close())
		}
		text := t.text()
		if !c.Tour {
			if text, err = t.welcome(ctx, svc); err != nil {
				return errors.Join(err, ln.Close())
			}
		}
		if err := a.print(text); err != nil {
			return errors.Join(err, ln.Close())
		}
		return svc.run(ctx, ln)
	})
	if err == nil {
		facts(a.Stderr, "text", [][2]string{{"stopped"}})
	}
	return err
}

// saveDemo saves the credential of this start and removes those of earlier starts. A
// running adapter of an assistant finds the new one (MS-267).
func (a *app) saveDemo(ctx context.Context, client *newGrant, at setup.Place) error {
	cache := a.cacheIn(at.CacheRoot)
	earlier, err := cache.All()
	if err != nil {
		return err
	}
	for _, cred := range earlier {
		if _, err := cache.Forget(ctx, cred.Provider, cred.ID); err != nil {
			return err
		}
	}
	provider, err := credential.Provider(at.Base)
	if err != nil {
		return err
	}
	cred := client.credential()
	cred.Provider, cred.Resource = provider, provider
	return cache.Put(ctx, cred)
}

// folder returns the demo's folder. It ignores PDPP_DATA_DIR, which names the folder of
// the owner's real data.
func (c *demoCommand) folder(a *app) (string, error) {
	dir, err := open.Folder(a.Data)
	if dir == "" && err == nil {
		dir, err = platformFolder(runtime.GOOS, a.Getenv, "pdpp-demo")
	}
	if err == nil {
		dir, err = filepath.Abs(dir) // the printed commands work from anywhere
	}
	return dir, err
}

// prepare marks a new folder as the demo's and refuses a folder with other data.
func (c *demoCommand) prepare(dir string) error {
	mark := filepath.Join(dir, demoMark)
	if _, err := os.Stat(mark); err != nil {
		left, err := instance.Remains(dir)
		if err != nil {
			return err
		}
		if left != "" || instance.Exists(dir) {
			return &pdpp.Error{
				Code: pdpp.CodeNotConfigured, Message: dir + " contains other data, which the demo must not change.",
				Hint: "Choose another folder with --data, or omit --data.",
			}
		}
		if err := instance.Prepare(dir); err != nil {
			return err
		}
		if err := os.WriteFile(mark, []byte("Everything in this folder is invented. It can be deleted.\n"), 0o600); err != nil {
			return &pdpp.Error{Code: pdpp.CodeCannotCreate, Message: dir + " cannot be written.", Hint: "Choose another folder with --data.", Err: err}
		}
	}
	if c.Reset {
		return resetDemo(dir)
	}
	return nil
}

// resetDemo deletes the invented data, unless it is being served.
func resetDemo(dir string) error {
	lock, err := instance.Acquire(dir)
	if err != nil {
		return err
	}
	defer lock.Release()
	for _, name := range []string{instance.StoreFile, instance.StoreFile + "-wal", instance.StoreFile + "-shm", "instance.key", instance.BlobFolder, demoCache} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return &pdpp.Error{Code: pdpp.CodeCannotCreate, Message: "The demo data cannot be deleted.", Hint: "Delete the folder " + dir + ", or choose another one with --data.", Err: err}
		}
	}
	return nil
}

// listener listens on the address of --listen, or on the first free port.
func (c *demoCommand) listener(ctx context.Context, a *app, edge *httpx.Edge) (net.Listener, error) {
	if c.Listen != "" {
		if err := httpx.CheckSettings(httpx.Settings{Listen: c.Listen, Edge: edge}); err != nil {
			return nil, err
		}
		return listen(ctx, c.Listen, "--listen")
	}
	for port := demoPort; ; port++ {
		addr := net.JoinHostPort(demoHost, strconv.Itoa(port))
		ln, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
		if err == nil {
			if port > demoPort {
				a.note("pdpp: port %d is in use; the demo uses %d", demoPort, port)
			}
			return ln, nil
		}
		if !isTaken(err) || port == demoPort+demoTries {
			return listen(ctx, addr, "--listen")
		}
	}
}

// program returns the word that runs this program in a shell: its name if the shell finds
// it, otherwise its full path.
func program(called string) string {
	if found, err := exec.LookPath("pdpp"); err == nil {
		self, err := os.Executable()
		if err == nil && sameFile(found, self) {
			return "pdpp"
		}
	}
	return absoluteProgram(called)
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}
