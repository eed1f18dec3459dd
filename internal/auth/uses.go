package auth

import (
	"context"
	"sync"
	"time"

	"pdpp"
	"pdpp/internal/store"
)

// tokenUses collects when tokens were used, to be written in batches: a write for each
// read would make reads as slow as writes. The first use after a pause is written at
// once, the following ones every useEvery.
type tokenUses struct {
	mu      sync.Mutex
	pending map[store.Use]time.Time
	written map[store.Use]bool // since the last round; not written again before the next one
	first   chan struct{}      // signals a use to be written at once
}

// useEvery is how long a use may wait to be written, and so the precision of "last used".
const useEvery = 5 * time.Second

func newTokenUses() *tokenUses {
	return &tokenUses{pending: map[store.Use]time.Time{}, written: map[store.Use]bool{}, first: make(chan struct{}, 1)}
}

func (u *tokenUses) note(p store.Principal, now time.Time) {
	use := store.Use{Token: p.ID}
	if p.Grant != nil {
		use.Grant = p.Grant.ID
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	_, isPending := u.pending[use]
	u.pending[use] = now
	if isPending || u.written[use] {
		return
	}
	select {
	case u.first <- struct{}{}:
	default: // the signal is already pending
	}
}

// take returns the pending uses and clears them. If round is true, a new period of
// useEvery begins.
func (u *tokenUses) take(round bool) map[store.Use]time.Time {
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

// putBack returns uses whose write failed to the pending ones.
func (u *tokenUses) putBack(uses map[store.Use]time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for use, at := range uses {
		if at.After(u.pending[use]) {
			u.pending[use] = at
		}
	}
}

// Run records the uses of tokens in the store until ctx ends.
func (a *Authenticator) Run(ctx context.Context) {
	round := time.NewTicker(useEvery)
	defer round.Stop()
	for {
		select {
		case <-ctx.Done():
			a.writeUses(context.WithoutCancel(ctx), true)
			return
		case <-a.uses.first:
			a.writeUses(ctx, false)
		case <-round.C:
			a.writeUses(ctx, true)
		}
	}
}

func (a *Authenticator) writeUses(ctx context.Context, round bool) {
	uses := a.uses.take(round)
	if len(uses) == 0 {
		return
	}
	if err := a.Store.Update(ctx, func(tx store.Tx) error { return tx.TouchTokens(uses) }); err != nil {
		a.uses.putBack(uses)
		if ctx.Err() == nil {
			a.Log.Warn("the time of last use of tokens could not be stored", "code", string(pdpp.CodeOf(err)))
		}
	}
}
