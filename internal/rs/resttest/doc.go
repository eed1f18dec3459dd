// Package resttest builds whole worlds for tests: a real SQLite store in a
// temporary folder, a real resource server on a loopback listener, and short
// calls to fill the one and ask the other. Nothing in it is a mock.
package resttest
