// Package bufpool pools byte buffers, so that the next answer is written where the last
// one was. The contents of a buffer must be copied or sent before it is put back.
package bufpool
