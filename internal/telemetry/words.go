package telemetry

import (
	"strings"

	"pdpp/internal/httpx"
)

// other stands for everything that is no word of this program.
const other = "_OTHER"

// words are the values that labels and attributes can have.
type words struct{ methods, tools, protocols, errors map[string]bool }

func newWords(tools []string) words {
	w := words{
		methods:   set(mcpMethods),
		tools:     set(tools),
		protocols: set([]string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"}),
		errors:    set(adapterErrors),
	}
	for _, code := range httpx.Codes() {
		w.errors[string(code)] = true
	}
	return w
}

var mcpMethods = []string{
	"initialize", "ping", "server/discover", "tools/list", "tools/call", "resources/list", "resources/templates/list",
	"resources/read", "notifications/initialized", "notifications/cancelled",
}

// adapterErrors are what an MCP operation can fail with besides the codes of /v1: the
// adapter's own codes (MS-45) and the numbers of JSON-RPC.
var adapterErrors = []string{
	"blob_too_large", "conflicting_connection_id", "internal_error", "invalid_field_window_selector", "invalid_filter",
	"invalid_id", "invalid_name", "schema_too_large", "upstream_invalid", "upstream_redirect", "upstream_timeout",
	"upstream_too_large", "upstream_unreachable",
	"-32700", "-32600", "-32601", "-32602", "-32603", "-32002", "-32020", "-32022",
}

func set(list []string) map[string]bool {
	m := make(map[string]bool, len(list))
	for _, s := range list {
		m[s] = true
	}
	return m
}

// known gives s when it is one of the words, else other; "" stays "".
func known(words map[string]bool, s string) string {
	if s == "" || words[s] {
		return s
	}
	return other
}

// plainRoute is the pattern of a route without its method.
func plainRoute(pattern string) string {
	if _, path, ok := strings.Cut(pattern, " "); ok {
		return path
	}
	return pattern
}
