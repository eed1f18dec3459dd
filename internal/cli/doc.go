// Package cli is the command line: one file per command, and the few things all
// commands share. It knows every other package; nothing knows it.
//
// A command returns an error and never ends the process. One place turns errors
// into a line and an exit code (exit.go); one opens the store and finds the owner
// (session.go); one writes JSON (output.go).
//
// Invariants:
//
//   - Standard output carries the answer and nothing else: with --json exactly
//     one object and a newline (H-8). Progress, warnings and logs go to standard
//     error.
//   - A secret is printed once, by the command that makes it, and is never taken
//     from a flag or an environment variable (H-9).
//   - A flag counts before its environment variable, that one before the default
//     (H-6).
package cli
