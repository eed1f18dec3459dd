// Package grant computes what a caller can reach from a grant or from the rights of an
// owner: which streams, on which connections, with which fields, in which time range.
// Every read uses it, and no other rule decides (rs-contract REC-30, G-5). The package
// also creates grants: Freeze resolves the spec of an owner once, and Document and
// ParseDocument write and read the result (G-1).
//
// The package is pure: no I/O, no clock. Grants do not change: nothing here adds a
// stream, field or connection that the grant does not name. All routes report a name
// outside the reach with the same error (C-23).
package grant
