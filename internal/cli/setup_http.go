package cli

// Recipes that reach the tools over HTTP, for machines on which this program is not
// installed. No recipe contains the token: the shell or the program inserts it.

const withoutAdapter = "Where pdpp is not installed, over HTTP. "

// How the program gets the token.
const (
	tokenOnce   = withoutAdapter + "Set the variable TOKEN to the token of a grant first."
	tokenAlways = withoutAdapter + "Keep the token of a grant in the variable PDPP_TOKEN of its environment."
	tokenAsked  = withoutAdapter + "The program asks for the token of a grant."
)

// withHeader is the end of a shell line that takes the token from a variable.
const withHeader = ` --header "Authorization: Bearer $TOKEN"`

// overHTTP returns a recipe of one shell line: before, the endpoint, after.
func overHTTP(token, before, after string) recipeFunc {
	return func(l launch) recipe {
		return recipe{Kind: "command", Steps: []string{token, inShell}, Snippet: before + quote(l.endpoint()) + after + "\n"}
	}
}

var claudeOverHTTP = overHTTP(tokenOnce, "claude mcp add --scope user --transport http "+serverName+" ", withHeader)

// remote returns the endpoint as an entry of a settings file.
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
