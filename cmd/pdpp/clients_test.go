package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pdpp/internal/npmtest"
)

// served is the demo data behind `pdpp serve`.
type served struct{ url, token, ownerToken, credentials string }

// serveDemo builds the data of the demo and serves it without a rate limit. It keeps the
// address, because the demo's credential is for that address.
func serveDemo(t *testing.T) served {
	t.Helper()
	data, addr := filepath.Join(t.TempDir(), "demo"), freeAddr(t)
	p := start(t, "--data", data, "demo", "--tour", "--listen", addr)
	p.await(t, p.stdout, tourEnd)
	text := p.stdout.String()
	interrupt(t, p, 0)
	s := served{credentials: filepath.Join(data, "credentials")}
	for name, value := range map[string]*string{"URL": &s.url, "TOKEN": &s.token, "OWNER_TOKEN": &s.ownerToken} {
		*value = regexp.MustCompile(`export ` + name + `=(\S+)`).FindStringSubmatch(text)[1]
	}
	p = start(t, "--data", data, "serve", "--listen", addr, "--rate-limit", "off")
	if got := p.await(t, p.stderr, listening); got != s.url {
		t.Fatalf("it listens on %s, want %s", got, s.url)
	}
	return s
}

// route is a transport from a client to the data.
type route struct {
	name    string
	target  []string // the target of session.mjs
	inspect []string // the same for the Inspector
	env     []string
	icons   int            // of the server
	refused map[string]int // status by kind of token
}

// TestRealClients uses the tools over both transports with the official TypeScript clients
// and the Inspector, with a handshake and without.
func TestRealClients(t *testing.T) {
	if testing.Short() {
		t.Skip("make check runs it")
	}
	needSignals(t)
	clients := npmtest.Install(t)
	pdpp, err := exec.LookPath("pdpp")
	if err != nil {
		t.Fatal(err)
	}
	demo := serveDemo(t)
	adapter := []string{pdpp, "mcp", demo.url, "--cache-root", demo.credentials}
	endpoint := demo.url + "/mcp"
	seen := map[string]string{} // by the name of the session
	for _, way := range []route{
		{name: "TOOLS-1 real clients over stdio", target: adapter, inspect: adapter},
		{
			name: "HOSTED-1 real clients over HTTP", target: []string{endpoint}, icons: 1,
			inspect: []string{endpoint, "--transport", "http", "--header", "Authorization: Bearer " + demo.token},
			env:     []string{"TOKEN=" + demo.token, "OWNER_TOKEN=" + demo.ownerToken},
			refused: map[string]int{"stranger": 401, "owner": 403},
		},
	} {
		t.Run(way.name, func(t *testing.T) {
			for _, c := range []struct{ generation, revision string }{{"sdk", "2025-11-25"}, {"client", "2025-11-25"}, {"client", "2026-07-28"}} {
				t.Run("TypeScript "+c.generation+" "+c.revision, func(t *testing.T) {
					seen[t.Name()] = way.converse(t, clients, c.generation, c.revision)
				})
			}
			for _, era := range []string{"legacy", "modern"} {
				t.Run("Inspector "+era, func(t *testing.T) { way.inspectTools(t, clients, era) })
			}
		})
	}
	t.Run("HOSTED-2 both ways show the same", func(t *testing.T) {
		if len(seen) != 6 {
			t.Fatalf("%d sessions to compare, want 6", len(seen))
		}
		names := slices.Sorted(maps.Keys(seen))
		for _, name := range names[1:] {
			if diff := cmp.Diff(seen[names[0]], seen[name]); diff != "" {
				t.Errorf("%s differs from %s (-want +got):\n%s", name, names[0], diff)
			}
		}
	})
}

