// Package grant turns a grant, or an owner's own rights, into what a caller can
// reach: which streams, on which connections, with which fields, in which time
// range. Every read decides by it and by nothing else (rs-contract REC-30, G-5).
// It also makes grants: Freeze resolves what an owner asks for, once, and
// Document and ParseDocument write and read the result (G-1).
//
// The package is pure: no I/O, no clock. Grants are frozen; nothing here adds a
// stream, field or connection that the grant does not name. A name outside the
// reach gets the one answer of C-23, whatever route it came in by.
package grant
