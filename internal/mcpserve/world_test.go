package mcpserve

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"pdpp/internal/mcp"
	"pdpp/internal/mcptest"
	"pdpp/internal/rs/resttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const ledgerGrant = `{"source":{"connector_key":"ledgerly"},"streams":[{"name":"entries","fields":["id","memo","posted_at"]}]}`

// memo has characters and escapes that a JSON encoder would write differently.
const memo = `"April <rent> & \"more\" \u00e9\/"`

// ledger returns a surface under a grant, and its server with one entry.
func ledger(t *testing.T, transport http.RoundTripper) (*mcp.Surface, *resttest.World) {
	t.Helper()
	w := resttest.New(t)
	w.ManifestFile("../manifest/testdata/ledgerly.json")
	w.Connect("ledgerly", "cin_a1", "Joint account")
	w.Ingest("cin_a1", "entries", `{"key":"ent_31","data":{"id":"ent_31","memo":`+memo+`,"posted_at":"2026-04-30T09:00:00Z"}}`)
	token, _ := w.Grant(ledgerGrant)
	if transport == nil {
		t.Cleanup(http.DefaultClient.CloseIdleConnections)
	}
	return &mcp.Surface{RS: w.Client(token, transport), Log: slog.New(slog.DiscardHandler)}, w
}

func config(s *mcp.Surface, log io.Writer) Config {
	return Config{Surface: s, Identity: NewIdentity(s.RS.Provider(), "1.2.3", ""), Log: slog.New(slog.NewJSONHandler(log, nil)), Now: func() time.Time { return resttest.Start }}
}

// eras are all revisions: the newest has no handshake.
var eras = []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"}

// connect connects the official client with a server, over pipes.
func connect(t *testing.T, s *mcp.Surface, version string) (*sdk.ClientSession, *mcptest.Output) {
	t.Helper()
	return mcptest.Pipes(t, version, func(ctx context.Context, in io.Reader, out io.Writer) error {
		return Serve(ctx, New(config(s, io.Discard)), in, out)
	})
}

func wantRPC(t *testing.T, what string, err error, code int64) *jsonrpc.Error {
	t.Helper()
	var e *jsonrpc.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Fatalf("%s: %v, want code %d", what, err, code)
	}
	return e
}
