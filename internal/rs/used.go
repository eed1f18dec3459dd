package rs

import (
	"context"
	"sync"
	"time"

	"pdpp"
	"pdpp/internal/store"
)

// usedTokens collects when tokens were used and writes that in batches: a write for each
// read would make reads as slow as writes. The first use after a pause is written at
// once, the following ones every useEvery.
type usedTokens struct {
	mu      sync.Mutex
	pending map[store.Use]time.Time
	written map[store.Use]bool // since the last round: these can wait for the next
	first   chan struct{}      // a use that cannot wait is pending
}

// useEvery is how long a noted use may wait, and so how exact "last used" is.
const useEvery = 5 * time.Second

func newUsedTokens() *usedTokens {
	return &usedTokens{pending: map[store.Use]time.Time{}, written: map[store.Use]bool{}, first: make(chan struct{}, 1)}
}

func (u *usedTokens) note(p store.Principal, now time.Time) {
	use := store.Use{Token: p.ID}
	if p.Grant != nil {
		use.Grant = p.Grant.ID
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	_, waits := u.pending[use]
	u.pending[use] = now
	if waits || u.written[use] {
		return
	}
	select {
	case u.first <- struct{}{}:
	default: // the signal is already pending
	}
}

// take returns and clears the pending uses. round starts a new period of useEvery.
func (u *usedTokens) take(round bool) map[store.Use]time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	uses := u.pending
	u.pending = map[store.Use]time.Time{}
	if round {
		u.written = map[store.Use]bool{}
	}
	for use := range uses {
		u.written[use] = true
	}
	return uses
}

// putBack keeps uses that could not be written for the next time.
func (u *usedTokens) putBack(uses map[store.Use]time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for use, at := range uses {
		if at.After(u.pending[use]) {
			u.pending[use] = at
		}
	}
}

// flushUsed writes the pending uses.
func (s *Server) flushUsed(ctx context.Context, round bool) {
	uses := s.used.take(round)
	if len(uses) == 0 {
		return
	}
	if err := s.Store.Update(ctx, func(tx store.Tx) error { return tx.TouchTokens(uses) }); err != nil {
		s.used.putBack(uses)
		if ctx.Err() == nil {
			s.Log.Warn("noting token use failed", "code", string(pdpp.CodeOf(err)))
		}
	}
}

// noteUses writes the uses of tokens until ctx ends.
func (s *Server) noteUses(ctx context.Context) {
	round := time.NewTicker(useEvery)
	defer round.Stop()
	for {
		select {
		case <-ctx.Done():
			s.flushUsed(context.WithoutCancel(ctx), true)
			return
		case <-s.used.first:
			s.flushUsed(ctx, false)
		case <-round.C:
			s.flushUsed(ctx, true)
		}
	}
}
