package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// realClients installs the official MCP clients and the conformance suite once, outside
// of the repository, and gives the folder they are in. Without npm, or without a way to its packages, the
// test is skipped: the program needs none of it.
func realClients(t *testing.T) string {
	t.Helper()
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("npm is not installed")
	}
	spec, err := os.ReadFile("testdata/clients/package.json")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(spec)
	root, err := os.UserCacheDir()
	if err != nil {
		root = os.TempDir()
	}
	dir := filepath.Join(root, "pdpp-test-clients", hex.EncodeToString(sum[:8]))
	done := filepath.Join(dir, "installed")
	if _, err := os.Stat(done); err == nil {
		return dir
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), spec, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), npm, "install", "--no-audit", "--no-fund", "--no-package-lock")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("the clients cannot be installed: %v\n%s", err, out)
	}
	if err := os.WriteFile(done, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// runClient runs a script or program of the clients with their own Node, and gives
// what it printed.
func runClient(t *testing.T, dir string, args ...string) (stdout, stderr []byte) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "node_modules", ".bin", "node"), args...)
	cmd.Dir = dir
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s\n%s", strings.Join(args, " "), err, out.Bytes(), errOut.Bytes())
	}
	return out.Bytes(), errOut.Bytes()
}

// called is one call of session.mjs.
type called struct {
	IsError    bool
	Code       *string
	Text       string
	Structured json.RawMessage
}

// TestRealClients drives `pdpp mcp` over stdio on the demo data with the official
// TypeScript client and the Inspector.
func TestRealClients(t *testing.T) {
	t.Run("TOOLS-1 real clients", func(t *testing.T) {
		needSignals(t)
		clients := realClients(t)
		data := filepath.Join(t.TempDir(), "demo")
		p := start(t, "--data", data, "demo", "--listen", "127.0.0.1:0")
		url := p.await(t, p.stdout, `export URL=(\S+)`)
		p.await(t, p.stdout, tourEnd)
		pdpp, err := exec.LookPath("pdpp")
		if err != nil {
			t.Fatal(err)
		}
		adapter := []string{pdpp, "mcp", url, "--cache-root", filepath.Join(data, "credentials")}

		t.Run("TypeScript", func(t *testing.T) {
			script, err := filepath.Abs("testdata/clients/session.mjs")
			if err != nil {
				t.Fatal(err)
			}
			here := filepath.Join(clients, "session.mjs") // where its packages are found
			text, err := os.ReadFile(script)
			if err == nil {
				err = os.WriteFile(here, text, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
			out, _ := runClient(t, clients, append([]string{here}, adapter...)...)
			checkSession(t, out)
		})
		t.Run("Inspector", func(t *testing.T) {
			inspector := filepath.Join(clients, "node_modules", ".bin", "mcp-inspector")
			out, notes := runClient(t, clients, append(append([]string{inspector, "--cli"}, adapter...), "--method", "tools/list", "--strict")...)
			var list struct{ Tools []struct{ Name string } }
			if err := json.Unmarshal(out, &list); err != nil || len(list.Tools) != 6 {
				t.Errorf("the Inspector lists %d tools: %v\n%s", len(list.Tools), err, out)
			}
			if !bytes.Contains(notes, []byte("0 errors")) {
				t.Errorf("the Inspector finds fault:\n%s", notes)
			}
		})
	})
}

func checkSession(t *testing.T, out []byte) {
	t.Helper()
	var s struct {
		Tools         []string
		Instructions  string
		Before, After map[string]called
		Unknown       int
		Templates     []string
	}
	if err := json.Unmarshal(out, &s); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if want := []string{"schema", "query_records", "aggregate", "search", "fetch", "read_record_field"}; !slices.Equal(s.Tools, want) {
		t.Errorf("TOOLS-1 tools %q, want %q", s.Tools, want)
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
