package httpx

import (
	"context"
	"sync"

	"pdpp"
)

// Turns keep one token from using everything that all of them share: it has its
// turn share times at once, and further requests of it wait. It is safe for
// concurrent use. A nil Turns lets everybody through.
type Turns struct {
	share int

	mu    sync.Mutex
	lines map[pdpp.TokenID]*line
}

// line is where the requests of one token wait.
type line struct {
	slots chan struct{}
	users int // that wait or have their turn
}

// NewTurns makes turns of a share; nil, which lifts the limit, when there is no rate.
func NewTurns(rate Rate, share int) *Turns {
	if rate <= 0 {
		return nil
	}
	return &Turns{share: share, lines: map[pdpp.TokenID]*line{}}
}

// Take waits for a turn. After a nil error the caller calls done once.
func (t *Turns) Take(ctx context.Context, id pdpp.TokenID) (done func(), err error) {
	if t == nil {
		return func() {}, nil
	}
	t.mu.Lock()
	l := t.lines[id]
	if l == nil {
		l = &line{slots: make(chan struct{}, t.share)}
		t.lines[id] = l
	}
	l.users++
	t.mu.Unlock()
	select {
	case l.slots <- struct{}{}:
		return func() {
			<-l.slots
			t.leave(id, l)
		}, nil
	case <-ctx.Done():
		t.leave(id, l)
		return nil, ctx.Err()
	}
}

// leave forgets the line when nobody is in it.
func (t *Turns) leave(id pdpp.TokenID, l *line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.users--; l.users == 0 {
		delete(t.lines, id)
	}
}
