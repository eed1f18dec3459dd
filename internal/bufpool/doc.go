// Package bufpool pools byte buffers, so that an answer reuses the memory of an earlier
// one. The contents of a buffer must be copied or sent before it is put back.
package bufpool
