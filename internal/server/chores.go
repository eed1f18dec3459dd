package server

import (
	"context"
	"sync"
	"time"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/store"
)

// chore is background work that is done at intervals.
type chore struct {
	name  string
	every time.Duration
	do    func(context.Context) error
	next  time.Time
}

// chores returns the background work of a server that starts at now.
func (s *Server) chores(now time.Time) []*chore {
	return []*chore{
		{name: "re-indexing records", every: 5 * time.Second, do: s.reindex},
		{name: "removing deleted connections", every: 5 * time.Second, do: func(ctx context.Context) error { return store.Purge(ctx, s.Store, s.Clock()) }},
		{name: "erasing deleted words", every: 5 * time.Second, do: func(ctx context.Context) error { return store.Erase(ctx, s.Store) }},
		{name: "merging the search index", every: time.Minute, do: func(ctx context.Context) error { return store.Tidy(ctx, s.Store) }},
		{name: "pruning the change log", every: pruneEvery, do: s.pruneChanges},
		{name: "pruning counts of reads and audit rows", every: pruneEvery, do: s.pruneActivity},
		{name: "removing ended sign-ins and requests", every: time.Minute, do: s.pruneEntries},
		{name: "removing ended tokens", every: pruneEvery, do: s.pruneTokens},
		{name: "looking for unknown blobs", every: sweepEvery, do: s.reportUnknown},
		{name: "sweeping blobs", every: sweepEvery, do: s.SweepBlobs, next: now.Add(firstSweep)},
	}
}

// Run does the background work of the server until ctx ends. A chore that fails is
// repeated after its interval.
func (s *Server) Run(ctx context.Context) error {
	var recorder sync.WaitGroup
	recorder.Go(func() { s.Activity.Run(ctx) }) // runs separately, because chores may take long
	s.doChores(ctx)
	recorder.Wait()
	return nil
}

func (s *Server) doChores(ctx context.Context) {
	chores := s.chores(s.Clock())
	tick := time.NewTicker(5 * time.Second)
	defer tick.Stop()
	for now := s.Clock(); ; now = s.Clock() {
		for _, c := range chores {
			s.runDue(ctx, c, now)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (s *Server) runDue(ctx context.Context, c *chore, now time.Time) {
	if now.Before(c.next) || ctx.Err() != nil {
		return
	}
	c.next = now.Add(c.every)
	if err := c.do(ctx); err != nil && ctx.Err() == nil {
		s.Log.Warn(c.name+" failed", "code", string(pdpp.CodeOf(err)))
	}
}

// reindexSlices is the number of slices of a re-index that are done before other chores
// get a turn.
const reindexSlices = 25

// reindex continues a re-index that a command with a new manifest did not finish (M-11).
func (s *Server) reindex(ctx context.Context) error {
	for range reindexSlices {
		var more bool
		err := s.Store.Bulk(ctx, func(tx store.Tx) (err error) {
			_, more, err = tx.Reindex()
			return err
		})
		if err != nil || !more {
			return err
		}
	}
	return nil
}

const (
	pruneEvery = time.Hour
	pruneBatch = 5000 // rows in a transaction; small, because other writers wait
)

// pruneChanges removes the entries of the change log that are older than any bookmark.
func (s *Server) pruneChanges(ctx context.Context) error {
	before := s.Clock().Add(-query.Bookmarks.Age())
	return s.inBatches(ctx, func(tx store.Tx) (int64, error) { return tx.Prune(before, pruneBatch) })
}

// pruneEntries removes sessions, authorization requests, codes and the like that ended.
func (s *Server) pruneEntries(ctx context.Context) error {
	now := s.Clock()
	return s.inBatches(ctx, func(tx store.Tx) (int64, error) { return tx.PruneEntries(now, pruneBatch) })
}

// pruneActivity removes counts, refusals and audit rows that are too old (H-196, H-197).
func (s *Server) pruneActivity(ctx context.Context) error {
	before := s.Clock().Add(-store.KeepActivity)
	return s.inBatches(ctx, func(tx store.Tx) (int64, error) { return tx.PruneActivity(before, pruneBatch) })
}

// tokenMemory is how long access tokens that clients renew are listed after their end.
const tokenMemory = 7 * 24 * time.Hour

// pruneTokens removes access tokens that ended. Clients get a new one every hour.
func (s *Server) pruneTokens(ctx context.Context) error {
	before := s.Clock().Add(-tokenMemory)
	return s.inBatches(ctx, func(tx store.Tx) (int64, error) { return tx.PruneTokens(before, pruneBatch) })
}

// inBatches calls remove in one transaction after another until it removes nothing.
func (s *Server) inBatches(ctx context.Context, remove func(store.Tx) (int64, error)) error {
	for {
		var n int64
		err := s.Store.Bulk(ctx, func(tx store.Tx) (err error) {
			n, err = remove(tx)
			return err
		})
		if err != nil || n == 0 {
			return err
		}
	}
}
