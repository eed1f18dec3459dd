// Package rsclient reads a PDPP resource server on behalf of a tool (mcp-surface
// §3): one method per route, bounded in time and size, cancelled with the call,
// repeated at most once. Answers are kept as the bytes that came, but for white
// space between tokens; errors are normalized. Nothing but the provider's origin is
// called, and no other route can be.
//
// What other servers write differently is decoded by one table (appendix A),
// decode.go; nothing else knows those names. The views over an answer (Page, Record,
// Hit, Schema, Window) take anything: what is of the wrong type counts as missing.
// They are exact; quoting and cutting is for who prints them.
package rsclient
