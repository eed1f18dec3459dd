package telemetry

import (
	"strings"

	"pdpp"
)

// other replaces every value that is not a constant of this program.
const other = "_OTHER"

// labels holds the allowed values of labels and attributes.
type labels struct{ methods, tools, protocols, errors map[string]bool }

func newLabels(tools []string) labels {
	l := labels{
		methods:   set(mcpMethods),
		tools:     set(tools),
		protocols: set([]string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"}),
		errors:    set(rpcErrors),
	}
	for _, code := range pdpp.Codes() {
		l.errors[string(code)] = true
	}
	return l
}

var mcpMethods = []string{
	"initialize", "ping", "server/discover", "tools/list", "tools/call", "resources/list", "resources/templates/list",
	"resources/read", "notifications/initialized", "notifications/cancelled",
}

// rpcErrors are the numbers of JSON-RPC errors that an MCP operation can fail with.
var rpcErrors = []string{"-32700", "-32600", "-32601", "-32602", "-32603", "-32002", "-32020", "-32022"}

func set(list []string) map[string]bool {
	m := make(map[string]bool, len(list))
	for _, s := range list {
		m[s] = true
	}
	return m
}

// labelFor returns s when it is allowed or empty, else other.
func labelFor(allowed map[string]bool, s string) string {
	if s == "" || allowed[s] {
		return s
	}
	return other
}

// plainRoute returns the pattern of a route without its method.
func plainRoute(pattern string) string {
	if _, path, ok := strings.Cut(pattern, " "); ok {
		return path
	}
	return pattern
}
