package cli

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"pdpp"
	"pdpp/internal/blobfile"
	"pdpp/internal/httpx"
	"pdpp/internal/instance"
	"pdpp/internal/signin"
	"pdpp/internal/store"
)

// serveCommand is `pdpp serve` (hosted-auth.md 1.3).
type serveCommand struct {
	Listen            string   `default:"127.0.0.1:7663" placeholder:"ADDR" var:"PDPP_LISTEN" help:"Address to listen on (default: ${default})."`
	PublicURL         string   `name:"public-url" placeholder:"URL" var:"PDPP_PUBLIC_URL" help:"Address people use, when it is always the same: scheme and host."`
	TrustedHosts      []string `placeholder:"LIST" var:"PDPP_TRUSTED_HOSTS" help:"Further host names this server answers to: name, name:port, *.suffix."`
	TrustedProxies    []string `placeholder:"CIDRS" var:"PDPP_TRUSTED_PROXIES" help:"Proxies whose forwarded headers are believed."`
	AllowedOrigins    []string `placeholder:"LIST" var:"PDPP_ALLOWED_ORIGINS" help:"Web pages that may read answers; * means any."`
	TLSCert           string   `name:"tls-cert" placeholder:"FILE" var:"PDPP_TLS_CERT" help:"Certificate; read again on SIGHUP."`
	TLSKey            string   `name:"tls-key" placeholder:"FILE" var:"PDPP_TLS_KEY" help:"Key of the certificate."`
	AllowPlainHTTP    bool     `name:"allow-plain-http" help:"Serve other machines without encryption."`
	ProviderName      string   `default:"Personal data" placeholder:"TEXT" var:"PDPP_PROVIDER_NAME" help:"What to call this server (default: ${default})."`
	OwnerPasswordFile string   `placeholder:"FILE" var:"PDPP_OWNER_PASSWORD_FILE" help:"File with the first password of the owner; read when there is none."`
	Registration      string   `enum:"open,off" default:"open" var:"PDPP_REGISTRATION" help:"Whether programs may register themselves as clients: open or off (default: ${default})."`
	ClientMetadata    string   `enum:"on,off" default:"on" var:"PDPP_CLIENT_METADATA" help:"Whether clients may name a document about themselves, which the server fetches: on or off (default: ${default})."`
	RateLimit         string   `default:"600/m" placeholder:"N/m" var:"PDPP_RATE_LIMIT" help:"Requests a minute per token, or off (default: ${default})."`
	Memory            string   `default:"512MB" placeholder:"SIZE" var:"PDPP_MEMORY" help:"Memory to use at most, 128MB or more (default: ${default})."`
	MetricsListen     string   `placeholder:"ADDR" var:"PDPP_METRICS_LISTEN" help:"Address for metrics, such as 127.0.0.1:9464; none by default."`
	InstanceKeyFile   string   `placeholder:"FILE" var:"PDPP_INSTANCE_KEY_FILE" help:"Key of this instance (default: instance.key in the data folder)."`
	LogFormat         string   `enum:"text,json" default:"text" var:"PDPP_LOG_FORMAT" help:"text or json."`
	LogLevel          string   `enum:"debug,info,warn,error" default:"info" var:"PDPP_LOG_LEVEL" help:"debug, info, warn or error."`
}

// Run implements the command: H-11, in its order.
func (c *serveCommand) Run(ctx context.Context, a *app) error {
	dropped, flush := a.startLogPipe(c.LogFormat)
	defer flush()
	svc, err := c.service(a)
	if err != nil {
		return err
	}
	svc.dropped = dropped
	svc.hangups = make(chan os.Signal, 1)
	signal.Notify(svc.hangups, syscall.SIGHUP) // before the migration, which a reload must not end
	defer signal.Stop(svc.hangups)
	dir, err := a.dataFolder()
	if err != nil {
		return err
	}
	err = a.openInstance(ctx, dir, c.InstanceKeyFile, func(in opened) error { return c.serve(ctx, a, svc, dir, in) })
	if err == nil {
		facts(a.Stderr, c.LogFormat, [][2]string{{"stopped"}})
	}
	return err
}

// serve serves an open data folder until ctx ends.
func (c *serveCommand) serve(ctx context.Context, a *app, svc *service, dir string, in opened) error {
	owner, err := c.ownerState(ctx, a, in.store)
	if err != nil {
		return err
	}
	err = httpx.CheckSettings(httpx.Settings{
		Listen: c.Listen, TLS: svc.cert != nil, AllowPlainHTTP: c.AllowPlainHTTP, Edge: svc.edge,
	})
	if err != nil {
		return err
	}
	signIn, err := signin.New(signin.Config{Store: in.store, Clock: a.Now, Log: svc.log, Key: in.key, Name: c.ProviderName})
	if err != nil {
		return err
	}
	if err := c.setFirstPassword(ctx, a, in, signIn); err != nil {
		return err
	}
	ln, err := listen(ctx, c.Listen, "--listen")
	if err != nil {
		return err
	}
	svc.opened = in
	stop, err := svc.watch(ctx, c.MetricsListen, a.Getenv, filepath.Join(dir, instance.StoreFile))
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	defer stop()
	if path := instance.OpenKey(dir, c.InstanceKeyFile); path != "" {
		svc.log.Warn("other users of this machine can read the instance key; mend it with chmod 600", "file", path)
	}
	links, err := firstRuns(ctx, in.store, signIn, reachable(svc.edge.PublicURL, svc.scheme(), ln.Addr()))
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	facts(a.Stderr, c.LogFormat, slices.Concat([][2]string{
		{"listening", svc.scheme() + "://" + ln.Addr().String()},
		{"public origin", orDerived(svc.edge.PublicURL)},
		{"storage", in.store.Describe()},
		{"owner", owner},
	}, svc.watched(), links))
	return svc.run(ctx, ln)
}

