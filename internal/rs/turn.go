package rs

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"pdpp"
	"pdpp/internal/httpx"
	"pdpp/internal/query"
	"pdpp/internal/store"
)

// Reads are cheap or expensive (H-67). A cheap one does about as much work as its
// answer is long. An expensive one may go through many records for a short answer;
// some of the store's readers are never given to those, so that a cheap read,
// the check of a token and the readiness probe find one soon.
type turns struct {
	cheap, expensive *httpx.Turns
	clients          clients
}

func newTurns(rate httpx.Rate) turns {
	readers := store.Readers()
	share := readers / 2
	if rate == 0 {
		share = 0
	}
	return turns{cheap: httpx.NewTurns(share, 0), expensive: httpx.NewTurns(share, expensiveReads(readers))}
}

// expensiveReads is how many expensive reads there are at once.
func expensiveReads(readers int) int { return readers - max(1, readers/4) }

// cost tells whether a read is expensive, by the request alone.
type cost func(*http.Request) bool

func cheap(*http.Request) bool { return false }

func expensive(*http.Request) bool { return true }

// unlessPlain makes a read expensive that asks for more than to walk an index:
// conditions, counts, related records, changes. Only names and cursors written
// plainly are believed: another spelling costs nothing but a place in line.
func unlessPlain(r *http.Request) bool {
	if r.URL.RawQuery == "" {
		return false
	}
	for part := range strings.SplitSeq(r.URL.RawQuery, "&") {
		name, value, _ := strings.Cut(part, "=")
		switch name {
		case "limit", "order", "sort", "fields", "view", "connection_id", "connector_instance_id", "connector_id", "":
		case "cursor":
			if !query.RecordPages.Has(value) {
				return true
			}
		default:
			return true
		}
	}
	return false
}

// take waits for the turn of a read among the other reads of its client. A token that
// take has not seen yet is authenticated first, to find its client; an invalid one fails
// without waiting. After a nil error the caller calls done once.
func (t *turns) take(ctx context.Context, s *Server, r *http.Request, who asker, isExpensive bool) (done func(), err error) {
	client, ok := t.clients.find(who.key)
	if !ok {
		err := s.view(ctx, func(v store.View) error {
			p, err := s.judge(v, r, who, s.Clock())
			client = clientOf(p)
			return err
		})
		if err != nil {
			return nil, storageError(err)
		}
		t.clients.note(who.key, client)
	}
	if isExpensive {
		return t.expensive.Take(ctx, client)
	}
	return t.cheap.Take(ctx, client)
}

// clientOf returns the key of a token's holder: a client of a subject, or the subject.
func clientOf(p store.Principal) string {
	client := pdpp.ClientID("")
	switch {
	case p.Package != nil:
		client = p.Package.Client
	case p.Grant != nil:
		client = p.Grant.Client
	}
	return string(p.Subject) + " " + string(client)
}

// clients caches the holder of each token, which never changes. It grants no access:
// every read still authenticates its token.
type clients struct {
	mu sync.RWMutex
	of map[pdpp.TokenID]string
}

const maxClients = 1 << 16

func (c *clients) find(key pdpp.TokenID) (string, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	client, ok := c.of[key]
	return client, ok
}

func (c *clients) note(key pdpp.TokenID, client string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil || len(c.of) >= maxClients {
		c.of = make(map[pdpp.TokenID]string)
	}
	c.of[key] = client
}
