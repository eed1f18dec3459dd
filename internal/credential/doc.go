// Package credential is the cache of the credentials that this user's programs read
// other servers with (H-202 … H-205): one file for each grant or package, in a folder
// for each provider. It chooses the credential of a provider, refuses what must not be used,
// and renews access tokens with their refresh tokens.
//
// Invariants:
//
//   - An owner's credential is never given out (D5): a file that is marked as one,
//     or holds an owner token, is refused and not read further.
//   - A token goes only to the provider its file names; a refresh token only to the
//     token endpoint of its file, over TLS or to this machine (MS-267).
//   - Files are private to the user, written whole or not at all, under a lock that
//     all programs take. Links and files of other users are refused.
//   - What a file holds beyond what this package knows stays in it.
//
// The package reads no environment and prints nothing; it is told where the cache is
// and what time it is.
package credential
