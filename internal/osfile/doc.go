// Package osfile contains the file operations that differ between operating systems:
// locks between processes, making new names durable, the owner of a file, and the
// identity of a file. Where a system has no such call, the function does nothing.
package osfile
