// Package ingest is the way of data into the store. `pdpp ingest`, `pdpp import`
// and POST /v1/ingest/{stream} differ in how they read and answer; what a line
// means, which lines are refused and how accepted ones are committed is decided
// here, once. Uploads of blobs are here too (a file first, then its row), and so is the
// search for files that have no row.
//
// Invariants:
//
//   - Data is kept as received but for insignificant white space (C-33). Nothing
//     passes through float64 or a tree of values.
//   - A refused line never stops the others, and a message about it never holds a
//     value of the record.
//   - Lines take effect in the order of the input, so that of several lines with
//     one key the last one counts.
//   - A STATE is never committed before the records in front of it (H-21).
//   - Memory is bounded by the size of a batch and of the longest line, never by
//     the size of the input.
//
// The package knows no command line, no HTTP and no terminal: progress is a
// callback, time is a function, and limits are answered as errors of the root
// package.
package ingest
