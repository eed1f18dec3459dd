package activity

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pdpp"
	"pdpp/internal/store"
)

// useStore counts what is written about the use of tokens.
type useStore struct {
	store.Store
	writes int
	fails  atomic.Bool
	last   map[store.Use]time.Time
}

// useTx takes the uses.
type useTx struct {
	store.Tx
	*useStore
}

func (s *useStore) Update(_ context.Context, fn func(store.Tx) error) error {
	if s.fails.Load() {
		return errors.New("the disk is full")
	}
	s.writes++
	return fn(useTx{useStore: s})
}

func (t useTx) TouchTokens(uses map[store.Use]time.Time) error {
	for use, at := range uses {
		t.last[use] = at
	}
	return nil
}

// H-17: the first use of a token is written at once, the following ones with the next
// round; no use is lost.
func TestUseIsWrittenAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := &useStore{last: map[store.Use]time.Time{}}
		r := New(Config{Store: st, Log: slog.New(slog.DiscardHandler)})
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); r.Run(ctx) }()
		use := func(token string) { r.Use(store.Principal{ID: pdpp.TokenID(token)}, time.Now()) }
		expect := func(what string, writes int, token string, at time.Time) {
			t.Helper()
			synctest.Wait()
			if got := st.last[store.Use{Token: pdpp.TokenID(token)}]; st.writes != writes || !got.Equal(at) {
				t.Errorf("%s: %d writes, last use of %s %v; want %d, %v", what, st.writes, token, got, writes, at)
			}
		}
		start := time.Now()
		use("a")
		expect("the first use", 1, "a", start)
		time.Sleep(time.Second)
		for range 1000 {
			use("a")
		}
		expect("more of it wait", 1, "a", start)
		use("b")
		expect("another token", 2, "b", start.Add(time.Second))
		time.Sleep(writeEvery)
		expect("after a round", 2, "a", start.Add(time.Second))
		time.Sleep(4 * writeEvery)
		use("a")
		expect("after a pause", 3, "a", time.Now())
		time.Sleep(3 * writeEvery)
		st.fails.Store(true)
		late := time.Now()
		use("b")
		synctest.Wait()
		st.fails.Store(false)
		time.Sleep(2 * writeEvery)
		expect("after a failure", 4, "b", late)
		use("c")
		stop()
		<-done
		if st.last[store.Use{Token: "c"}].IsZero() {
			t.Error("the last use before the end is lost")
		}
	})
}
