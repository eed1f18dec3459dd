// Package tlstest starts TLS servers for tests, with certificates of an authority that only
// the test trusts.
package tlstest
