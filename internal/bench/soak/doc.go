// Command soak runs the program under a mixed load for some minutes and checks guarantees
// that must hold under any load: `make soak`.
//
// A real server process answers fast and slow readers, searches over long texts, ingests,
// deletes and new manifests. It is killed and restarted, while another process revokes
// grants. The run fails if
//
//   - the server used more memory than its limit,
//   - a revocation took longer than its limit, or its token could still read afterwards,
//   - a record is missing whose ingest was acknowledged,
//   - an answer was malformed, or was an error that load does not explain.
//
// Unlike a test it measures time, so it is not part of `make test`.
package main
