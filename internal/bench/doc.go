// Package bench measures the program against bounds that hold on any machine:
// ratios between two things measured in the same run, never absolute speeds.
//
//   - Ingest against bare inserts of the same rows and terms through the same
//     engine.
//   - Reads over HTTP against a bare net/http handler that writes the same bytes.
//   - Reads of a large store against the same reads of a small one.
//   - The memory of a server that has read a large store.
//   - The adapter, `pdpp mcp` over stdio, against the same reads without it.
//
// What is measured is the real path: ingest.Runner, the SQLite store, rs.Server
// behind httpx.NewServer, a client token with a grant. The two sides of a ratio
// take turns, and medians are compared, so that a noisy neighbour hits both.
//
// The data are made up, line by line, from the number of the record alone, so that a
// store of any size needs no memory here. Nothing in this package is
// asserted about speed by a test. The program that prints the table is
// internal/bench/report.
package bench
