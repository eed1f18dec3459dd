// Package signin signs owners in (hosted-auth.md 6.2): by password, by passkey, by the code
// of the first run, or by a one-time link. It keeps their sessions, and limits how often
// secrets can be guessed.
//
// All state is in entries of the store, so that it survives a restart and is the same for
// every server over the store. A secret that the package issues is stored as its hash. What
// is read and then changed is read and changed in one update, so that of several requests
// with one secret only one succeeds.
//
// The package knows no HTTP: cookies, forms and headers are the pages' concern. Its errors
// are safe to show, and say the same about an unknown owner and a wrong password.
package signin
