package pages_test

import (
	"bytes"
	"flag"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"pdpp"
	"pdpp/internal/demo"
	"pdpp/internal/httpx"
	"pdpp/internal/ingest"
	"pdpp/internal/rs/resttest"
	"pdpp/internal/server"
	"pdpp/internal/store"
)

// pictures is the folder for the pictures of the documentation. Anybody can make them again:
//
//	go test ./internal/pages -run TestPictures -pictures ../../docs/img
var pictures = flag.String("pictures", "", "folder for the pictures of the documentation")

// demoEnd is after the last record of the demo.
var demoEnd = time.Date(2026, 10, 19, 9, 30, 0, 0, time.UTC)

// newDemo returns a world with the data of the demo.
func newDemo(t testing.TB) *world {
	t.Helper()
	w := &world{resttest.New(t)}
	w.Advance(demoEnd.Sub(w.Now()))
	for _, src := range demo.Sources() {
		m := w.Manifest(string(src.Manifest))
		for _, c := range src.Connections {
			id := "cin_" + c.Name
			w.Connect(string(m.ConnectorKey), id, c.Label)
			var lines bytes.Buffer
			for line := range demo.Lines(string(m.ConnectorKey), c.Name) {
				lines.Write(append(line, '\n'))
			}
			runner := &ingest.Runner{Store: w.Store, Clock: w.Now}
			conn := pdpp.Connection{ID: pdpp.ConnectionID(id), Connector: m.ConnectorKey, Name: strings.ToLower(id)}
			if _, err := runner.Run(t.Context(), w.Subject, conn, m, ingest.Options{}, []ingest.File{{Name: c.Name, Reader: &lines}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	srv, err := server.New(server.Config{
		Store: w.Store, Blobs: w.Blobs, InstanceKey: bytes.Repeat([]byte("k"), 32), Edge: &httpx.Edge{}, ProviderName: "Mara Lindqvist",
		Registration: true, Log: slog.New(slog.DiscardHandler), Clock: w.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	listener := httptest.NewServer(srv.Handler())
	t.Cleanup(listener.Close)
	w.Server, w.URL = srv, listener.URL
	return w
}

// chartDays are the days that a chart shows, except the last one.
const chartDays = 29 * 24 * time.Hour

// readDaily counts reads of a grant on this and the following days.
func (w *world) readDaily(id pdpp.GrantID, counts []int64) {
	w.T.Helper()
	w.Update(func(tx store.Tx) error {
		var rows []store.ReadCount
		for i, n := range counts {
			day := store.DayOf(w.Now().AddDate(0, 0, i))
			rows = append(rows, store.ReadCount{ReadKey: store.ReadKey{Subject: w.Subject, Grant: id, Day: day, Via: "search"}, Reads: n, Records: 10 * n})
		}
		if err := tx.AddReads(rows); err != nil {
			return err
		}
		return tx.TouchTokens(map[store.Use]time.Time{{Grant: id}: w.Now().Add(chartDays)})
	})
}

// TestPictures makes the pictures of the documentation from the data of the demo.
func TestPictures(t *testing.T) {
	if *pictures == "" {
		t.Skip("no folder for the pictures is given")
	}
	w := newDemo(t)
	w.Advance(-chartDays)
	owner := w.signedIn(w.Subject)
	for _, c := range []struct {
		name   string
		choice []string
		reads  []int64
	}{
		{"ChatGPT", []string{"stream", "3", "duration", "90d"}, []int64{0, 0, 0, 2, 5, 0, 0, 1, 0, 0, 3, 8, 2, 0, 0, 0, 0, 4, 1, 0, 0, 6, 0, 0, 0, 0, 2, 0, 0, 1}},
		{"Claude", []string{"stream", "6", "stream", "12", "field.6", "from_name", "field.6", "subject", "field.6", "body_text", "field.6", "sent_at", "duration", "forever"}, []int64{3, 7, 12, 4, 0, 1, 9, 14, 22, 6, 3, 0, 2, 11, 17, 9, 25, 4, 0, 6, 13, 8, 19, 31, 12, 3, 5, 16, 21, 14}},
	} {
		client := w.register(c.name, callback)
		path := w.ask(client, callback, "resource", w.URL+"/mcp")
		owner.choose(path, c.choice...)
		w.redeem(client, owner.approve(path).location().Query().Get("code"))
		for _, g := range w.grants() {
			if g.Client.Name == c.name {
				w.readDaily(g.ID, c.reads)
			}
		}
	}
	w.Advance(chartDays)
	const redirect = "https://claude.ai/api/mcp/auth_callback"
	path := w.ask(w.register("Claude", redirect), redirect, "resource", w.URL+"/mcp")

	b := w.open(t, chromium(t))
	b.base = w.URL
	b.signIn(w.link())
	b.look(1000, "light")
	b.visit(path)
	for _, selector := range []string{"#stream-2", "#stream-3", ".stream:has(#stream-2) summary", "[name='field.2'][value=sender]", "[name='field.2'][value=text]", "[name='field.2'][value=sent_at]"} {
		b.do(chromedp.Click(chromedp.CSS(selector)))
	}
	b.do(chromedp.EmulateViewport(1000, 1100))
	eval[bool](b, `window.scrollTo(0, 0), document.activeElement.blur(), true`)
	b.capture(*pictures, "consent")
	b.visit("/owner/grants")
	b.picture(*pictures, "grants")
}
