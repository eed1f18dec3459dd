package httpx

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// turn is a request that takes a turn, and says in had when it has it.
type turn struct {
	had    bool
	err    error
	leave  context.CancelFunc // gives up waiting
	finish chan struct{}      // closed: the work is done
}

func takeTurn(t *testing.T, turns *FairShare, client string) *turn {
	ctx, cancel := context.WithCancel(t.Context())
	out := &turn{leave: cancel, finish: make(chan struct{})}
	go func() {
		defer cancel()
		done, err := turns.Take(ctx, client)
		if out.err = err; err != nil {
			return
		}
		out.had = true
		<-out.finish
		done()
	}()
	synctest.Wait()
	return out
}

func TestFairShare(t *testing.T) {
	t.Run("H-67 a client has its share", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			turns := NewFairShare(2, 0)
			first, second, third := takeTurn(t, turns, "x"), takeTurn(t, turns, "x"), takeTurn(t, turns, "x")
			other := takeTurn(t, turns, "y")
			if !first.had || !second.had || third.had || !other.had {
				t.Errorf("turns of one client %v %v %v, of another %v", first.had, second.had, third.had, other.had)
			}
			close(first.finish)
			if synctest.Wait(); !third.had {
				t.Error("a turn that ended is not given to the next in line")
			}
			for _, u := range []*turn{second, third, other} {
				close(u.finish)
			}
			if synctest.Wait(); len(turns.queues) != 0 {
				t.Errorf("%d lines are left", len(turns.queues))
			}
		})
	})
	t.Run("H-67 all clients have a bound", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			turns := NewFairShare(2, 3)
			x := []*turn{takeTurn(t, turns, "x"), takeTurn(t, turns, "x"), takeTurn(t, turns, "x")}
			y := []*turn{takeTurn(t, turns, "y"), takeTurn(t, turns, "y")}
			if !x[0].had || !x[1].had || x[2].had || !y[0].had || y[1].had {
				t.Error("more than three turns at once, or not three")
			}
			// The second client comes before the third request of the first.
			close(x[0].finish)
			if synctest.Wait(); !y[1].had || x[2].had {
				t.Error("the turn went to the client that has more of them")
			}
			x[2].leave()
			if synctest.Wait(); !errors.Is(x[2].err, context.Canceled) {
				t.Errorf("who gives up waiting gets %v", x[2].err)
			}
			for _, u := range []*turn{x[1], y[0], y[1]} {
				close(u.finish)
			}
			if synctest.Wait(); len(turns.queues) != 0 || len(turns.total) != 0 {
				t.Errorf("%d lines and %d turns are left", len(turns.queues), len(turns.total))
			}
		})
	})
	t.Run("H-67 no bound", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			turns := NewFairShare(0, 0)
			for range 20 {
				u := takeTurn(t, turns, "x")
				if !u.had {
					t.Error("a request waits for nothing")
				}
				defer close(u.finish)
			}
		})
	})
}
