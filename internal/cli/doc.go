// Package cli is the command line: one file per command, and the few functions that all
// commands share. It imports every other package; only cmd/pdpp imports it.
//
// A command returns an error and never ends the process. exit.go turns errors into a
// message and an exit code, session.go opens the store and finds the owner, output.go
// writes text and JSON.
//
// Invariants:
//
//   - Standard output contains the answer and nothing else: with --json exactly one
//     object and a newline (H-8). Progress, warnings and logs go to standard error.
//   - A secret is printed once, by the command that creates it, and never read from a
//     flag or an environment variable (H-9).
//   - A flag overrides its environment variable, which overrides the default (H-6).
package cli
