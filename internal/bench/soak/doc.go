// Command soak runs the program under a mixed load for some minutes and checks what
// it promises whatever happens: `make soak`.
//
// A real server process answers fast and slow readers, searches over planted long
// texts, ingests, deletes and re-declarations, is killed and started again, while
// another process withdraws grants. In the end the run fails when
//
//   - the server needed more memory than it may,
//   - a withdrawal took longer than it may, or its token still read anything after it,
//   - a record whose ingest was acknowledged is missing,
//   - an answer was broken, or was an error that load does not explain.
//
// Unlike a test it looks at the clock, so it is not part of `make test`.
package main
