package setup

import "encoding/base64"

const (
	cursorFile = "~/.cursor/mcp.json"
	vscodeFile = ".vscode/mcp.json in your project"
)

// approval follows the step in which a client signs in.
const approval = "Your browser opens, and you choose there what it may read."

var hosts = []host{
	{
		Client: Client{"claude-code", "Claude Code"},
		hosted: []recipeFunc{hostedCommand("claude mcp add --scope user --transport http "+serverName+" ",
			Step{Text: "In a session of Claude Code, type /mcp, choose " + serverName + ", then Authenticate. " + approval})},
		adapter: []recipeFunc{adapterCommand("claude mcp add --scope user " + serverName + " -- "), adapterFile(".mcp.json in your project", "mcpServers", "")},
	},
	{
		Client: Client{"claude-desktop", "Claude Desktop"}, cloud: true,
		hosted: []recipeFunc{inSettings("In Claude, open Settings, Connectors, Add custom connector. Enter the name "+serverName+" and this address:",
			"Add it, then choose Connect. "+approval)},
		adapter: []recipeFunc{adapterFile("claude_desktop_config.json (Settings, Developer, Edit Config)", "mcpServers", "")},
	},
	{
		Client: Client{"chatgpt", "ChatGPT"}, cloud: true,
		hosted: []recipeFunc{inSettings("In ChatGPT, open Settings, Apps & Connectors, and turn on the developer mode in its advanced settings. Choose Create, and enter the name "+
			serverName+", the authentication OAuth, and this address:", "Choose Create, then Connect. "+approval)},
	},
	{
		Client: Client{"codex", "Codex"},
		hosted: []recipeFunc{hostedCommand("codex mcp add "+serverName+" --url ",
			Step{Text: "Then sign in. " + approval, Snippet: "codex mcp login " + serverName + "\n"})},
		adapter: []recipeFunc{adapterCommand("codex mcp add " + serverName + " -- "), codexFile},
	},
	{
		Client:  Client{"cursor", "Cursor"},
		hosted:  []recipeFunc{cursorLink, hostedFile(cursorFile, "mcpServers", "")},
		adapter: []recipeFunc{adapterFile(cursorFile, "mcpServers", "")},
	},
	{
		Client:  Client{"vscode", "VS Code"},
		hosted:  []recipeFunc{vscodeHosted, hostedFile(vscodeFile, "servers", "http")},
		adapter: []recipeFunc{vscodeAdapter, adapterFile(vscodeFile, "servers", "stdio")},
	},
	{
		Client: Client{"gemini-cli", "Gemini CLI"},
		hosted: []recipeFunc{hostedCommand("gemini mcp add --scope user --transport http "+serverName+" ",
			Step{Text: "In a session of Gemini CLI, sign in. " + approval, Snippet: "/mcp auth " + serverName + "\n"})},
		adapter: []recipeFunc{adapterFile("~/.gemini/settings.json", "mcpServers", "")},
	},
}

const inShell = "Run this in a shell:"

// hostedCommand returns a recipe of one shell line, start and the address, and what follows.
func hostedCommand(start string, then Step) recipeFunc {
	return func(at Place) Recipe {
		return Recipe{Kind: KindCommand, Steps: []Step{{inShell, start + Quote(at.endpoint()) + "\n"}, then}}
	}
}

// inSettings returns a recipe for the settings of a program: where the address is entered,
// and what follows.
func inSettings(text, then string) recipeFunc {
	return func(at Place) Recipe {
		return Recipe{Kind: KindUI, Steps: []Step{{text, at.endpoint() + "\n"}, {Text: then}}}
	}
}

// hostedFile returns a recipe that adds the address to a settings file.
func hostedFile(path, section, kind string) recipeFunc {
	return func(at Place) Recipe {
		e := hostedEntry(at)
		e.Type = kind
		return Recipe{Kind: KindFile, Path: path, Steps: []Step{{putInto(path), inSection(section, e)}, {Text: signInThere}}}
	}
}

const signInThere = "When the program asks to sign in, allow it. " + approval

func cursorLink(at Place) Recipe {
	config := base64.StdEncoding.EncodeToString([]byte(compact(entry{URL: at.endpoint()})))
	return Recipe{Kind: KindLink, Steps: []Step{
		{"Open this link, and choose Install:", "cursor://anysphere.cursor-deeplink/mcp/install?name=" + serverName + "&config=" + config + "\n"}, {Text: signInThere},
	}}
}

// vscodeCommand returns the line that adds an entry to VS Code.
func vscodeCommand(e entry) Step {
	e.Name = serverName
	return Step{inShell, "code --add-mcp " + Quote(compact(e)) + "\n"}
}

func vscodeHosted(at Place) Recipe {
	e := hostedEntry(at)
	e.Type = "http"
	return Recipe{Kind: KindCommand, Steps: []Step{vscodeCommand(e), {Text: signInThere}}}
}

func vscodeAdapter(at Place) Recipe {
	return connectFirst(at, Recipe{Kind: KindCommand, Steps: []Step{vscodeCommand(adapterEntry(at))}})
}
