package setup

import (
	"cmp"
	"strings"

	"pdpp"
)

// serverName is the name of the server in the settings of programs.
const serverName = "pdpp"

// endpoint returns the URL of the tools.
func (at Place) endpoint() string { return at.Base + "/mcp" }

func (at Place) program() string { return cmp.Or(at.Program, "pdpp") }

// arguments returns the arguments of the adapter. They contain no secret and no choice of
// tools.
func (at Place) arguments() []string {
	args := []string{"mcp", at.Base}
	if at.CacheRoot != "" {
		args = append(args, "--cache-root", at.CacheRoot)
	}
	return args
}

// Connect returns the command that gets a credential for the adapter.
func (at Place) Connect() string {
	line := Quote(at.program()) + " " + pdpp.ConnectCommand(Quote(at.Base))
	if at.CacheRoot != "" {
		line += " --cache-root " + Quote(at.CacheRoot)
	}
	return line
}

// connectFirst returns a recipe of the adapter, after the step that gets a credential
// unless there is one.
func connectFirst(at Place, r Recipe) Recipe {
	if !at.Connected {
		first := Step{"Get a credential for pdpp: run this, and approve in the browser.", at.Connect() + "\n"}
		r.Steps = append([]Step{first}, r.Steps...)
	}
	return r
}

// adapterCommand returns a recipe of one shell line: start, then the adapter's command line.
func adapterCommand(start string) recipeFunc {
	return func(at Place) Recipe {
		words := []string{Quote(at.program())}
		for _, arg := range at.arguments() {
			words = append(words, Quote(arg))
		}
		return connectFirst(at, Recipe{Kind: KindCommand, Steps: []Step{{inShell, start + strings.Join(words, " ") + "\n"}}})
	}
}

// adapterFile returns a recipe that adds the adapter to a settings file.
func adapterFile(path, section, kind string) recipeFunc {
	return func(at Place) Recipe {
		e := adapterEntry(at)
		e.Type = kind
		return connectFirst(at, Recipe{Kind: KindFile, Path: path, Steps: []Step{{putInto(path), inSection(section, e)}}})
	}
}

func codexFile(at Place) Recipe {
	const path = "~/.codex/config.toml"
	var args []string
	for _, arg := range at.arguments() {
		args = append(args, compact(arg)) // a basic string of TOML has the escapes of JSON
	}
	return connectFirst(at, Recipe{Kind: KindFile, Path: path, Steps: []Step{{
		"Add this to " + path + ":",
		"[mcp_servers." + serverName + "]\ncommand = " + compact(at.program()) + "\nargs = [" + strings.Join(args, ", ") + "]\n",
	}}})
}

// Quote quotes s as one word of a shell.
func Quote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@,%", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
