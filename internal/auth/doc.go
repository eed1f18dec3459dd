// Package auth authenticates bearer tokens. It parses the Authorization header, looks the
// token up in the store, checks its audience and the status of its grant or package, and
// computes what it may read: its Reach. Invalid tokens are counted by client address, and
// too many of them block the address (H-68).
//
// Every resource of the server authenticates its requests with Authenticate, in a
// snapshot of the store, before it reads parameters or body. A read that the process
// makes for an authenticated request (H-53) has a Caller in its context. Recheck
// authenticates the Caller again in the snapshot that is read, so that nothing is read
// with a token or grant that was revoked meanwhile.
package auth
