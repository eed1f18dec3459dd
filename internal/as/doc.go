// Package as is the authorization server (hosted-auth.md §5): clients, authorization
// requests, codes, refresh tokens, the device flow, token exchange and revocation.
//
// The rules are apart from HTTP: client.go, document.go, redirect.go and resource.go are
// pure; the files named after a thing (request.go, decide.go, code.go, family.go, refresh.go,
// device.go, documents.go) hold the transactions about it; the files that end in _handler.go
// parse requests and write answers.
//
// All state is in the store, as entries whose bodies are the small JSON objects of this
// package, so that several processes can serve one store. Whatever reads an entry and then
// changes it does so in one Update, so that a code, a refresh token or a decision has one
// winner. Of codes and tokens only hashes are stored.
//
// The package shows nothing to owners. Pages show a Request, and call Choose, Review, Approve
// and Deny for the owner who has signed in.
package as
