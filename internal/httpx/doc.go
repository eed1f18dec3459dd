// Package httpx is the HTTP edge that /v1, /mcp and the pages share: request ids, the
// check of the Host header, CORS, the public origin (called R, H-122), limits, the access
// log, the one function that maps an error to a response, and the HTTP server with its
// time limits. The order of the middleware is in server.Server.Handler (H-41).
//
// It does not depend on tokens, grants or records. It does not trust requests:
// forwarded headers count only from configured peers (H-120), a request for an
// unknown host is rejected before anything else reads it (H-126), and an error
// without a code is reported without detail (C-42).
//
// Invariants:
//   - WithRequestID comes before every middleware that uses the state of a request,
//     also in the chain that serves requests of the process itself. It creates that
//     state.
//   - No log line contains a query string, a header, a body, a token or a record
//     id (H-160).
//   - All tables are bounded in memory, whatever clients send.
package httpx
