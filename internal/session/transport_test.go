package session

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pdpp/internal/auth"
	"pdpp/internal/mcp"
	"pdpp/internal/mcphttp"
	"pdpp/internal/mcpserve"
	"pdpp/internal/mcptest"
	"pdpp/internal/rsclient"
	"pdpp/internal/server"
)

// eras are one revision without a handshake and one with it.
var eras = []string{"2026-07-28", "2025-11-25"}

// transport connects clients to the surface. connect opens a session with a token, which
// ends with the test. The requests of the surface to /v1 must pass world.requests.
type transport struct {
	name    string
	connect func(t *testing.T, w *world, token, era string) *sdk.ClientSession
}

var transports = []transport{{"stdio", stdio}, {"http", hosted}}

// stdio serves like `pdpp mcp`, over pipes.
func stdio(t *testing.T, w *world, token, era string) *sdk.ClientSession {
	t.Helper()
	log := slog.New(slog.NewJSONHandler(&w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	rs, err := rsclient.New(rsclient.Config{
		Provider: w.URL, Version: "test", Transport: w.requests.record(t, rsclient.Pooled(), "Bearer "+token), Clock: time.Now, Log: log,
		Token: func(context.Context) (string, error) { return token, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	server := mcpserve.New(mcpserve.Config{Surface: &mcp.Surface{RS: rs, Log: log}, Identity: mcpserve.NewIdentity(w.URL, "test", ""), Log: log, Now: time.Now})
	s, _ := mcptest.Pipes(t, era, func(ctx context.Context, in io.Reader, out io.Writer) error {
		return mcpserve.Serve(ctx, server, in, out)
	})
	return s
}

// hosted serves the HTTP endpoint. Its reads of /v1 are made in memory, without a
// credential.
func hosted(t *testing.T, w *world, token, era string) *sdk.ClientSession {
	t.Helper()
	log := slog.New(slog.NewJSONHandler(&w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	w.Server.MCP = func(s *server.Server) http.Handler {
		inMemory := mcphttp.InMemory(s.Inside())
		return mcphttp.New(mcphttp.Config{
			Auth: s.Auth, Limiter: s.Limiter, Edge: s.Edge, Cursors: s.Cursors, Version: "test", Log: log, Clock: w.Now,
			Transport: func(c *auth.Caller) http.RoundTripper { return w.requests.record(t, inMemory(c)) },
		})
	}
	w.URL = w.Serve()
	return mcptest.HTTP(t, era, w.URL+"/mcp", token)
}
