// Package rsclient reads a PDPP resource server on behalf of a tool (mcp-surface
// §3): one method per route, bounded in time and size, cancelled with the call.
// Answers are kept as the bytes that came; errors are normalized. What other servers
// write differently is decoded by one table (appendix A), decode.go; nothing else
// knows those names.
package rsclient
