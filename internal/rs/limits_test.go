package rs_test

import (
	"context"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pdpp"
	"pdpp/internal/server"
	"pdpp/internal/store"
)

func TestRateLimit(t *testing.T) { // H-67
	w := ledger(t)
	tok, g := w.Grant(ledgerGrant)
	sibling, _ := mintFor(w, g, store.Token{Audience: []string{"rest"}})
	limited := secondServer(w, func(c *server.Config) { c.Rate = 60 })
	for i := range 60 {
		if a := limited.Get(tok, "/v1/streams"); a.Status != 200 {
			t.Fatalf("request %d: status %d, want 200: %s", i, a.Status, a.Body)
		}
	}
	a := limited.Get(tok, "/v1/streams?nope=1")
	expectError(t, a, 429, pdpp.CodeRateLimited)
	if a.Header.Get("Retry-After") != "1" || a.At("error.type") != "rate_limit_error" {
		t.Errorf("Retry-After %q, want 1 and rate_limit_error: %s", a.Header.Get("Retry-After"), a.Body)
	}
	limited.Get(sibling, "/v1/streams").OK() // each token has its own limit
	w.Advance(time.Second)
	limited.Get(tok, "/v1/streams").OK()
	expectError(t, limited.Get(tok, "/v1/streams"), 429, pdpp.CodeRateLimited)
}

// heldBody is a body that signals its first read and ends when unblock is closed.
type heldBody struct {
	once    sync.Once
	entered chan<- struct{}
	unblock <-chan struct{}
}

func (b *heldBody) Read([]byte) (int, error) {
	b.once.Do(func() { b.entered <- struct{}{} })
	<-b.unblock
	return 0, io.EOF
}

func TestConcurrentRequestLimit(t *testing.T) { // H-67: 8 per token
	w := ledger(t)
	owner, spare := w.OwnerToken(), w.OwnerToken()
	limited := secondServer(w, func(c *server.Config) { c.Rate = 600 })
	entered, unblock := make(chan struct{}), make(chan struct{})
	client := expectContinue(t)
	var open sync.WaitGroup
	statuses := make([]int, 8)
	for i := range statuses {
		req := limited.Request("POST", owner, ingestPath, &heldBody{entered: entered, unblock: unblock}, ndjson, "Expect: 100-continue")
		open.Go(func() { statuses[i] = limited.Send(client, req).Status })
	}
	for range statuses {
		<-entered
	}
	a := limited.Get(owner, "/v1/streams")
	expectError(t, a, 429, pdpp.CodeRateLimited)
	if a.Header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After %q, want 1", a.Header.Get("Retry-After"))
	}
	limited.Get(spare, "/v1/streams").OK()
	close(unblock)
	open.Wait()
	if diff := cmp.Diff([]int{200, 200, 200, 200, 200, 200, 200, 200}, statuses); diff != "" {
		t.Errorf("statuses of eight concurrent requests differ (-want +got):\n%s", diff)
	}
	limited.Get(owner, "/v1/streams").OK()
}

// TestRefusedRequestsAreReleasedOnce: a refused request no longer counts as concurrent.
func TestRefusedRequestsAreReleasedOnce(t *testing.T) {
	w := ledger(t)
	owner := w.OwnerToken()
	limited := secondServer(w, func(c *server.Config) { c.Rate = 600 })
	for range 12 {
		expectError(t, limited.Get(owner, "/v1/streams?nope=1"), 400, pdpp.CodeInvalidRequest)
		expectError(t, limited.Do("POST", owner, "/v1/ingest/entries?connection_id=a&connector_instance_id=b", ""), 400, pdpp.CodeInvalidArgument)
		expectError(t, limited.Do("POST", owner, "/v1/ingest/entries", ""), 400, pdpp.CodeInvalidRequest)
	}
	limited.Get(owner, "/v1/streams").OK()
}

func TestFailedBearerThrottle(t *testing.T) { // H-68
	w := ledger(t)
	tok := first(w.Grant(ledgerGrant))
	for range 70 {
		expectError(t, w.Get("", "/v1/streams"), 401, pdpp.CodeAuthentication) // requests without a token do not count
	}
	for i := range 60 {
		expectError(t, w.Get(fmt.Sprintf("pdpp_at_guess_%d", i), "/v1/streams"), 401, pdpp.CodeInvalidToken)
	}
	a := w.Get("pdpp_at_guess_more", "/v1/streams")
	expectError(t, a, 429, pdpp.CodeRateLimited)
	if a.Header.Get("Retry-After") != "60" {
		t.Errorf("Retry-After %q, want 60", a.Header.Get("Retry-After"))
	}
	w.Get(tok, "/v1/streams").OK() // a valid token is not throttled
	expectError(t, w.Get("", "/v1/streams"), 401, pdpp.CodeAuthentication)
	w.Advance(time.Minute)
	expectError(t, w.Get("pdpp_at_guess_more", "/v1/streams"), 401, pdpp.CodeInvalidToken)
}

func TestLastUse(t *testing.T) { // H-17
	w := ledger(t)
	_, g := w.Grant(ledgerGrant)
	tok, id := mintFor(w, g, store.Token{Audience: []string{"rest"}})
	idle, idleID := mintFor(w, g, store.Token{Audience: []string{"other"}})
	w.Advance(90 * time.Second)
	w.Get(tok, "/v1/streams").OK()
	expectError(t, w.Get(idle, "/v1/streams"), 403, pdpp.CodeInsufficientScope)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Server.Run(ctx); err != nil {
		t.Fatal(err)
	}
	used := map[pdpp.TokenID]time.Time{}
	w.Update(func(tx store.Tx) error {
		tokens, err := tx.Tokens(w.Subject, g)
		for _, tok := range tokens {
			used[tok.ID] = tok.LastUsedAt
		}
		if err != nil {
			return err
		}
		read, err := tx.Grant(w.Subject, g)
		if !read.LastUsedAt.Equal(w.Now()) {
			t.Errorf("last use of the grant %v, want %v", read.LastUsedAt, w.Now())
		}
		return err
	})
	if !used[id].Equal(w.Now()) || !used[idleID].IsZero() {
		t.Errorf("last use %v, want %v for the used token and none for the refused one", used, w.Now())
	}
}
