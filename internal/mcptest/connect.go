package mcptest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Pipes runs serve and connects a client to it over pipes, with a revision of the
// protocol ("" for the client's own). At the end of the test serve must return nil, and
// all lines of its output must be messages (STDOUT-1).
func Pipes(t testing.TB, revision string, serve func(ctx context.Context, in io.Reader, out io.Writer) error) (*sdk.ClientSession, *Output) {
	t.Helper()
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	out := &Output{next: toClient}
	served := make(chan error, 1)
	go func() {
		served <- serve(context.Background(), fromClient, out)
		toClient.Close()
	}()
	session := Connect(t, revision, &sdk.IOTransport{Reader: fromServer, Writer: toServer})
	t.Cleanup(func() {
		session.Close()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
		out.check(t)
	})
	return session, out
}

// HTTP connects a client to an endpoint, with a token.
func HTTP(t testing.TB, revision, endpoint, token string) *sdk.ClientSession {
	t.Helper()
	return Connect(t, revision, &sdk.StreamableClientTransport{Endpoint: endpoint, HTTPClient: &http.Client{Transport: bearer(token)}})
}

// Connect connects a client over any transport. The session ends with the test.
func Connect(t testing.TB, revision string, transport sdk.Transport) *sdk.ClientSession {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), transport, &sdk.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// bearer adds a token to requests.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// Output records what a server writes.
type Output struct {
	next io.Writer
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	o.text.Write(p)
	o.mu.Unlock()
	return o.next.Write(p)
}

// Last returns the last message.
func (o *Output) Last() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	text := strings.TrimSpace(o.text.String())
	return text[strings.LastIndexByte(text, '\n')+1:]
}

func (o *Output) check(t testing.TB) {
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
