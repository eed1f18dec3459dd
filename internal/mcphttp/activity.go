package mcphttp

import (
	"pdpp/internal/mcp"
	"pdpp/internal/mcpserve"
)

// countedAs returns the name under which what a message reads is counted: that of its tool,
// or of the method that reads resources. It returns "" for messages that read no data.
func countedAs(m *mcpserve.Message) string {
	switch m.Method {
	case "resources/read":
		return "resources/read"
	case "tools/call":
		if tool := mcp.Tools().Lookup(m.Name); tool != nil {
			return tool.Name
		}
	}
	return ""
}
