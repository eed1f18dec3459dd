// Package mcp is the MCP surface (mcp-surface.md): read tools, resources and instructions.
// It turns reads of a resource server into answers that suffice for a model that sees only
// the text, and for one that sees only the structured output. It knows no transport and no
// SDK: a Surface is called with a tool and raw arguments, and returns a Result.
//
// A tool is one file with one Tool value, and one entry of the registry. The table of its
// arguments (args.go) defines both their checks (argparse.go) and their schema
// (argschema.go). Texts are rendered by the packages below: recordtext for records and
// hits, schematext for schema documents, quote for strings. limits has the sizes of all of
// them.
package mcp
