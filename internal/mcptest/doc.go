// Package mcptest connects the official MCP client to a server in a test: over pipes, as
// an assistant runs `pdpp mcp`, or over HTTP. Nothing in it is a mock. Worlds of data are
// in rs/resttest.
package mcptest
