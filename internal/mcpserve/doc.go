// Package mcpserve implements the server side of the Model Context Protocol: the revisions
// of MS-3, the methods of MS-2, and the results of package mcp.
//
// Server.Do answers every request of both transports and keeps no state. Serve is the
// stdio transport; package mcphttp is the HTTP transport. Results are written from
// bytes: the data of a record is not decoded and encoded again (MS-36).
package mcpserve
