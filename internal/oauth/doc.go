// Package oauth is the client side of OAuth for the commands of this program: it finds the
// authorization server of a provider, registers as a public client, obtains tokens with the
// owner's approval in a browser or with a code on another device, renews them, and
// exchanges the token of a package for those of its members (H-165, H-200).
//
// Invariants:
//
//   - A secret is sent only over TLS or to this machine, never after a redirect, and never
//     appears in an error.
//   - The answer to an authorization request counts only once, at the path it was requested
//     for, with the state of the request and the issuer of the server (RFC 9207).
//   - Answers of servers are bounded in size and time, and their texts are shown only as
//     printable ASCII.
//
// The package reads no environment, opens no browser, and prints nothing: callers show what
// the owner needs.
package oauth
