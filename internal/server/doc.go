// Package server composes the HTTP server: /v1 (package rs), /mcp, the discovery
// documents, the icon and the probes, and their middleware (middleware.go). It also does
// the background work of a running server (chores.go).
package server
