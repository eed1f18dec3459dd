package bufpool

import "sync"

// MaxKept is the largest buffer that a pool keeps. Larger ones are rare and are left to
// the garbage collector.
const MaxKept = 256 << 10

// Pool pools the buffers of one purpose, so that they grow to about the size it needs.
// The zero value is an empty pool.
type Pool struct{ pool sync.Pool }

// Buffer is a byte buffer from a Pool.
type Buffer struct {
	pool  *Pool
	bytes []byte
}

// Get returns an empty buffer. A buffer that is not put back is garbage collected.
func (p *Pool) Get() *Buffer {
	if b, ok := p.pool.Get().(*Buffer); ok {
		return b
	}
	return &Buffer{pool: p}
}

// Bytes returns the buffer with length 0, to append to.
func (b *Buffer) Bytes() []byte { return b.bytes[:0] }

// Put returns the buffer to its pool. grown is what was appended to Bytes; it must not
// be used any more.
func (b *Buffer) Put(grown []byte) {
	if cap(grown) <= MaxKept {
		b.bytes = grown
		b.pool.pool.Put(b)
	}
}
