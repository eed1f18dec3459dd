package rs_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"pdpp"
	"pdpp/internal/httpx"
	"pdpp/internal/query"
	"pdpp/internal/rs/resttest"
	"pdpp/internal/server"
	"pdpp/internal/store"
)

// slowStore is a store whose searches, aggregates and changes block until release is called.
// Each occupies a reader of the store meanwhile.
type slowStore struct {
	store.Store
	entered chan struct{} // receives one value for each read that has started
	unblock chan struct{}

	now, most atomic.Int32 // concurrent slow reads
	released  sync.Once
}

// release unblocks all reads. It also runs at the end of a test that fails.
func (s *slowStore) release() { s.released.Do(func() { close(s.unblock) }) }

func (s *slowStore) View(ctx context.Context, fn func(store.View) error) error {
	return s.Store.View(ctx, func(v store.View) error { return fn(&slowView{v, s}) })
}

type slowView struct {
	store.View
	store *slowStore
}

func (v *slowView) wait() {
	s := v.store
	now := s.now.Add(1)
	defer s.now.Add(-1)
	for most := s.most.Load(); now > most && !s.most.CompareAndSwap(most, now); most = s.most.Load() {
		continue
	}
	s.entered <- struct{}{}
	<-s.unblock
}

func (v *slowView) Search(q query.Search, visit func(*store.Match) (bool, error)) error {
	v.wait()
	return v.View.Search(q, visit)
}

func (v *slowView) Aggregate(q query.Aggregate) (store.Aggregation, error) {
	v.wait()
	return v.View.Aggregate(q)
}

func (v *slowView) Horizon(subject pdpp.SubjectID) (query.Mark, error) {
	v.wait()
	return v.View.Horizon(subject)
}

// slow serves a world from a slowStore.
func slow(w *resttest.World, rate int) (*resttest.World, *slowStore) {
	s := &slowStore{Store: w.Store, entered: make(chan struct{}, 100), unblock: make(chan struct{})}
	server := secondServer(w, func(c *server.Config) { c.Store, c.Rate = s, httpx.Rate(rate) })
	w.T.Cleanup(s.release) // before the server is closed
	return server, s
}

var expensiveTargets = []string{
	"/v1/search?q=rent", "/v1/streams/entries/aggregate?metric=count",
	"/v1/streams/entries/records?changes_since=beginning",
}

// TestExpensiveReadsDoNotBlockOthers: expensive reads of many clients leave readers of the
// store for cheap reads, refused requests and the readiness probe.
func TestExpensiveReadsDoNotBlockOthers(t *testing.T) {
	for name, rate := range map[string]int{"H-67 C-35 with a rate limit": 600, "H-67 C-35 without a rate limit": 0} {
		t.Run(name, func(t *testing.T) {
			w := ledger(t)
			server, s := slow(w, rate)
			readers := store.Readers()
			var reads sync.WaitGroup
			for i := range 2 * readers {
				tok := first(w.Grant(ledgerGrant))
				reads.Go(func() { server.Get(tok, expensiveTargets[i%len(expensiveTargets)]).OK() })
			}
			for range readers - max(1, readers/4) {
				<-s.entered
			}
			tok := first(w.Grant(ledgerGrant))
			for _, target := range []string{
				"/v1/streams", "/v1/schema", "/v1/streams/entries", "/v1/streams/entries/records?limit=1&connection_id=cin_a1",
				"/v1/streams/entries/records/ent_31", "/v1/streams/entries/records/ent_31/field-window?field=memo", "/readyz",
			} {
				server.Get(tok, target).OK()
			}
			for _, target := range expensiveTargets {
				expectError(t, server.Get("pdpp_at_unknown", target), 401, pdpp.CodeInvalidToken)
			}
			s.release()
			reads.Wait()
			if most := int(s.most.Load()); most > readers-max(1, readers/4) {
				t.Errorf("%d concurrent expensive reads with %d readers", most, readers)
			}
		})
	}
}

