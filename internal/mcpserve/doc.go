// Package mcpserve puts the MCP surface on the wire with the official Go SDK: the
// revisions of MS-3, the methods of MS-2, and the results of package mcp as they are.
// It is the only package that knows the SDK.
//
// The SDK does the protocol: handshakes, versions, transports. What the surface answers
// is done by Do and written by Outcome.Append from bytes, past the SDK: that would decode and encode every
// result several times, sort the tools, and escape data that goes through its own
// result types (MS-9, MS-36). A request that Do does not know, or that does not
// clearly follow a revision, is the SDK's.
package mcpserve
