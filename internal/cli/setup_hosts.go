package cli

import (
	"bytes"
	"encoding/json"
	"strings"
)

// recipe is one way to connect a program (H-185c).
type recipe struct {
	Kind    string   `json:"kind"` // command, or file
	Steps   []string `json:"steps"`
	Snippet string   `json:"snippet"`
	Path    string   `json:"path,omitempty"`
}

// write writes the steps and what to paste; number is before the first step where one
// recipe comes after another.
func (r recipe) write(b *strings.Builder, number string) {
	b.WriteString(number + strings.Join(r.Steps, "\n") + "\n\n")
	for line := range strings.Lines(r.Snippet) {
		b.WriteString("    " + line)
	}
}

// launch is how the adapter is started.
type launch struct{ program, provider, cacheRoot string }

// args are the arguments of the adapter: nothing secret, no choice of tools.
func (l launch) args() []string {
	args := []string{"mcp", l.provider}
	if l.cacheRoot != "" {
		args = append(args, "--cache-root", l.cacheRoot)
	}
	return args
}

// shell is the adapter's command line.
func (l launch) shell() string {
	words := []string{quote(l.program)}
	for _, arg := range l.args() {
		words = append(words, quote(arg))
	}
	return strings.Join(words, " ")
}

// endpoint is where the same tools are over HTTP.
func (l launch) endpoint() string { return l.provider + "/mcp" }

// entry is a server as settings files have it: a program to start, or a URL.
type entry struct {
	Name    string            `json:"name,omitempty"`
	Type    string            `json:"type,omitempty"`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

func (l launch) entry() entry { return entry{Command: l.program, Args: l.args()} }

// serverName is the name under which programs know the server.
const serverName = "pdpp"

// form is a way to connect a program.
type form func(launch) recipe

// host is a program that assistants run in.
type host struct {
	name, title string
	recommended form
	others      []form
}

const (
	cursorFile = "~/.cursor/mcp.json"
	codeFile   = ".vscode/mcp.json in your project"
)

var hosts = []host{
	{
		"claude-code", "Claude Code", command("claude mcp add --scope user " + serverName + " -- "),
		[]form{inFile(".mcp.json in your project", "mcpServers", ""), claudeOverHTTP},
	},
	{"claude-desktop", "Claude Desktop", inFile("claude_desktop_config.json (Settings, Developer, Edit Config)", "mcpServers", ""), nil},
	{
		"codex", "Codex", command("codex mcp add " + serverName + " -- "),
		[]form{codexFile, overHTTP(tokenAlways, "codex mcp add "+serverName+" --url ", " --bearer-token-env-var PDPP_TOKEN")},
	},
	{"cursor", "Cursor", inFile(cursorFile, "mcpServers", ""), []form{cursorOverHTTP}},
	{"vscode", "VS Code", addToCode, []form{inFile(codeFile, "servers", "stdio"), codeOverHTTP}},
	{
		"gemini-cli", "Gemini CLI", inFile("~/.gemini/settings.json", "mcpServers", ""),
		[]form{overHTTP(tokenOnce, "gemini mcp add --scope user --transport http "+serverName+" ", withHeader)},
	},
}

func hostNames() []string {
	var names []string
	for _, h := range hosts {
		names = append(names, h.name)
	}
	return names
}

func findHost(name string) (host, bool) {
	for _, h := range hosts {
		if h.name == name {
			return h, true
		}
	}
	return host{}, false
}

const inShell = "Run this in a shell:"

// command is a recipe of one line for a shell, which ends with the adapter's.
func command(start string) form {
	return func(l launch) recipe {
		return recipe{Kind: "command", Steps: []string{inShell}, Snippet: start + l.shell() + "\n"}
	}
}

// inFile is a recipe that puts an entry into a settings file.
func inFile(path, section, kind string) form {
	return func(l launch) recipe {
		e := l.entry()
		e.Type = kind
		return recipe{
			Kind: "file", Path: path, Snippet: indented(map[string]map[string]entry{section: {serverName: e}}),
			Steps: []string{putInto(path)},
		}
	}
}

func putInto(path string) string {
	return "Put this into " + path + ", beside what is there, and start the program again:"
}

func addToCode(l launch) recipe {
	e := l.entry()
	e.Name = serverName
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(indented(e))); err != nil {
		panic(err) // it was written a line above
	}
	return recipe{Kind: "command", Steps: []string{inShell}, Snippet: "code --add-mcp " + quote(b.String()) + "\n"}
}

func codexFile(l launch) recipe {
	var args []string
	for _, arg := range l.args() {
		args = append(args, tomlText(arg))
	}
	return recipe{
		Kind: "file", Path: "~/.codex/config.toml", Steps: []string{"Add this to ~/.codex/config.toml:"},
		Snippet: "[mcp_servers." + serverName + "]\ncommand = " + tomlText(l.program) + "\nargs = [" + strings.Join(args, ", ") + "]\n",
	}
}

// tomlText writes a basic string of TOML, whose escapes are those of JSON.
func tomlText(s string) string { return strings.TrimSpace(indented(s)) }

// indented writes JSON for people.
func indented(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		panic(err) // texts and lists of texts
	}
	return b.String()
}
