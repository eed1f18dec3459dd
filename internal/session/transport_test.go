package session

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pdpp/internal/auth"
	"pdpp/internal/mcp"
	"pdpp/internal/mcphttp"
	"pdpp/internal/mcpserve"
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

// stdio serves like `pdpp mcp`, over pipes. The server may write only messages to its
// output, one per line (STDOUT-1).
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
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	out := &output{next: toClient}
	ended := make(chan error, 1)
	go func() {
		ended <- mcpserve.Serve(t.Context(), server, fromClient, out)
		toClient.Close()
	}()
	client := sdk.NewClient(&sdk.Implementation{Name: "session", Version: "test"}, nil)
	s, err := client.Connect(t.Context(), &sdk.IOTransport{Reader: fromServer, Writer: toServer}, &sdk.ClientSessionOptions{ProtocolVersion: era})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		<-ended
		out.check(t)
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
	client := sdk.NewClient(&sdk.Implementation{Name: "session", Version: "test"}, nil)
	s, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: w.URL + "/mcp", HTTPClient: &http.Client{Transport: bearer(token)},
	}, &sdk.ClientSessionOptions{ProtocolVersion: era})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// bearer adds a token to requests.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// output records what a server wrote.
type output struct {
	next io.Writer
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	o.text.Write(p)
	o.mu.Unlock()
	return o.next.Write(p)
}

// check checks that every line is a message.
func (o *output) check(t testing.TB) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	for line := range bytes.Lines(o.text.Bytes()) {
		var m struct{ JSONRPC string }
		if err := json.Unmarshal(line, &m); err != nil || m.JSONRPC != "2.0" || !bytes.HasSuffix(line, []byte("\n")) {
			t.Errorf("a line of the output is not a message: %.200q", line)
		}
	}
}
