package pkgreader

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"pdpp"
	"pdpp/internal/rsclient"
)

// The bounds of a read from many members (H-90, H-100).
const (
	atOnce     = 8
	memberTime = 5 * time.Second // from the start of the member's own call
	allTime    = 15 * time.Second
)

// outcome is the result of a read from one member: an answer or a failure.
type outcome[T any] struct {
	answer  T
	failure *rsclient.Error
	called  bool // false: the failure is remembered, and the member was not called
}

// reply is how the call of a member ended.
type reply[T any] struct {
	index  int
	answer T
	late   bool
	err    error
	broken string // the value and stack of a panic
}

// reader reads from the member with an index and parses the answer, so that parsing
// runs concurrently too.
type reader[T any] func(ctx context.Context, index int) (T, error)

// ask reads from members concurrently, a few at a time. The outcomes are in the order
// of the members. A late member has failed: ask does not wait for it, drops its answer,
// and its call ends with its context. The error is that of ctx.
func ask[T any](ctx context.Context, p *Package, members []*Member, read reader[T]) ([]outcome[T], error) {
	all, cancel := context.WithTimeout(ctx, allTime)
	defer cancel()
	outcomes, queue := selectMembers[T](ctx, p, members)
	waiting := make(chan int, len(queue))
	for _, i := range queue {
		waiting <- i
	}
	close(waiting)
	replies := make(chan reply[T], len(queue)) // buffered: no goroutine blocks on it
	for range min(atOnce, len(queue)) {
		go func() {
			for i := range waiting {
				replies <- call(all, i, read)
			}
		}()
	}
	for range queue {
		select {
		case r := <-replies:
			outcomes[r.index].take(p, members[r.index], r)
		case <-all.Done():
			return outcomes, ctx.Err()
		}
	}
	return outcomes, ctx.Err()
}

// selectMembers returns the indexes of the members to call. Until it answers, a member
// counts as late.
func selectMembers[T any](ctx context.Context, p *Package, members []*Member) (outcomes []outcome[T], queue []int) {
	outcomes = make([]outcome[T], len(members))
	late := p.refuse(ctx, refusal{code: pdpp.CodeTimeout, message: "This source did not answer in time."})
	now := p.Clock()
	for i, m := range members {
		if lost := p.Memory.lost(p.ID, m.GrantID, now); lost != nil {
			outcomes[i] = outcome[T]{failure: lost}
			continue
		}
		outcomes[i] = outcome[T]{failure: late, called: true}
		queue = append(queue, i)
	}
	return outcomes, queue
}

// call calls one member.
func call[T any](all context.Context, i int, read reader[T]) (r reply[T]) {
	r.index = i
	ctx, cancel := context.WithTimeout(all, memberTime)
	defer cancel()
	defer func() {
		if cause := recover(); cause != nil {
			r.broken = fmt.Sprintf("%v\n%s", cause, debug.Stack())
		}
	}()
	if ctx.Err() == nil {
		r.answer, r.err = read(ctx, i)
	}
	r.late = ctx.Err() != nil
	return r
}

// take makes a reply the outcome, unless it is late. A panic continues in the caller,
// which recovers from it (MS-46).
func (o *outcome[T]) take(p *Package, m *Member, r reply[T]) {
	if r.broken != "" {
		panic(r.broken)
	}
	if r.late {
		return
	}
	e := p.noted(m, r.err)
	switch {
	case r.err == nil:
		o.answer, o.failure = r.answer, nil
	case e != nil:
		o.failure = e
	}
}

// firstFailure is the error of a read that failed at every member (H-93); nil when
// one answered.
func firstFailure[T any](p *Package, outcomes []outcome[T]) *rsclient.Error {
	var first, spared *rsclient.Error
	for _, o := range outcomes {
		switch {
		case o.failure == nil:
			return nil
		case o.called && first == nil:
			first = o.failure
		case !o.called && spared == nil:
			spared = o.failure
		}
	}
	if first == nil {
		first = spared
	}
	if first == nil {
		return nil
	}
	return p.withUnavailable(first)
}