// service checks the settings that do not depend on others.
func (c *serveCommand) service(a *app) (svc *service, err error) {
	svc = &service{edge: &httpx.Edge{}, providerName: c.ProviderName, registration: c.Registration == "open", clock: a.Now}
	if c.ClientMetadata == "on" {
		svc.documents = clientDocuments()
	}
	if (c.TLSCert == "") != (c.TLSKey == "") {
		return nil, pdpp.Errorf(pdpp.CodeUsage, "--tls-cert and --tls-key go together. Name both files.")
	}
	if svc.edge.PublicURL, err = httpx.ParsePublicURL(c.PublicURL); err != nil {
		return nil, err
	}
	if svc.edge.TrustedHosts, err = httpx.ParseTrustedHosts(c.TrustedHosts); err != nil {
		return nil, err
	}
	if svc.edge.TrustedProxies, err = httpx.ParseTrustedProxies(c.TrustedProxies); err != nil {
		return nil, err
	}
	if svc.edge.AllowedOrigins, err = httpx.ParseAllowedOrigins(c.AllowedOrigins); err != nil {
		return nil, err
	}
	if svc.rate, err = httpx.ParseRate(c.RateLimit); err != nil {
		return nil, err
	}
	if svc.memory, err = parseMemory(c.Memory); err != nil {
		return nil, err
	}
	svc.log = newLogger(a.Stderr, c.LogFormat, c.LogLevel)
	if c.TLSCert != "" {
		svc.cert, err = loadCertificate(c.TLSCert, c.TLSKey)
	}
	return svc, err
}

// ownerState checks that there is an owner and returns a description.
func (c *serveCommand) ownerState(ctx context.Context, a *app, st store.Store) (string, error) {
	var owners []store.Subject
	err := st.View(ctx, func(v store.View) (err error) {
		owners, err = v.Subjects()
		return err
	})
	if err != nil {
		return "", err
	}
	// A server serves all owners; --owner may still name one that must exist.
	if len(owners) > 1 && a.Owner == "" {
		return count(int64(len(owners)), "owner", "owners"), nil
	}
	owner, err := a.findOwner(ctx, st, a.Owner)
	if err != nil {
		return "", err
	}
	rows, err := listConnections(ctx, session{st, owner})
	return owner.Name + ", " + count(int64(len(rows)), "connection", "connections"), err
}

func orDerived(o httpx.Origin) string {
	if o.IsZero() {
		return "derived from the request"
	}
	return o.String()
}

// opened is a data folder that this process serves.
type opened struct {
	store store.Store
	blobs *blobfile.Store
	key   []byte
}

// openInstance opens a data folder for a server: folder, lock, store, blobs, key.
func (a *app) openInstance(ctx context.Context, dir, keyFile string, fn func(opened) error) error {
	if err := instance.Prepare(dir); err != nil {
		return err
	}
	lock, err := instance.Acquire(dir)
	if err != nil {
		return err
	}
	defer lock.Release()
	st, err := a.openStoreAs(ctx, dir, store.OpenOptions{Migrate: true})
	if err != nil {
		return err
	}
	err = a.withBlobs(dir, func(blobs *blobfile.Store) error {
		key, err := instance.Key(ctx, st, dir, keyFile)
		if err != nil {
			return err
		}
		return fn(opened{st, blobs, key})
	})
	return errors.Join(err, st.Close())
}

// listen opens the listener. An address in use is CodeCannotCreate.
func listen(ctx context.Context, addr, flag string) (net.Listener, error) {
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err == nil {
		return ln, nil
	}
	if isTaken(err) {
		return nil, &pdpp.Error{
			Code: pdpp.CodeCannotCreate, Message: "Another program already listens on " + addr + ".",
			Hint: "Stop it, or choose another address with " + flag + ".",
		}
	}
	return nil, &pdpp.Error{
		Code: pdpp.CodeCannotCreate, Message: "Cannot listen on " + addr + ".",
		Hint: "Choose an address of this machine and a free port with " + flag + ", as host:port.", Err: err,
	}
}

// isTaken reports whether an address is in use. Windows has its own error number for
// it.
func isTaken(err error) bool {
	const wsaAddrInUse = syscall.Errno(10048)
	return errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, wsaAddrInUse)
}

func levelOf(name string) slog.Level {
	var l slog.Level
	_ = l.UnmarshalText([]byte(strings.ToUpper(name))) // one of the flag's values
	return l
}
