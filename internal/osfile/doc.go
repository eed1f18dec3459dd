// Package osfile is the few things about files that systems do differently: locks
// between processes, making new names last, who owns a file, and which file a name stands for. It decides nothing;
// where a system has no such call, a function says so and does nothing.
package osfile
