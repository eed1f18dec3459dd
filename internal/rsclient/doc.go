// Package rsclient reads a PDPP resource server on behalf of a tool (mcp-surface §3): one
// method per route, bounded in time and size, cancelled with the call, repeated at most
// once. Answers are kept as received, except white space between tokens. Errors are
// normalized. Only the provider's origin is called.
//
// One table, in decode.go, has the member names of other servers (appendix A). The views
// over an answer (Page, Record, Hit, Schema, Window) accept any JSON: a member of the
// wrong type counts as missing. They return values unchanged; their callers quote and cut
// them.
package rsclient