// converse runs session.mjs with a TypeScript client and returns its output.
func (way route) converse(t *testing.T, clients npmtest.Folder, generation, revision string) string {
	t.Helper()
	script := clients.Script(t, "testdata/clients/session.mjs")
	out, _ := clients.Run(t, way.env, append([]string{script, generation, revision}, way.target...)...)
	var s session
	if err := json.Unmarshal(out, &s); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if s.Revision != revision || len(s.Server.Icons) != way.icons || !maps.Equal(s.Refused, way.refused) {
		t.Errorf("revision %s, icons %v, refused %v", s.Revision, s.Server.Icons, s.Refused)
	}
	s.check(t)
	return s.seen()
}

// inspectTools lets the Inspector check the list of tools and call one.
func (way route) inspectTools(t *testing.T, clients npmtest.Folder, era string) {
	t.Helper()
	ask := func(method ...string) (stdout, stderr []byte) {
		args := append([]string{clients.Bin("mcp-inspector"), "--cli"}, way.inspect...)
		return clients.Run(t, nil, append(append(args, "--protocol-era", era, "--method"), method...)...)
	}
	out, notes := ask("tools/list", "--strict")
	var list struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal(out, &list); err != nil || len(list.Tools) != 6 {
		t.Errorf("the Inspector lists %d tools: %v\n%s", len(list.Tools), err, out)
	}
	if !bytes.Contains(notes, []byte("\n0 errors")) {
		t.Errorf("the Inspector reports problems:\n%s", notes)
	}
	out, _ = ask("tools/call", "--tool-name", "search", "--tool-arg", "q=Kaution")
	if !bytes.Contains(out, []byte("<mark>Kaution</mark>")) {
		t.Errorf("the Inspector finds nothing:\n%s", out)
	}
}

// session is the output of session.mjs.
type session struct {
	Revision      string
	Server        struct{ Icons []any }
	Tools         []string
	Instructions  string
	Before, After map[string]called
	Unknown       int
	Templates     []string
	Refused       map[string]int
}

// called is one call of a session.
type called struct {
	IsError    bool
	Code       *string
	Text       string
	Structured json.RawMessage
}

// check checks the tools and every call.
func (s session) check(t *testing.T) {
	t.Helper()
	if want := []string{"schema", "query_records", "aggregate", "search", "fetch", "read_record_field"}; !slices.Equal(s.Tools, want) {
		t.Errorf("tools %q, want %q", s.Tools, want)
	}
	if s.Instructions == "" || s.Unknown != -32602 || len(s.Templates) != 3 {
		t.Errorf("instructions %q, unknown tool %d, templates %q", s.Instructions, s.Unknown, s.Templates)
	}
	codes := map[string]string{
		"bad filter": "invalid_filter", "bad argument": "invalid_argument", "bad id": "invalid_id", "bad window": "invalid_field_window_selector",
		"field not granted": "field_not_granted", "stream not granted": "grant_stream_not_allowed",
		"ambiguous": "ambiguous_connection", "not found": "not_found",
	}
	for when, calls := range map[string]map[string]called{"before": s.Before, "after": s.After} {
		if len(calls) != 15 {
			t.Errorf("%d calls %s tools/list, want 15", len(calls), when)
		}
		for name, c := range calls {
			code := ""
			if c.Code != nil {
				code = *c.Code
			}
			if code != codes[name] || c.IsError != (codes[name] != "") || c.Text == "" || len(c.Structured) == 0 {
				t.Errorf("%s, %s tools/list: error %t, code %q, want %q:\n%s", name, when, c.IsError, code, codes[name], c.Text)
			}
		}
	}
}

// unique matches values that differ in every answer: ids of requests, cursors.
var unique = regexp.MustCompile(`(req_|pc1\.|sl1\.)[\w-]+`)

// seen returns a line for each call after tools/list, without unique values.
func (s session) seen() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s.After)) {
		c := s.After[name]
		fmt.Fprintf(&b, "%s: %s\n%s\n", name, unique.ReplaceAllString(c.Text, "$1"), unique.ReplaceAll(c.Structured, []byte("$1")))
	}
	return b.String()
}
