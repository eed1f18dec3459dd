// Package manifest reads connector manifests (rs-contract §11.1): it turns the
// JSON that an operator registers into the root package's Manifest, or says,
// with the JSON path and the rule, everything that is wrong with it.
//
// The package is pure: no I/O, no clock. It refuses rather than repairs;
// Adapt alone changes a manifest, of the public implementation, and says what. What it
// accepts holds for every reader without further checks: every field named in a
// stream exists and has the type its use needs (M-2 … M-6), every relation leads
// to a scalar field of a declared stream (M-8), and the full schema row of every
// stream fits its budget (M-10).
//
// Declared order is kept. Keys are compared exactly; keys the rules do not
// mention are ignored, but a key given twice is refused wherever it stands,
// since readers would disagree about which one counts.
package manifest
