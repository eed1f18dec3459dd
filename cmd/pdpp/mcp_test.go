package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pdpp/internal/mcptest"
)

// assistant starts the adapter as a host does, with the official client.
func assistant(t *testing.T, version, url, cache string) (*sdk.ClientSession, *exec.Cmd) {
	t.Helper()
	cmd := exec.Command("pdpp", "mcp", url, "--cache-root", cache)
	cmd.Stderr = new(watched)
	return mcptest.Connect(t, version, &sdk.CommandTransport{Command: cmd}), cmd
}

func callText(t *testing.T, session *sdk.ClientSession, tool string, args map[string]any) (text string, failed bool) {
	t.Helper()
	res, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil || len(res.Content) == 0 {
		t.Fatalf("%s: %+v, %v", tool, res, err)
	}
	return res.Content[0].(*sdk.TextContent).Text, res.IsError
}

// An assistant in both eras reads, loses its grant, and reads again after a new credential
// was saved, without a restart (STDIO-1, MS-267).
func TestAssistant(t *testing.T) {
	dir, _ := storeEntries(t)
	cache := filepath.Join(t.TempDir(), "cache")
	p := start(t, "--data", dir, "serve", "--listen", "127.0.0.1:0")
	url := p.await(t, p.stderr, listening)
	grant := func() string {
		out := run(t, "--data", dir, "grants", "create", "--client", "Digest", "--spec", shared("spec.json"),
			"--save-credential", url, "--cache-root", cache)
		return regexp.MustCompile(`grt_[0-9a-f]+`).FindString(out)
	}
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		t.Run(version, func(t *testing.T) {
			id := grant()
			session, _ := assistant(t, version, url, cache)
			tools, err := session.ListTools(t.Context(), nil)
			if err != nil || len(tools.Tools) != 6 {
				t.Fatalf("tools %+v, %v", tools, err)
			}
			entries := map[string]any{"stream": "entries"}
			if text, failed := callText(t, session, "query_records", entries); failed || !strings.Contains(text, "Bread") {
				t.Errorf("STDIO-1 %s", text)
			}
			run(t, "--data", dir, "grants", "revoke", id)
			if text, failed := callText(t, session, "query_records", entries); !failed || !strings.Contains(text, "run: pdpp connect "+url) || strings.Contains(text, cache) {
				t.Errorf("MS-267 after the end of the grant: %s", text)
			}
			grant()
			if text, failed := callText(t, session, "query_records", entries); failed || !strings.Contains(text, "Bread") {
				t.Errorf("MS-267 after a new credential: %s", text)
			}
		})
	}
}

// The adapter ends with code 0 after SIGTERM and when its input ends.
func TestAdapterEnds(t *testing.T) {
	needSignals(t)
	dir, _ := storeEntries(t)
	cache := filepath.Join(t.TempDir(), "cache")
	const url = "http://127.0.0.1:1"
	run(t, "--data", dir, "grants", "create", "--client", "Digest", "--spec", shared("spec.json"), "--save-credential", url, "--cache-root", cache)

	begin := func(stdout io.Writer) (*process, io.WriteCloser) {
		p := &process{cmd: exec.Command("pdpp", "mcp", url, "--cache-root", cache), stdout: new(watched), stderr: new(watched), done: make(chan error, 1)}
		p.cmd.Stdout, p.cmd.Stderr = p.stdout, p.stderr
		if stdout != nil {
			p.cmd.Stdout = stdout
		}
		in, err := p.cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := p.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		go func() { p.done <- p.cmd.Wait() }()
		t.Cleanup(func() { _ = p.cmd.Process.Kill() })
		p.await(t, p.stderr, "pdpp mcp: serving")
		return p, in
	}
	p, _ := begin(nil)
	p.cmd.Process.Signal(syscall.SIGTERM)
	if code := p.exit(t); code != 0 {
		t.Errorf("MS-262 after SIGTERM: %d\n%s", code, p.stderr)
	}
	p, in := begin(nil)
	in.Close()
	if code := p.exit(t); code != 0 || p.stdout.String() != "" {
		t.Errorf("MS-262 after the end of the input: %d, stdout %q\n%s", code, p.stdout, p.stderr)
	}

	// The host closes only standard output.
	closed, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p, in = begin(out)
	out.Close()
	closed.Close()
	if _, err := io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	if code := p.exit(t); code != 1 || !strings.Contains(p.stderr.String(), "Standard output was closed") {
		t.Errorf("MS-262 after the end of the output: %d\n%s", code, p.stderr)
	}
}
