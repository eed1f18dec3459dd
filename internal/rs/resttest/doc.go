// Package resttest builds fixtures for tests of the server: a SQLite store in a temporary
// folder, a server on a loopback listener, and short calls to fill the store and to send
// requests. Nothing in it is a mock.
package resttest
