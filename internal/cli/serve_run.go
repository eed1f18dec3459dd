package cli

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"pdpp"
	"pdpp/internal/as"
	"pdpp/internal/httpx"
	"pdpp/internal/mcphttp"
	"pdpp/internal/outbound"
	"pdpp/internal/server"
	"pdpp/internal/telemetry"
)

// service is a configured server.
type service struct {
	opened
	edge         *httpx.Edge
	rate         httpx.Rate
	memory       memory
	providerName string
	registration bool         // clients may register themselves
	documents    *http.Client // fetches client documents; nil: they are not accepted
	log          *slog.Logger
	clock        func() time.Time
	cert         *certificate   // nil: no TLS
	hangups      chan os.Signal // SIGHUP: reload the certificate; nil: never
	dropped      func() int64   // number of dropped log lines; nil: not counted

	telemetry *telemetry.Telemetry // nil if it is off
	traces    *telemetry.Traces    // nil if there are none
	metrics   net.Listener         // nil if metrics are not served
}

func (s *service) scheme() string {
	if s.cert != nil {
		return "https"
	}
	return "http"
}

// run serves on ln until ctx ends. Background work ends after the last request, so that
// the use of its token is recorded.
func (s *service) run(ctx context.Context, ln net.Listener) error {
	setGCPercent(serverGCPercent)
	if err := s.memory.share(s.store); err != nil {
		_ = ln.Close()
		return err
	}
	srv, err := server.New(server.Config{
		Store: s.store, Blobs: s.blobs, InstanceKey: s.key, Edge: s.edge, Rate: s.rate, Memory: s.memory.requests(),
		ProviderName: s.providerName, Registration: s.registration, ClientDocuments: s.documents,
		Log: s.log, Clock: s.clock, Observer: s.telemetry.Observer(), MCP: s.mcp,
	})
	if err != nil {
		_ = ln.Close()
		return err
	}
	front := httpx.NewServer(srv.Handler())
	front.ErrorLog = slog.NewLogLogger(s.log.Handler(), slog.LevelWarn)
	if s.cert != nil {
		front.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: s.cert.get}
	}
	group, groupCtx := errgroup.WithContext(ctx)
	behind, stop := context.WithCancel(context.WithoutCancel(ctx))
	group.Go(func() error {
		defer stop()
		return httpx.Run(groupCtx, ln, front, httpx.Grace)
	})
	group.Go(func() error { return srv.Run(behind) })
	group.Go(func() error { return s.reload(behind) })
	group.Go(func() error { return s.awaitReplaced(groupCtx) })
	if s.metrics != nil {
		group.Go(func() error { return httpx.Run(groupCtx, s.metrics, s.metricsServer(), time.Second) })
	}
	return group.Wait()
}

// clientDocuments returns the HTTP client that fetches client documents (H-154).
func clientDocuments() *http.Client { return outbound.Policy{}.Client(as.DocumentTimeout) }

// mcp returns the endpoint /mcp of a server.
func (s *service) mcp(srv *server.Server) http.Handler {
	return mcphttp.New(mcphttp.Config{
		Auth: srv.Auth, Limiter: srv.Limiter, Transport: mcphttp.InMemory(srv.Inside()), Edge: s.edge, Cursors: srv.Cursors, Version: readVersion().Version,
		Log: s.log, Clock: s.clock, Telemetry: s.telemetry,
	})
}

// awaitReplaced ends the server when its store was removed or replaced (H-4). The next
// start opens the store that is there then, or reports that there is none.
func (s *service) awaitReplaced(ctx context.Context) error {
	var replaced <-chan struct{} // nil, hence never ready, for a store without a file
	if st, ok := s.store.(replaceable); ok {
		replaced = st.Replaced()
	}
	select {
	case <-ctx.Done():
		return nil
	case <-replaced:
	}
	err := &pdpp.Error{
		Code:    pdpp.CodeBusy, // a supervisor may restart the server
		Message: "The store was removed or replaced while the server was running; the server ends.",
		Hint:    "Start it again to serve the store that is there now. Stop the server before you put a store in place.",
	}
	s.log.Error(err.Message, "hint", err.Hint, "storage", s.store.Describe())
	return err
}

// reload reads the certificate again on every SIGHUP, and logs the result. After a failure
// the previous certificate stays in use.
func (s *service) reload(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.hangups:
		}
		if s.cert == nil {
			s.log.Info("SIGHUP: this server has no certificate, so there is nothing to read again; other settings need a restart")
		} else if err := s.cert.load(); err != nil {
			s.log.Error("the certificate was not read again; the former one stays", "cause", err.Error())
		} else {
			s.log.Info("read the certificate again")
		}
	}
}

func newLogger(w io.Writer, format, level string) *slog.Logger {
	opts := &slog.HandlerOptions{Level: levelOf(level)}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, opts))
	}
	return slog.New(slog.NewTextHandler(w, opts))
}

// facts writes one line per fact (H-11), at any log level: plain text for people, log
// entries with the JSON format.
func facts(w io.Writer, format string, facts [][2]string) {
	log := newLogger(w, format, "info")
	for _, f := range facts {
		switch {
		case format == "json" && f[1] != "":
			log.Info(f[0], "value", f[1])
		case format == "json":
			log.Info(f[0])
		default:
			fmt.Fprintln(w, strings.TrimSuffix("pdpp: "+f[0]+": "+f[1], ": "))
		}
	}
}
