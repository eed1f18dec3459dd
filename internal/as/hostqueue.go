package as

import (
	"context"
	"strings"
	"sync"
)

// hostQueue lets one request at a time through to each host.
type hostQueue struct {
	mu    sync.Mutex
	hosts map[string]*hostTurn
}

// hostTurn is the turn of a host. Its channel contains a value while a request has the turn.
type hostTurn struct {
	taken chan struct{}
	users int // that have the turn or wait for it
}

// enter waits for the turn of a host, at most as long as two fetches. The caller ends its turn
// with leave.
func (q *hostQueue) enter(ctx context.Context, host string) (leave func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*DocumentTimeout)
	defer cancel()
	host = strings.ToLower(host)
	turn := q.join(host)
	select {
	case turn.taken <- struct{}{}:
		return func() { <-turn.taken; q.quit(host) }, nil
	case <-ctx.Done():
		q.quit(host)
		return nil, ctx.Err()
	}
}

func (q *hostQueue) join(host string) *hostTurn {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.hosts == nil {
		q.hosts = map[string]*hostTurn{}
	}
	turn := q.hosts[host]
	if turn == nil {
		turn = &hostTurn{taken: make(chan struct{}, 1)}
		q.hosts[host] = turn
	}
	turn.users++
	return turn
}

func (q *hostQueue) quit(host string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	turn := q.hosts[host]
	if turn.users--; turn.users == 0 {
		delete(q.hosts, host)
	}
}
