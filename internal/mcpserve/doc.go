// Package mcpserve puts the MCP surface on the wire with the official Go SDK: the
// revisions of MS-3, the methods of MS-2, and the results of package mcp as they are.
// It is the only package that knows the SDK.
//
// The SDK does the protocol: handshakes, versions, cancellation, transports. What the
// surface answers is written here from bytes, because the SDK would sort the tools and
// escape data that goes through its own result types (MS-9, MS-36).
package mcpserve
