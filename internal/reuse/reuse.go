package reuse

import "sync"

// Kept is the largest room that is kept; a rare huge one is left to the collector.
const Kept = 256 << 10

// Pool has the rooms of one purpose: they become about as large as it needs. The zero
// value is empty and ready.
type Pool struct{ pool sync.Pool }

// Room is room for bytes.
type Room struct {
	pool  *Pool
	bytes []byte
}

// Borrow gives an empty room. Who does not give it back leaves it to the collector.
func (p *Pool) Borrow() *Room {
	if r, ok := p.pool.Get().(*Room); ok {
		return r
	}
	return &Room{pool: p}
}

// Bytes is the room, empty, to be appended to.
func (r *Room) Bytes() []byte { return r.bytes[:0] }

// GiveBack ends the use of the room, with what it has grown to.
func (r *Room) GiveBack(grown []byte) {
	if cap(grown) <= Kept {
		r.bytes = grown
		r.pool.pool.Put(r)
	}
}
