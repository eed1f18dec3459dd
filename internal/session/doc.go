// Package session tests the requirements that a client can observe: one table, each row of
// which is checked through sessions of the official client, in both eras of the protocol
// and over every transport.
//
// A row is an id, a sentence and a check. A check opens sessions on a world: a real
// resource server with data, and a log of the requests that it gets. A transport is one
// function: it connects a client with a token, and sends the reads of the surface through
// that log.
//
// The package contains only tests.
package session
