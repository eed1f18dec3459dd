package activity

import (
	"context"
	"log/slog"
	"time"

	"pdpp"
	"pdpp/internal/store"
)

// writeEvery is how long what was recorded may wait to be written, and so the precision of
// "last used".
const writeEvery = 5 * time.Second

// Config configures a Recorder.
type Config struct {
	Store store.Store
	Log   *slog.Logger
}

// Recorder records how tokens and grants are used. It is safe for concurrent use.
type Recorder struct {
	Config
	uses   tokenUses
	counts counts
	wake   chan struct{} // signals that something is to be written at once
}

// New returns a Recorder. Its Run writes what is recorded.
func New(cfg Config) *Recorder {
	return &Recorder{Config: cfg, uses: newTokenUses(), counts: newCounts(), wake: make(chan struct{}, 1)}
}

// Use records that a token was used, with its grant.
func (r *Recorder) Use(p store.Principal, now time.Time) {
	if r.uses.note(p, now) {
		r.writeSoon()
	}
}

// Read records a read. c is the call that it is a part of; nil if it is a request of its
// own.
func (r *Recorder) Read(c *Call, t *Tally, now time.Time) {
	if c.join(t) {
		return
	}
	r.count(func(c *counts) { c.read(t, store.DayOf(now)) })
}

// Refuse records that a request with a valid token was refused because of the token's
// rights. c is as for Read.
func (r *Recorder) Refuse(c *Call, k store.ReadKey, code pdpp.Code, now time.Time) {
	if c.refuse(k, code) {
		return
	}
	r.count(func(c *counts) { c.refuse(k, code, now) })
}

// RefuseBearer records that a request was refused because of its bearer (S21).
func (r *Recorder) RefuseBearer(a store.Audit) {
	a.Action, a.Actor, a.Times = store.BearerRefused, store.ByClient, 1
	r.count(func(c *counts) { c.refuseBearer(a) })
}

// count changes the counts. Full ones are written soon.
func (r *Recorder) count(change func(*counts)) {
	r.counts.mu.Lock()
	defer r.counts.mu.Unlock()
	change(&r.counts)
	if r.counts.isFull() {
		r.writeSoon()
	}
}

// EndCall records what a call has read or was refused, and reports whether there was
// anything.
func (r *Recorder) EndCall(c *Call, now time.Time) bool {
	c.mu.Lock()
	ended := c.state
	c.state = callState{}
	c.mu.Unlock()
	if ended.read {
		r.Read(nil, &ended.tally, now)
	}
	if ended.refused != "" {
		r.Refuse(nil, ended.tally.Key, ended.refused, now)
	}
	return ended.read || ended.refused != ""
}

func (r *Recorder) writeSoon() {
	select {
	case r.wake <- struct{}{}:
	default: // the signal is already pending
	}
}

// Run writes what is recorded to the store until ctx ends.
func (r *Recorder) Run(ctx context.Context) {
	round := time.NewTicker(writeEvery)
	defer round.Stop()
	for {
		select {
		case <-ctx.Done():
			r.write(context.WithoutCancel(ctx), true)
			return
		case <-r.wake:
			r.write(ctx, false)
		case <-round.C:
			r.write(ctx, true)
		}
	}
}

func (r *Recorder) write(ctx context.Context, round bool) {
	b := batch{uses: r.uses.take(round)}
	r.counts.take(&b)
	if b.isEmpty() {
		return
	}
	if err := r.Store.Update(ctx, b.write); err != nil {
		r.uses.putBack(b.uses)
		r.counts.putBack(&b)
		if ctx.Err() == nil {
			r.Log.Warn("the use of tokens and grants could not be stored; it is kept in memory for the next attempt", "code", string(pdpp.CodeOf(err)))
		}
	}
}
