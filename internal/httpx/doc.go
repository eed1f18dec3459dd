// Package httpx is the HTTP edge that /v1, /mcp and the pages share: request
// ids, the host gate and CORS, the public origin R, limits, the access log, the
// one mapper from an error to an answer, and the server with its time limits.
//
// It knows nothing of tokens, grants or records. It refuses to trust: forwarded
// headers count only from listed peers (H-120), a host that is not ours is
// turned away before anything else looks at the request (H-126), and an error
// without a code is answered without detail (C-42).
//
// Invariants:
//   - WithRequestID is the outermost middleware of every chain, also of a chain that
//     serves requests made inside the process. It makes the per-request state
//     that everything else here writes to.
//   - No log line holds a query string, a header, a body, a token or a record id
//     (H-160).
//   - All tables are bounded in memory, whatever strangers send.
//
// The order of a chain is that of H-41:
//
//	Chain(mux, WithRequestID, Observe(…), AccessLog(…), Recover, Deadlines, InFlight(MaxInFlight),
//		edge.Gate, edge.CORS(MethodsREST), Version, edge.Challenge(""), …)
package httpx
