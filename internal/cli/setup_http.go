package cli

// How programs reach the tools over HTTP. They start nothing then, so they can be where
// this program is not. No recipe has the token in it: the shell, or the program, puts
// it in.

const withoutAdapter = "Where pdpp is not installed, over HTTP. "

// The token is taken once, or whenever the program starts.
const (
	tokenOnce   = withoutAdapter + "Set the variable TOKEN to the token of a grant first."
	tokenAlways = withoutAdapter + "Keep the token of a grant in the variable PDPP_TOKEN of its environment."
	tokenAsked  = withoutAdapter + "It asks for the token of a grant."
)

// withHeader is the end of a line that takes the token from the shell.
const withHeader = ` --header "Authorization: Bearer $TOKEN"`

// overHTTP is a recipe of one line for a shell, which has the endpoint in the middle.
func overHTTP(token, before, after string) form {
	return func(l launch) recipe {
		return recipe{Kind: "command", Steps: []string{token, inShell}, Snippet: before + quote(l.endpoint()) + after + "\n"}
	}
}

var claudeOverHTTP = overHTTP(tokenOnce, "claude mcp add --scope user --transport http "+serverName+" ", withHeader)

// remote is the endpoint as settings files have it.
func (l launch) remote(kind, token string) map[string]entry {
	return map[string]entry{serverName: {Type: kind, URL: l.endpoint(), Headers: map[string]string{"Authorization": "Bearer " + token}}}
}

func cursorOverHTTP(l launch) recipe {
	return recipe{
		Kind: "file", Path: cursorFile, Steps: []string{tokenAlways, putInto(cursorFile)},
		Snippet: indented(map[string]any{"mcpServers": l.remote("", "${env:PDPP_TOKEN}")}),
	}
}

func codeOverHTTP(l launch) recipe {
	ask := map[string]any{"type": "promptString", "id": "pdpp-token", "description": "Token of a grant", "password": true}
	return recipe{
		Kind: "file", Path: codeFile, Steps: []string{tokenAsked, putInto(codeFile)},
		Snippet: indented(map[string]any{"inputs": []any{ask}, "servers": l.remote("http", "${input:pdpp-token}")}),
	}
}
