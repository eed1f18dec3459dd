// Package manifest parses connector manifests (rs-contract §11.1). It returns a
// pdpp.Manifest for the JSON that an operator registers, or reports every problem with
// its JSON path.
//
// The package is pure: no I/O, no clock. Parse rejects an invalid manifest and repairs
// nothing. Adapt converts manifests of the public implementation and reports each
// change. Users of a parsed manifest need no further checks: every field that a stream
// names exists and has a suitable type (M-2 … M-6), every relation refers to a scalar
// field of a declared stream (M-8), and the full schema row of every stream fits its
// budget (M-10).
//
// Declared order is preserved. Keys are compared exactly. Unknown keys are ignored, but
// a duplicate key is an error everywhere, because readers differ in which one they use.
package manifest
