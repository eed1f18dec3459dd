// Package mcp is the MCP surface (mcp-surface.md): six read tools, their resources,
// instructions and limits. It turns reads of a resource server into answers that
// suffice for a model that sees only the text, and for one that sees only the
// structured output. It knows no transport and no SDK: a Surface is called with a
// name and raw arguments, and gives back a Result.
//
// One file per tool; every tool is one entry of the registry. Arguments are checked
// by the table that their schema is made from (args.go). All text goes through the
// budget writer, all quoting through quote.go, all handles through handle.go.
package mcp
