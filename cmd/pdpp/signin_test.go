package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pdpp/internal/npmtest"
	"pdpp/internal/ownertest"
)

// TestSignInOfHosts signs real hosts in at `pdpp serve`, as far as they run without a model:
// they register, open the authorization page, wait for the code, and connect. Their own client
// documents are on the internet, so that documents are off here.
func TestSignInOfHosts(t *testing.T) {
	if testing.Short() {
		t.Skip("make check runs it")
	}
	needSignals(t)
	t.Run("HOSTED-3 Inspector", func(t *testing.T) {
		clients := npmtest.Install(t)
		h := newHost(t, clients, noDocuments)
		p := h.start(t, clients.Bin("node"), clients.Bin("mcp-inspector"), "--cli", h.url+"/mcp", "--transport", "http",
			"--callback-url", "http://"+freeAddr(t)+"/oauth/callback", "--method", "tools/list")
		h.approve(t, p, p.stderr)
		if code := p.exit(t); code != 0 || !strings.Contains(p.stdout.String(), "query_records") {
			t.Errorf("exit code %d, the tools are\n%s", code, p.stdout)
		}
	})
	t.Run("HOSTED-3 Codex", func(t *testing.T) {
		h := newHost(t, npmtest.InstallPackage(t, "@openai/codex", "0.166.0"), noDocuments)
		config := "mcp_oauth_credentials_store = \"file\"\n[mcp_servers.pdpp]\nurl = \"" + h.url + "/mcp\"\n"
		if err := os.WriteFile(filepath.Join(h.home, "config.toml"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		codex := h.folder.Bin("codex")
		p := h.start(t, codex, "mcp", "login", "pdpp")
		h.approve(t, p, p.stdout)
		if code := p.exit(t); code != 0 {
			t.Errorf("exit code %d:\n%s\n%s", code, p.stdout, p.stderr)
		}
		list := h.start(t, codex, "mcp", "list", "--json")
		list.exit(t)
		var servers []struct {
			Auth string `json:"auth_status"`
		}
		if err := json.Unmarshal([]byte(list.stdout.String()), &servers); err != nil || len(servers) != 1 || servers[0].Auth != "o_auth" {
			t.Errorf("%v: the servers are %s", err, list.stdout)
		}
	})
	t.Run("HOSTED-3 Claude Code", func(t *testing.T) {
		terminal, err := exec.LookPath("script") // its login needs a terminal
		if err != nil {
			t.Skip("the program script is not installed")
		}
		h := newHost(t, npmtest.InstallPackage(t, "@anthropic-ai/claude-code", "2.1.325"), noDocuments)
		claude := h.folder.Bin("claude")
		h.start(t, claude, "mcp", "add", "--scope", "user", "--transport", "http", "pdpp", h.url+"/mcp").exit(t)
		p := h.start(t, terminal, "-qec", "'"+claude+"' mcp login pdpp", os.DevNull)
		h.approve(t, p, p.stdout)
		p.exit(t)
		list := h.start(t, claude, "mcp", "list")
		list.exit(t)
		if !strings.Contains(list.stdout.String(), "Connected") {
			t.Errorf("the login says\n%s\nthe list is\n%s", p.stdout, list.stdout)
		}
	})
}

const noDocuments = "--client-metadata=off"

// host is a host of MCP servers with an own home, and a server with an owner.
type host struct {
	ledger
	folder npmtest.Folder
	home   string
}

func newHost(t *testing.T, folder npmtest.Folder, flags ...string) host {
	t.Helper()
	password := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(password, []byte(ownertest.Password), 0o600); err != nil {
		t.Fatal(err)
	}
	h := host{serveLedger(t, append(flags, "--owner-password-file", password)...), folder, t.TempDir()}
	for _, name := range []string{"xdg-open", "open"} { // no browser is opened
		if err := os.WriteFile(filepath.Join(h.home, name), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// start runs a program of the host.
func (h host) start(t *testing.T, name string, args ...string) *process {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = h.home
	cmd.Env = append(os.Environ(), "HOME="+h.home, "CODEX_HOME="+h.home, "BROWSER=true", "DISPLAY=", "MCP_AUTO_OPEN_ENABLED=true",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "PATH="+h.home+":"+filepath.Dir(h.folder.Bin("node"))+":"+os.Getenv("PATH"))
	input, open, err := os.Pipe() // nothing is typed, but the input does not end
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { input.Close(); open.Close() })
	cmd.Stdin = input
	return startProgram(t, cmd)
}

// approve approves the request that a host shows, and brings it the code.
func (h host) approve(t *testing.T, p *process, shown *watched) {
	t.Helper()
	page := p.await(t, shown, `(http://127\.0\.0\.1:\d+/oauth/authorize\?[\w.~%&=+-]+)[\s\x07]`)
	owner := ownertest.NewBrowser(t, h.url)
	owner.Return(owner.Approve(page))
}
