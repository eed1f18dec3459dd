package bufpool

import "testing"

// A buffer that is put back is used again, empty, with the capacity it has grown to; a
// huge one is not.
func TestPool(t *testing.T) {
	for _, c := range []struct {
		grown int
		kept  bool
	}{{100, true}, {MaxKept, true}, {MaxKept + 1, false}} {
		reused := false
		for range 100 { // a sync.Pool may drop a buffer at any time
			var p Pool
			b := p.Get()
			b.Put(append(b.Bytes(), make([]byte, c.grown)...)[:c.grown:c.grown])
			again := p.Get()
			if len(again.Bytes()) != 0 {
				t.Fatalf("a buffer of %d bytes comes back with %d in it", c.grown, len(again.Bytes()))
			}
			reused = reused || cap(again.Bytes()) >= c.grown
		}
		if reused != c.kept {
			t.Errorf("a buffer of %d bytes is reused: %v, want %v", c.grown, reused, c.kept)
		}
	}
}
