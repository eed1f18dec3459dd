// Package setup is the table of assistants and how each of them is connected (H-185b,
// H-185c). `pdpp setup` and the page /setup show the same recipes.
//
// A recipe contains no secret, no choice of tools and no other endpoint than /mcp [SETUP-1].
// The package does no I/O.
package setup
