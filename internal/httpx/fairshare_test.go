package httpx

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// waiter is a request that calls Take.
type waiter struct {
	running bool
	err     error
	cancel  context.CancelFunc
	finish  chan struct{} // closed: the work is done
}

func startWaiter(t *testing.T, share *FairShare, client string) *waiter {
	ctx, cancel := context.WithCancel(t.Context())
	out := &waiter{cancel: cancel, finish: make(chan struct{})}
	go func() {
		defer cancel()
		done, err := share.Take(ctx, client)
		if out.err = err; err != nil {
			return
		}
		out.running = true
		<-out.finish
		done()
	}()
	synctest.Wait()
	return out
}

func TestFairShare(t *testing.T) {
	t.Run("H-67 a client has its share", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			share := NewFairShare(2, 0)
			first, second, third := startWaiter(t, share, "x"), startWaiter(t, share, "x"), startWaiter(t, share, "x")
			other := startWaiter(t, share, "y")
			if !first.running || !second.running || third.running || !other.running {
				t.Errorf("requests of one client run: %v %v %v, of another: %v", first.running, second.running, third.running, other.running)
			}
			close(first.finish)
			if synctest.Wait(); !third.running {
				t.Error("a waiting request does not run after another has ended")
			}
			for _, u := range []*waiter{second, third, other} {
				close(u.finish)
			}
			if synctest.Wait(); len(share.queues) != 0 {
				t.Errorf("%d queues remain", len(share.queues))
			}
		})
	})
	t.Run("H-67 all clients have a bound", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			share := NewFairShare(2, 3)
			x := []*waiter{startWaiter(t, share, "x"), startWaiter(t, share, "x"), startWaiter(t, share, "x")}
			y := []*waiter{startWaiter(t, share, "y"), startWaiter(t, share, "y")}
			if !x[0].running || !x[1].running || x[2].running || !y[0].running || y[1].running {
				t.Error("more or less than three requests run")
			}
			// The second client has priority over the third request of the first.
			close(x[0].finish)
			if synctest.Wait(); !y[1].running || x[2].running {
				t.Error("the next request is of the client that has more of them")
			}
			x[2].cancel()
			if synctest.Wait(); !errors.Is(x[2].err, context.Canceled) {
				t.Errorf("Take of a canceled request = %v", x[2].err)
			}
			for _, u := range []*waiter{x[1], y[0], y[1]} {
				close(u.finish)
			}
			if synctest.Wait(); len(share.queues) != 0 || len(share.total) != 0 {
				t.Errorf("%d queues and %d running requests remain", len(share.queues), len(share.total))
			}
		})
	})
	t.Run("H-67 no bound", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			share := NewFairShare(0, 0)
			for range 20 {
				u := startWaiter(t, share, "x")
				if !u.running {
					t.Error("a request waits although there is no bound")
				}
				defer close(u.finish)
			}
		})
	})
}
