package session

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pdpp/internal/mcp"
	"pdpp/internal/mcphttp"
	"pdpp/internal/mcpserve"
	"pdpp/internal/query"
	"pdpp/internal/rsclient"
)

// eras are the revisions that stand for the two ways of the protocol: without a
// handshake, and with one.
var eras = []string{"2026-07-28", "2025-11-25"}

// transport is a way from a client to the surface. connect opens a session for a
// token, which ends with the test. What the surface asks of /v1 must pass
// world.asked.
type transport struct {
	name    string
	connect func(t *testing.T, w *world, token, era string) *sdk.ClientSession
}

var transports = []transport{{"stdio", stdio}, {"http", hosted}}

// stdio is what `pdpp mcp` does, over pipes. Whatever the server writes to its output
// must be messages, one in a line, and its log goes elsewhere (STDOUT-1).
func stdio(t *testing.T, w *world, token, era string) *sdk.ClientSession {
	t.Helper()
	log := slog.New(slog.NewJSONHandler(&w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	rs, err := rsclient.New(rsclient.Config{
		Provider: w.URL, Version: "test", Transport: w.asked.through(t, rsclient.Pooled(), "Bearer "+token), Clock: time.Now, Log: log,
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

// hosted is the endpoint of the world's server. Its reads of /v1 are made in memory,
// without any credential.
func hosted(t *testing.T, w *world, token, era string) *sdk.ClientSession {
	t.Helper()
	log := slog.New(slog.NewJSONHandler(&w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	cursors, err := query.NewSealer([]byte(strings.Repeat("k", 32)))
	if err != nil {
		t.Fatal(err)
	}
	endpoint := mcphttp.New(mcphttp.Config{
		RS: w.Server, Edge: w.Server.Edge, Cursors: cursors, Version: "test", Log: log, Clock: w.Now,
		Around: func(next http.RoundTripper) http.RoundTripper { return w.asked.through(t, next) },
	})
	w.URL = w.Serve(endpoint)
	client := sdk.NewClient(&sdk.Implementation{Name: "session", Version: "test"}, nil)
	s, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: w.URL + endpoint.Path, HTTPClient: &http.Client{Transport: bearer(token)},
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

// output keeps what a server wrote.
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

// check finds what is no message.
func (o *output) check(t testing.TB) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	for line := range bytes.Lines(o.text.Bytes()) {
		var m struct{ JSONRPC string }
		if err := json.Unmarshal(line, &m); err != nil || m.JSONRPC != "2.0" || !bytes.HasSuffix(line, []byte("\n")) {
			t.Errorf("a line of the output is no message: %.200q", line)
		}
	}
}
