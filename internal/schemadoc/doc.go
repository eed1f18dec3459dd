// Package schemadoc renders the schema documents of the resource server
// (rs-contract §6 and S-5): what a caller may read, and which requests over it
// are accepted. It also owns the flag grammar of compact rows and the
// legend that explains it.
//
// The package is pure: it looks at a reach and at the rows that a request
// selected, does no I/O, keeps no cache and returns no errors. Documents are
// appended to a byte slice in the key order of the contract's samples, without
// white space; equal input gives equal bytes.
//
// Two invariants hold for every document. Nothing outside the reach is named in
// it (S-6): no field, stream, connection, view or relation. And every part of a
// row is drawn from one offer, the declared capabilities cut to the grant, so
// that the parts cannot contradict each other or advertise what is then refused
// . Semantic search is never offered, since no embedding backend is live.
package schemadoc
