package httpx

import (
	"context"
	"sync"
)

// FairShare limits how many requests of one kind run at once: share for each client, and
// total for all clients together. Further requests wait. Each client has its own queue,
// so that a client with many requests delays the others by share requests at most. It is
// safe for concurrent use.
type FairShare struct {
	share int           // 0 if a client has no limit
	total chan struct{} // nil if all clients together have no limit

	mu     sync.Mutex
	queues map[string]*queue
}

// queue holds the waiting requests of one client.
type queue struct {
	slots chan struct{}
	users int // requests that wait or run
}

// NewFairShare returns a FairShare with two limits; 0 means no limit.
func NewFairShare(share, total int) *FairShare {
	f := &FairShare{share: share, queues: map[string]*queue{}}
	if total > 0 {
		f.total = make(chan struct{}, total)
	}
	return f
}

// Take waits until a request of a client may run. After a nil error the caller must call
// done once.
func (f *FairShare) Take(ctx context.Context, client string) (done func(), err error) {
	leave, err := f.wait(ctx, client)
	if err != nil || f.total == nil {
		return leave, err
	}
	select {
	case f.total <- struct{}{}:
		return func() {
			<-f.total
			leave()
		}, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}

// wait waits in the queue of a client.
func (f *FairShare) wait(ctx context.Context, client string) (leave func(), err error) {
	if f.share == 0 {
		return func() {}, nil
	}
	q := f.join(client)
	select {
	case q.slots <- struct{}{}:
		return func() {
			<-q.slots
			f.leave(client, q)
		}, nil
	case <-ctx.Done():
		f.leave(client, q)
		return nil, ctx.Err()
	}
}

func (f *FairShare) join(client string) *queue {
	f.mu.Lock()
	defer f.mu.Unlock()
	q := f.queues[client]
	if q == nil {
		q = &queue{slots: make(chan struct{}, f.share)}
		f.queues[client] = q
	}
	q.users++
	return q
}

// leave removes the queue of a client when no request uses it.
func (f *FairShare) leave(client string, q *queue) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if q.users--; q.users == 0 {
		delete(f.queues, client)
	}
}
