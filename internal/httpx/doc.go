// Package httpx is the HTTP edge that /v1, /mcp and the pages share: request
// ids, the host gate and CORS, the public origin R, limits, the access log, the
// one mapper from an error to a response, and the server with its time limits.
//
// It does not depend on tokens, grants or records. It does not trust requests:
// forwarded headers count only from configured peers (H-120), a request for an
// unknown host is rejected before anything else reads it (H-126), and an error
// without a code is reported without detail (C-42).
//
// Invariants:
//   - WithRequestID is the outermost middleware of every chain, also of a chain
//     that serves requests of the process itself. It creates the per-request
//     state that the other middlewares write to.
//   - No log line contains a query string, a header, a body, a token or a record
//     id (H-160).
//   - All tables are bounded in memory, whatever clients send.
//
// The order of a chain follows H-41:
//
//	Chain(mux, WithRequestID, Observe(…), AccessLog(…), Recover, Deadlines, InFlight(MaxInFlight),
//		edge.Gate, edge.CORS(MethodsREST), Version, edge.Challenge(""), …)
package httpx
