package cli

import "strings"

// recipe describes one way to connect a program (H-185c).
type recipe struct {
	Kind    string   `json:"kind"` // command, or file
	Steps   []string `json:"steps"`
	Snippet string   `json:"snippet"`
	Path    string   `json:"path,omitempty"`
}

// write writes the steps and the text to paste. number precedes the first step where
// several recipes follow each other.
func (r recipe) write(b *strings.Builder, number string) {
	b.WriteString(number + strings.Join(r.Steps, "\n") + "\n\n")
	for line := range strings.Lines(r.Snippet) {
		b.WriteString("    " + line)
	}
}

// launch describes how the adapter is started.
type launch struct{ program, provider, cacheRoot string }

// args returns the arguments of the adapter. They contain no secret and no choice of tools.
func (l launch) args() []string {
	args := []string{"mcp", l.provider}
	if l.cacheRoot != "" {
		args = append(args, "--cache-root", l.cacheRoot)
	}
	return args
}

// shell returns the adapter's command line.
func (l launch) shell() string {
	words := []string{quote(l.program)}
	for _, arg := range l.args() {
		words = append(words, quote(arg))
	}
	return strings.Join(words, " ")
}

// endpoint returns the URL of the same tools over HTTP.
func (l launch) endpoint() string { return l.provider + "/mcp" }

// entry is a server in a settings file: a program to start, or a URL.
type entry struct {
	Name    string            `json:"name,omitempty"`
	Type    string            `json:"type,omitempty"`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

func (l launch) entry() entry { return entry{Command: l.program, Args: l.args()} }

// serverName is the name of the server in the settings of programs.
const serverName = "pdpp"

// recipeFunc writes a recipe for an adapter.
type recipeFunc func(launch) recipe

// host is a program that runs assistants.
type host struct {
	name, title string
	recommended recipeFunc
	others      []recipeFunc
}

const (
	cursorFile = "~/.cursor/mcp.json"
	codeFile   = ".vscode/mcp.json in your project"
)

var hosts = []host{
	{
		"claude-code", "Claude Code", command("claude mcp add --scope user " + serverName + " -- "),
		[]recipeFunc{inFile(".mcp.json in your project", "mcpServers", ""), claudeOverHTTP},
	},
	{"claude-desktop", "Claude Desktop", inFile("claude_desktop_config.json (Settings, Developer, Edit Config)", "mcpServers", ""), nil},
	{
		"codex", "Codex", command("codex mcp add " + serverName + " -- "),
		[]recipeFunc{codexFile, overHTTP(tokenAlways, "codex mcp add "+serverName+" --url ", " --bearer-token-env-var PDPP_TOKEN")},
	},
	{"cursor", "Cursor", inFile(cursorFile, "mcpServers", ""), []recipeFunc{cursorOverHTTP}},
	{"vscode", "VS Code", addToCode, []recipeFunc{inFile(codeFile, "servers", "stdio"), codeOverHTTP}},
	{
		"gemini-cli", "Gemini CLI", inFile("~/.gemini/settings.json", "mcpServers", ""),
		[]recipeFunc{overHTTP(tokenOnce, "gemini mcp add --scope user --transport http "+serverName+" ", withHeader)},
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

// command returns a recipe of one shell line: start, then the adapter's command line.
func command(start string) recipeFunc {
	return func(l launch) recipe {
		return recipe{Kind: "command", Steps: []string{inShell}, Snippet: start + l.shell() + "\n"}
	}
}

// inFile returns a recipe that adds an entry to a settings file.
func inFile(path, section, kind string) recipeFunc {
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
	return "Put this into " + path + ", next to what it already contains, and restart the program:"
}

func addToCode(l launch) recipe {
	e := l.entry()
	e.Name = serverName
	text, err := jsonText(e, "")
	if err != nil {
		panic(err) // strings always encode
	}
	return recipe{Kind: "command", Steps: []string{inShell}, Snippet: "code --add-mcp " + quote(strings.TrimSpace(text)) + "\n"}
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

// tomlText returns a basic string of TOML, which has the escapes of JSON.
func tomlText(s string) string { return strings.TrimSpace(indented(s)) }

// indented encodes JSON for people.
func indented(v any) string {
	text, err := jsonText(v, "  ")
	if err != nil {
		panic(err) // strings and lists of strings always encode
	}
	return text
}
