package journeys

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pdpp"
	"pdpp/internal/demo"
	"pdpp/internal/ingest"
	"pdpp/internal/mcp"
	"pdpp/internal/mcpserve"
	"pdpp/internal/mcptest"
	"pdpp/internal/rs/resttest"
)

// afterDemo is a time after the newest record of the demo.
var afterDemo = time.Date(2026, 11, 1, 8, 0, 0, 0, time.UTC)

// world is the demo on a real server, with one very long letter added.
type world struct {
	*resttest.World
	lines  []line            // all ingested records, in order
	tokens map[string]string // by the connector that the grant covers
	letter string            // the text of the long letter
}

// line is one ingested record. Results are compared with it.
type line struct {
	connection, Stream string
	Data               map[string]any
}

const (
	letterID = "letter-200k"
	// letterClue and letterAnswer occur once, side by side in the middle of the letter.
	letterClue, letterAnswer = "Lagerhausschlüssel", "Fach 1187"
)

// longLetter returns a letter of 200 KB without repeated lines.
func longLetter() string {
	var b strings.Builder
	for i := 0; b.Len() < 200<<10; i++ {
		fmt.Fprintf(&b, "Zeile %d: Regal %d, Kiste %d – geprüft, \"ohne Befund\" 😀\n", i, i*7%113, i*31%997)
		if b.Len() > 100<<10 && b.Len() < 100<<10+70 {
			b.WriteString("Der " + letterClue + " liegt in " + letterAnswer + ".\n")
		}
	}
	return b.String()
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{World: resttest.New(t), letter: longLetter(), tokens: map[string]string{}}
	w.Advance(afterDemo.Sub(w.Now()))
	for _, src := range demo.Sources() {
		m := w.Manifest(string(src.Manifest))
		for _, c := range src.Connections {
			w.Connect(string(m.ConnectorKey), c.Name, c.Label)
			w.load(string(m.ConnectorKey), c.Name, m)
		}
	}
	text, err := json.Marshal(map[string]any{"key": letterID, "data": map[string]any{
		"id": letterID, "thread_id": "inventory", "folder": "inbox", "from_name": "Das Lagerhaus", "to": []string{"mara"},
		"subject": "Das ganze Inventar", "body_text": w.letter, "sent_at": "2026-10-02T09:00:00Z",
	}})
	if err != nil {
		t.Fatal(err)
	}
	w.Ingest("personal", "messages", string(text))
	w.tokens["mail"], _ = w.Grant(string(demo.GrantSpec()))
	w.tokens["bank"], _ = w.Grant(`{"source":{"connector_key":"bank"},"streams":[{"name":"transactions"},{"name":"balances"}],"access_mode":"continuous"}`)
	w.tokens["notes"], _ = w.Grant(`{"source":{"connector_key":"notes"},"streams":[{"name":"notes"}],"access_mode":"continuous"}`)
	w.tokens["chat"], _ = w.Grant(`{"source":{"connector_key":"chat"},"streams":[{"name":"conversations"},{"name":"messages"}],"access_mode":"continuous"}`)
	return w
}

// load ingests one connection of the demo as the program does.
func (w *world) load(connector, connection string, m *pdpp.Manifest) {
	w.T.Helper()
	for id := range demo.Blobs(connector, connection) {
		content, mediaType, _ := demo.Blob(id)
		w.PutBlob(connection, mediaType, content)
	}
	var all bytes.Buffer
	for raw := range demo.Lines(connector, connection) {
		l := line{connection: connection}
		if err := json.Unmarshal(raw, &l); err != nil {
			w.T.Fatal(err)
		}
		w.lines = append(w.lines, l)
		all.Write(append(raw, '\n'))
	}
	runner := &ingest.Runner{Store: w.Store, Clock: w.Now}
	conn := pdpp.Connection{ID: pdpp.ConnectionID(connection), Connector: m.ConnectorKey, Name: connection, Status: "active"}
	summary, err := runner.Run(w.T.Context(), w.Subject, conn, m, ingest.Options{}, []ingest.File{{Name: connection, Reader: &all}})
	if err != nil || summary.Records.Rejected > 0 {
		w.T.Fatalf("loading %s: %v, %d rejected", connection, err, summary.Records.Rejected)
	}
}

// connect starts a server for a grant and connects the official client, over pipes. The
// client requests the revision.
func (w *world) connect(t *testing.T, connector, revision string) *sdk.ClientSession {
	t.Helper()
	server := mcpserve.New(mcpserve.Config{
		Surface: &mcp.Surface{RS: w.Client(w.tokens[connector], nil), Log: slog.New(slog.DiscardHandler)}, Identity: mcpserve.NewIdentity("http://127.0.0.1", "test", ""), Log: slog.New(slog.DiscardHandler), Now: time.Now,
	})
	session, _ := mcptest.Pipes(t, revision, func(ctx context.Context, in io.Reader, out io.Writer) error {
		return mcpserve.Serve(ctx, server, in, out)
	})
	if got := session.InitializeResult().ProtocolVersion; got != revision {
		t.Fatalf("revision %s, want %s", got, revision)
	}
	return session
}