// TestFairShareIsPerClient: several tokens of a client have one share.
func TestFairShareIsPerClient(t *testing.T) {
	t.Run("H-67 one share for all tokens of a client", func(t *testing.T) {
		w := ledger(t)
		server, s := slow(w, 600)
		_, g := w.Grant(ledgerGrant)
		share := store.Readers() / 2
		var reads sync.WaitGroup
		for range 2 * share {
			tok, _ := mintFor(w, g, store.Token{Audience: []string{"rest"}})
			reads.Go(func() { server.Get(tok, "/v1/search?q=rent").OK() })
		}
		for range share {
			<-s.entered
		}
		other := first(w.Grant(ledgerGrant))
		reads.Go(func() { server.Get(other, "/v1/search?q=rent").OK() })
		<-s.entered
		if most := int(s.most.Load()); most != share+1 {
			t.Errorf("%d concurrent searches, want %d of one client and one of another", most, share)
		}
		s.release()
		reads.Wait()
	})
}

// endingStore cancels the context of a request after the first match of its search, and
// continues to visit matches as if it had not noticed.
type endingStore struct {
	store.Store
	end     context.CancelFunc
	visited int
	all     bool // cancel after the last match instead
	stopped error
}

func (s *endingStore) View(ctx context.Context, fn func(store.View) error) error {
	return s.Store.View(context.WithoutCancel(ctx), func(v store.View) error { return fn(&endingView{v, s}) })
}

type endingView struct {
	store.View
	store *endingStore
}

func (v *endingView) Search(q query.Search, visit func(*store.Match) (bool, error)) error {
	s := v.store
	err := v.View.Search(q, func(m *store.Match) (bool, error) {
		for {
			s.visited++
			taken, err := visit(m)
			if !s.all {
				s.end()
			}
			if s.stopped = err; err != nil || !taken || s.all {
				return taken, err
			}
		}
	})
	s.end()
	return err
}

func TestSearchStopsWhenContextEnds(t *testing.T) {
	w := ledger(t)
	tok := first(w.Grant(ledgerGrant))
	search := func(t *testing.T, s *endingStore) (status int) {
		ctx, cancel := context.WithCancel(t.Context())
		s.Store, s.end = w.Store, cancel
		server := secondServer(w, func(c *server.Config) { c.Store = s })
		return handle(server, localRequest(ctx, "GET", tok, "/v1/search?q=rent", nil)).Status
	}
	t.Run("C-35 during ranking", func(t *testing.T) {
		s := &endingStore{}
		if status := search(t, s); status != 503 || s.visited != 2 || !errors.Is(s.stopped, context.Canceled) {
			t.Errorf("status %d, %d visits, stopped by %v, want 503 after the second visit", status, s.visited, s.stopped)
		}
	})
	t.Run("C-35 during excerpts", func(t *testing.T) {
		if status := search(t, &endingStore{all: true}); status != 503 {
			t.Errorf("status %d, want 503, because the context has ended", status)
		}
	})
}

// panickingStore is a store whose searches panic.
type panickingStore struct{ store.Store }

func (s panickingStore) View(ctx context.Context, fn func(store.View) error) error {
	return s.Store.View(ctx, func(v store.View) error { return fn(panickingView{v}) })
}

type panickingView struct{ store.View }

func (panickingView) Search(query.Search, func(*store.Match) (bool, error)) error {
	panic("on purpose")
}

// TestPanicReleasesShare: a read that panics does not delay later reads of its client.
func TestPanicReleasesShare(t *testing.T) {
	t.Run("H-67 H-69 reads after a panic", func(t *testing.T) {
		w := ledger(t)
		server := secondServer(w, func(c *server.Config) { c.Store, c.Rate = panickingStore{w.Store}, 600 })
		tok := first(w.Grant(ledgerGrant))
		for range store.Readers() + 1 {
			if got := server.Get(tok, "/v1/search?q=rent"); got.Status != 500 {
				t.Fatalf("status of a read that panics = %d, want 500", got.Status)
			}
		}
		server.Get(tok, "/v1/streams/entries/aggregate?metric=count").OK()
	})
}
