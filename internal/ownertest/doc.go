// Package ownertest does in tests what an owner does in a browser: sign in, choose, approve.
// It uses the pages of the server as they are, without scripts.
package ownertest
