package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// pageCall is a call that a script of a web page makes.
type pageCall struct {
	URL     string            `json:"url"`
	Method  string            `json:"method"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    string            `json:"body,omitempty"`
}

// pageAnswer is the part of the answer that the script could read.
type pageAnswer struct {
	Refused   string // why the browser withheld the answer
	Status    int
	Challenge string
	RequestID string
	Body      string
}

// browse opens a page of an origin in a headless Chromium and returns what its script could
// read. The browser resolves names below .example to this machine, because every server
// allows loopback names (H-55).
func browse(t *testing.T, chromium, origin string, calls []pageCall) []pageAnswer {
	t.Helper()
	list, err := json.Marshal(calls)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage",
		"--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-proxy-server",
		"--user-data-dir="+t.TempDir(), "--host-resolver-rules=MAP *.example 127.0.0.1",
		"--virtual-time-budget=10000", "--dump-dom", origin+"/#"+url.PathEscape(string(list)))
	var dom, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &dom, &log
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, log.Bytes())
	}
	found := regexp.MustCompile(`<pre id="results">([^<]+)</pre>`).FindSubmatch(dom.Bytes())
	if found == nil {
		t.Fatalf("the page has no results:\n%s\n%s", dom.Bytes(), log.Bytes())
	}
	text, err := base64.StdEncoding.DecodeString(string(found[1]))
	var answers []pageAnswer
	if err == nil {
		err = json.Unmarshal(text, &answers)
	}
	if err != nil || len(answers) != len(calls) {
		t.Fatalf("%d answers to %d calls, %v:\n%s", len(answers), len(calls), err, text)
	}
	return answers
}

// TestBrowser lets pages of two origins call the server: one is allowed, the other is not.
func TestBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("make check runs it")
	}
	chromium := needProgram(t, "chromium")
	dir, token := storeEntries(t)
	const metadata = "/.well-known/oauth-protected-resource"
	good, bad := map[string]string{"Authorization": "Bearer " + token}, map[string]string{"Authorization": "Bearer wrong"}
	const (
		call   = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"query_records","arguments":{"stream":"entries"}}}`
		modern = `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	)
	sends := func(headers map[string]string, more ...string) map[string]string {
		out := map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
		maps.Copy(out, headers)
		for i := 0; i < len(more); i += 2 {
			out[more[i]] = more[i+1]
		}
		return out
	}

	// What a page of the allowed origin can read. A page of another origin can read only
	// public answers. A call with additional headers has a preflight.
	rows := []struct {
		name      string
		method    string
		path      string
		headers   map[string]string
		body      string
		public    bool
		status    int
		challenge string // the document that it names; "" for none
		text      string // in the body
	}{
		{"CHAL-1 no bearer", "GET", "/v1/schema", nil, "", false, 401, metadata, "authentication_error"},
		{"CHAL-1 bad bearer", "GET", "/v1/schema", bad, "", false, 401, metadata, "invalid_token"},
		{"a read under a grant", "GET", "/v1/schema", good, "", false, 200, "", "ledgerly"},
		{"META-1 root document", "GET", metadata, nil, "", true, 200, "", "mcp_endpoint"},
		{"META-2 document of the endpoint", "GET", metadata + "/mcp", map[string]string{"MCP-Protocol-Version": "2025-11-25"}, "", true, 200, "", "mcp_package"},
		{"a missing document", "GET", "/.well-known/openid-configuration", nil, "", true, 404, "", "not_found"},
		{"icon", "GET", "/icon.svg", nil, "", true, 200, "", "<svg"},
		{"HOSTED-3 /mcp without a bearer", "POST", "/mcp", sends(nil), call, false, 401, metadata + "/mcp", "authentication_error"},
		{"CHAL-1 /mcp with a bad bearer", "POST", "/mcp", sends(bad), call, false, 401, metadata + "/mcp", "invalid_token"},
		{"CHAL-1 /mcp without a preflight", "POST", "/mcp", map[string]string{"Content-Type": "text/plain"}, call, false, 401, metadata + "/mcp", "authentication_error"},
		{"HOSTED-1 a handshake", "POST", "/mcp", sends(good), initialize, false, 200, "", `"protocolVersion":"2025-11-25"`},
		{"HOSTED-1 a tool call", "POST", "/mcp", sends(good, "MCP-Protocol-Version", "2025-11-25"), call, false, 200, "", "Bread"},
		{
			"HOSTED-1 a discovery, with all its headers", "POST", "/mcp", sends(good, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "server/discover"),
			modern, false, 200, "", `"supportedVersions"`,
		},
		{"H-59 there is no stream to open", "GET", "/mcp", good, "", false, 405, "", "method_not_allowed"},
	}

	pages := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, filepath.Join("testdata", "browser.html"))
	}))
	defer pages.Close()
	port := pages.URL[strings.LastIndexByte(pages.URL, ':'):]
	allowed, foreign := "http://app.example"+port, "http://other.example"+port
	p := start(t, "--data", dir, "serve", "--listen", "127.0.0.1:0", "--allowed-origins", allowed)
	server := p.await(t, p.stderr, listening)
	calls := make([]pageCall, len(rows))
	for i, row := range rows {
		calls[i] = pageCall{URL: server + row.path, Method: row.method, Headers: row.headers, Body: row.body}
	}
	seen, unseen := browse(t, chromium, allowed, calls), browse(t, chromium, foreign, calls)
	for i, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			challenge := ""
			if row.challenge != "" {
				challenge = `resource_metadata="` + server + row.challenge + `"`
			}
			readable := func(a pageAnswer) bool {
				return a.Status == row.status && a.RequestID != "" && strings.Contains(a.Body, row.text) &&
					strings.Contains(a.Challenge, challenge) && (a.Challenge != "") == (challenge != "")
			}
			if !readable(seen[i]) {
				t.Errorf("a page of the allowed origin sees %+v", seen[i])
			}
			switch a := unseen[i]; {
			case row.public && !readable(a):
				t.Errorf("a page of another origin sees %+v", a)
			case !row.public && a != (pageAnswer{Refused: "TypeError: Failed to fetch"}):
				t.Errorf("a page of another origin is not refused: %+v", a)
			}
		})
	}
	// The preflights of the other page were refused, so the browser never sent its read.
	p.await(t, p.stderr, `method=OPTIONS route=/v1/schema status=403`)
	if n := strings.Count(p.stderr.String(), "method=GET route=/v1/schema status=200"); n != 1 {
		t.Errorf("%d reads under the grant, want that of the allowed page alone:\n%s", n, p.stderr)
	}
	// Requests to /mcp without a preflight were refused because of their origin.
	p.await(t, p.stderr, `method=OPTIONS route=/mcp status=403`)
	p.await(t, p.stderr, `method=POST route=/mcp status=403`)
	if n := strings.Count(p.stderr.String(), "method=POST route=/mcp status=200"); n != 3 {
		t.Errorf("%d answers at /mcp, want those to the allowed page alone:\n%s", n, p.stderr)
	}
}
