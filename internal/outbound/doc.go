// Package outbound makes the HTTP requests of the server to addresses that others name:
// documents of clients, and webhooks. Its policy (hosted-auth H-190) keeps such a request
// on the public internet: every address of the host must be public, the connection goes
// to an address that was checked, and nothing redirects it elsewhere.
package outbound
