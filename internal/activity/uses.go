package activity

import (
	"sync"
	"time"

	"pdpp/internal/store"
)

// tokenUses collects when tokens were used. The first use after a pause is written at
// once, the following ones every writeEvery.
type tokenUses struct {
	mu      sync.Mutex
	pending map[store.Use]time.Time
	written map[store.Use]bool // since the last round; not written again before the next one
}

func newTokenUses() tokenUses {
	return tokenUses{pending: map[store.Use]time.Time{}, written: map[store.Use]bool{}}
}

// note notes a use and reports whether it is to be written at once.
func (u *tokenUses) note(p store.Principal, now time.Time) (isFirst bool) {
	use := store.Use{Token: p.ID}
	if p.Grant != nil {
		use.Grant = p.Grant.ID
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	_, isPending := u.pending[use]
	u.pending[use] = now
	return !isPending && !u.written[use]
}

// take returns the pending uses and clears them. If round is true, a new period of
// writeEvery begins.
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
