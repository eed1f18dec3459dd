package mcp

import "sync"

// buffer is room for bytes that another call uses again. What is written to it is
// copied before it is given back, and nobody reads behind what was written.
type buffer struct{ b []byte }

var buffers = sync.Pool{New: func() any { return new(buffer) }}

// maxKept bounds what is kept of a rare huge result.
const maxKept = 256 << 10

// borrow gives an empty buffer.
func borrow() *buffer {
	r := buffers.Get().(*buffer)
	r.b = r.b[:0]
	return r
}

// giveBack ends the use of a buffer, with what it has grown to.
func (r *buffer) giveBack(grown []byte) {
	if cap(grown) <= maxKept {
		r.b = grown
		buffers.Put(r)
	}
}
