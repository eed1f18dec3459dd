// Package archtest keeps the shape of the repository by ordinary tests: which
// package may import which, what only the edges may do, where documentation
// must be, how large a file may get. Each rule is data and carries its reason,
// so that a failing test says why and not only what.
//
// It reads Go files without building them; files of packages that do not exist
// yet are simply not there, so a rule may name a package before it is written.
// Nothing outside tests imports this package.
package archtest
