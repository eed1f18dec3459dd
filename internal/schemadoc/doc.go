// Package schemadoc renders the schema documents of the resource server (rs-contract §6
// and S-5): what a caller may read, and which requests are accepted. It also defines the
// flag grammar of compact rows and the legend that explains it.
//
// The package is pure: its input is a reach and the rows that a request selected. It
// does no I/O, has no cache and returns no errors. Documents are appended to a byte
// slice in the key order of the samples of the contract, without white space. Equal
// input yields equal bytes.
//
// Two invariants hold for every document. It names no field, stream, connection, view or
// relation outside the reach (S-6). Every part of a row is rendered from one offer, the
// declared capabilities within the grant, so that the parts cannot contradict each other
// or advertise a request that is then rejected. Semantic search is never offered,
// because there is no embedding backend.
package schemadoc
