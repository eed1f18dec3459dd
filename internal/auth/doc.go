// Package auth authenticates bearer tokens. It parses the Authorization header, looks
// the token up in the store, checks its audience and the status of its grant or package,
// and computes what it may read: its Reach. Failures count against the address of the
// client.
//
// Every resource of the server authenticates its requests with Authenticate, in a
// snapshot of the store and before it does anything else with a request. A read that
// the process makes for an authenticated request (H-53) carries a Caller; Recheck
// authenticates it again in the snapshot that is read. So a token or grant that was
// revoked meanwhile reads nothing.
package auth
