// Package credential manages the credentials with which programs of this user read other
// servers (H-202 … H-205): one file for each grant or package, in a folder for each
// provider. It chooses the credential of a provider, rejects credentials that must not be
// used, and renews access tokens.
//
// Invariants:
//
//   - An owner credential is never returned (D5): a file that is marked as one, or
//     contains an owner token, is rejected.
//   - A token is sent only to the provider that its file names, and a refresh token only
//     to the token endpoint of its file, over TLS or to this machine (MS-267).
//   - Files are private to the user and replaced atomically, under a lock that all
//     programs use. Links and files of other users are rejected.
//   - Unknown members of a file are kept.
//
// The package reads no environment and prints nothing. Callers pass the folder and the
// clock.
package credential
