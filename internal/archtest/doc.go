// Package archtest checks the structure of the repository with ordinary tests: which
// package may import which, what only the edges may do, where documentation is required,
// how large a file may be. Each rule is data and has a reason, which a failing test
// prints.
//
// The package parses Go files without building them. A rule may name a package that does
// not exist yet. Only tests import this package.
package archtest
