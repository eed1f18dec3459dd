package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// output runs the program to its end with additional variables.
func output(t *testing.T, env []string, args ...string) (text string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "pdpp", args...)
	cmd.Env = append(os.Environ(), append([]string{"PDPP_CACHE_ROOT=" + t.TempDir()}, env...)...)
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// TestSetUp checks how assistants are connected, and that owner credentials are refused.
func TestSetUp(t *testing.T) {
	const url = "http://127.0.0.1:1"
	foreign := regexp.MustCompile(`(?i)pdpp_ot_|owner token|--profile|PDPP_PROFILE|profile|subscription|mcp-developer|list_streams|fetch_blob`)
	for _, client := range []string{"claude-code", "claude-desktop", "chatgpt", "codex", "cursor", "vscode", "gemini-cli"} {
		t.Run("SETUP-1 one recommended path first, "+client, func(t *testing.T) {
			text, code := output(t, nil, "setup", client, "--url", url)
			if code != 0 || !strings.Contains(text, url) {
				t.Fatalf("exit %d:\n%s", code, text)
			}
			first, others, _ := strings.Cut(text, "Other ways")
			if found := foreign.FindString(text); found != "" {
				t.Errorf("%q is shown:\n%s", found, text)
			}
			// Claude Desktop and ChatGPT connect from their own cloud, which cannot reach this
			// address. The address for Cursor is encoded in a link.
			isCloud := client == "claude-desktop" || client == "chatgpt"
			if strings.Contains(first, url+"/mcp") == isCloud && client != "cursor" {
				t.Errorf("the first way is\n%s", first)
			}
			if client != "chatgpt" && !strings.Contains(text, "pdpp connect "+url) {
				t.Errorf("no way with the adapter:\n%s", text)
			}
			if strings.Contains(text, "pdpp_at_") || strings.Contains(others, "Other ways") {
				t.Errorf("a token is shown, or a heading twice:\n%s", text)
			}
		})
	}
	t.Run("SETUP-2 no profiles", func(t *testing.T) {
		text, code := output(t, nil, "mcp", "--help")
		if found := foreign.FindString(text); code != 0 || found != "" {
			t.Errorf("exit %d, %q is offered:\n%s", code, found, text)
		}
	})
	t.Run("OWNER-1 an owner credential in the environment is refused", func(t *testing.T) {
		text, code := output(t, []string{"PDPP_OWNER_TOKEN=pdpp_ot_secret"}, "mcp", url)
		if code != 77 || !strings.Contains(text, "PDPP_OWNER_TOKEN") || strings.Contains(text, "pdpp_ot_secret") {
			t.Errorf("exit %d:\n%s", code, text)
		}
	})
}
