// Package session holds the requirements that a client must be able to see for itself:
// one table, each row of which is checked through sessions of the official client, in
// both eras of the protocol and over every transport.
//
// A row is an id, a sentence and a check. A check is given sessions and the world
// behind them: a real resource server with data, and a record of what it was asked.
// A transport is one function (transports); it connects a client for a token, and
// sends the reads of the server's side through the world's record.
//
// It has no code of its own besides tests.
package session
