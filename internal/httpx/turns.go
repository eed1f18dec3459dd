package httpx

import (
	"context"
	"sync"
)

// Turns bounds how many requests of one kind do their work at once: share of
// them for each client, total for all clients together. Further ones wait, those
// of one client in a line of their own, so that a client with many requests
// delays the others by share of them at most. It is safe for concurrent use.
type Turns struct {
	share int           // 0: no bound for a client
	total chan struct{} // nil: no bound for all

	mu    sync.Mutex
	lines map[string]*line
}

// line is where the requests of one client wait.
type line struct {
	slots chan struct{}
	users int // that wait or have their turn
}

// NewTurns makes turns with two bounds; 0 lifts one.
func NewTurns(share, total int) *Turns {
	t := &Turns{share: share, lines: map[string]*line{}}
	if total > 0 {
		t.total = make(chan struct{}, total)
	}
	return t
}

// Take waits for a turn of a client. After a nil error the caller calls done once.
func (t *Turns) Take(ctx context.Context, client string) (done func(), err error) {
	leave, err := t.queue(ctx, client)
	if err != nil || t.total == nil {
		return leave, err
	}
	select {
	case t.total <- struct{}{}:
		return func() {
			<-t.total
			leave()
		}, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}

// queue waits in the line of a client.
func (t *Turns) queue(ctx context.Context, client string) (leave func(), err error) {
	if t.share == 0 {
		return func() {}, nil
	}
	l := t.join(client)
	select {
	case l.slots <- struct{}{}:
		return func() {
			<-l.slots
			t.part(client, l)
		}, nil
	case <-ctx.Done():
		t.part(client, l)
		return nil, ctx.Err()
	}
}

func (t *Turns) join(client string) *line {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.lines[client]
	if l == nil {
		l = &line{slots: make(chan struct{}, t.share)}
		t.lines[client] = l
	}
	l.users++
	return l
}

// part removes the line of a client when no request uses it.
func (t *Turns) part(client string, l *line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.users--; l.users == 0 {
		delete(t.lines, client)
	}
}
