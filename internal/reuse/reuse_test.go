package reuse

import "testing"

// A room that is given back is lent again, empty, as large as it has grown; a huge one
// is not.
func TestPool(t *testing.T) {
	for _, c := range []struct {
		grown int
		kept  bool
	}{{100, true}, {Kept, true}, {Kept + 1, false}} {
		lentAgain := false
		for range 100 { // a pool may forget at any time
			var p Pool
			r := p.Borrow()
			r.GiveBack(append(r.Bytes(), make([]byte, c.grown)...)[:c.grown:c.grown])
			again := p.Borrow()
			if len(again.Bytes()) != 0 {
				t.Fatalf("a room of %d bytes is lent with %d in it", c.grown, len(again.Bytes()))
			}
			lentAgain = lentAgain || cap(again.Bytes()) >= c.grown
		}
		if lentAgain != c.kept {
			t.Errorf("a room of %d bytes is lent again: %v, want %v", c.grown, lentAgain, c.kept)
		}
	}
}
