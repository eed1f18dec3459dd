// Package bench measures the program against bounds that are independent of the machine:
// ratios between two measurements of the same run, never absolute speeds.
//
//   - Ingest against bare inserts of the same rows and terms through the same
//     engine.
//   - Reads over HTTP against a bare net/http handler that writes the same bytes.
//   - Reads of a large store against the same reads of a small one.
//   - The memory of a server that has read a large store.
//   - The adapter, `pdpp mcp` over stdio, against the same reads without it.
//   - The token endpoint against a bare handler with one durable commit.
//   - The consent page of an owner with many sources against that of one source.
//
// It measures the real path: ingest.Runner, the SQLite store, server.Server behind
// httpx.NewServer, a client token with a grant. The two sides of a ratio alternate, and
// medians are compared, so that other load on the machine affects both.
//
// Each record is generated from its number alone, so that a store of any size needs no
// memory here. No test asserts anything about speed. The program internal/bench/report
// prints the table.
package bench
