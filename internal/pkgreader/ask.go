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
	memberTime = 5 * time.Second // for each member, from the start of its call
	allTime    = 15 * time.Second
)

// outcome is the result of a read from one member: an answer or a failure.
type outcome[T any] struct {
	answer  T
	failure *rsclient.Error
	called  bool // false if the failure is remembered, and the member was not called
}

// reply is the end of a call of a member.
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
// of the members. A member that does not answer in time counts as failed: ask does not
// wait for it and ignores its answer. ask itself returns an error only when ctx ends.
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

// selectMembers returns the indexes of the members to call, and one outcome for each
// member. The outcome of a member that will be called is a timeout until its answer
// replaces it.
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

// take stores a reply as the outcome, unless it came too late. A panic of the call is
// raised again in the caller, which recovers from it (MS-46).
func (o *outcome[T]) take(p *Package, m *Member, r reply[T]) {
	if r.broken != "" {
		panic(r.broken)
	}
	if r.late {
		return
	}
	e := p.remember(m, r.err)
	switch {
	case r.err == nil:
		o.answer, o.failure = r.answer, nil
	case e != nil:
		o.failure = e
	}
}

// firstFailure returns the error of the first member that was called, or else of the
// first member, if all members failed (H-93). If one answered, it returns nil.
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
