package bench

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"pdpp/internal/blobfile"
	"pdpp/internal/httpx"
	"pdpp/internal/mcphttp"
	"pdpp/internal/server"
	"pdpp/internal/store"
	"pdpp/internal/store/open"
)

// instanceKey is fixed, so that the benchmark can create cursors for any position.
var instanceKey = []byte("a key that protects nothing at all")

// Serve serves the store in dir as `pdpp serve` does, without a rate limit, until
// ctx is done. It calls ready with its address when it listens.
func Serve(ctx context.Context, dir string, ready func(addr string)) (err error) {
	db, err := open.Store(ctx, dir, store.OpenOptions{Create: true, Migrate: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	blobs, err := blobfile.Open(filepath.Join(dir, "blobs"), time.Now())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, blobs.Close()) }()
	srv, err := server.New(server.Config{
		Store: db, Blobs: blobs, InstanceKey: instanceKey, Edge: &httpx.Edge{}, ProviderName: "bench",
		Log: slog.New(slog.NewJSONHandler(io.Discard, nil)), Clock: time.Now, MCP: hosted,
	})
	if err != nil {
		return err
	}
	ln, err := listen()
	if err != nil {
		return err
	}
	debug.SetGCPercent(200) // as `pdpp serve` has it
	ready(ln.Addr().String())
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return srv.Run(ctx) })
	g.Go(func() error { return httpx.Run(ctx, ln, httpx.NewServer(srv.Handler()), time.Second) })
	return g.Wait()
}

func hosted(s *server.Server) http.Handler {
	return mcphttp.New(mcphttp.Config{
		Auth: s.Auth, Limiter: s.Limiter, Transport: mcphttp.InMemory(s.Inside()), Edge: s.Edge, Cursors: s.Cursors, Version: "bench", Log: s.Log, Clock: s.Clock,
	})
}

// serveBare serves the baseline handler with a plain http.Server.
func serveBare(ctx context.Context, h http.Handler, ready func(addr string)) error {
	ln, err := listen()
	if err != nil {
		return err
	}
	ready(ln.Addr().String())
	return httpx.Run(ctx, ln, &http.Server{Handler: h}, time.Second)
}

func listen() (net.Listener, error) { return net.Listen("tcp", "127.0.0.1:0") }

// serving runs a server in the background, calls fn with its address, and stops the server
// before it returns.
func serving(ctx context.Context, serve func(ctx context.Context, ready func(string)) error, fn func(addr string) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	addr, done := make(chan string, 1), make(chan error, 1)
	go func() { done <- serve(ctx, func(a string) { addr <- a }) }()
	select {
	case err := <-done:
		return err
	case a := <-addr:
		err := fn(a)
		cancel()
		return errors.Join(err, <-done)
	}
}

// canned answers every request with the next of a list of bodies.
type canned struct {
	bodies  [][]byte
	lengths [][]string
	next    atomic.Uint64
}

func newCanned(bodies [][]byte) *canned {
	c := &canned{bodies: bodies}
	for _, b := range bodies {
		c.lengths = append(c.lengths, []string{strconv.Itoa(len(b))})
	}
	return c
}

var cannedType = []string{"application/json; charset=utf-8"}

// ServeHTTP implements http.Handler.
func (c *canned) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	i := int(c.next.Add(1) % uint64(len(c.bodies)))
	h := w.Header()
	h["Content-Type"], h["Content-Length"] = cannedType, c.lengths[i]
	_, _ = w.Write(c.bodies[i]) // the client counts what arrives
}
