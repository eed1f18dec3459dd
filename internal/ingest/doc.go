// Package ingest writes data into the store. `pdpp ingest`, `pdpp import` and POST
// /v1/ingest/{stream} differ in how they read and respond. What a line means, which
// lines are refused and how accepted lines are committed is decided only here. The
// package also stores uploaded blobs (the file first, then its row), and finds blob
// files without a row.
//
// Invariants:
//
//   - Data is stored as received, except insignificant white space (C-33). Values are
//     not decoded into float64 or into Go values.
//   - A refused line never stops the others, and a message about it never contains
//     a value of the record.
//   - Lines take effect in the order of the input, so that of several lines with
//     one key the last one counts.
//   - A STATE is never committed before the records that precede it (H-21).
//   - Memory is bounded by the size of a batch and of the longest line, never by
//     the size of the input.
//
// The package does not depend on the command line, HTTP or a terminal. Progress is
// reported through a callback, the clock is a function, and an exceeded limit is a
// pdpp.Error.
package ingest
