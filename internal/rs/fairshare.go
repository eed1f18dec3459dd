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

// fairShare shares the readers of the store between clients (H-67). The work of a cheap
// read is proportional to the length of its answer. An expensive read may go through many
// records for a short answer. Expensive reads never use all readers, so that cheap reads,
// the authentication of tokens and the readiness probe do not wait for them.
type fairShare struct {
	cheap, expensive *httpx.FairShare
	clients          clientCache
}

func newFairShare(rate httpx.Rate) fairShare {
	readers := store.Readers()
	share := readers / 2
	if rate == 0 {
		share = 0
	}
	return fairShare{cheap: httpx.NewFairShare(share, 0), expensive: httpx.NewFairShare(share, expensiveReads(readers))}
}

// expensiveReads returns the number of expensive reads that may run at once.
func expensiveReads(readers int) int { return readers - max(1, readers/4) }

// costFunc reports, from the request alone, whether a read is expensive.
type costFunc func(*http.Request) bool

func cheap(*http.Request) bool { return false }

func expensive(*http.Request) bool { return true }

// unlessPlain reports whether a read does more than walk an index: it has conditions,
// counts, related records or changes. It does not decode parameters; a read with a
// percent-encoded name or cursor counts as expensive, which may only delay it.
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

// waitTurn waits until a read may run beside the other reads of its client. A token that
// is not in the cache is authenticated first, to find its client; an invalid one fails
// without waiting. After a nil error the caller calls done once.
func (s *Server) waitTurn(ctx context.Context, r *http.Request, who requester, isExpensive bool) (done func(), err error) {
	client, ok := s.turns.clients.get(who.Key)
	if !ok {
		err := s.view(ctx, func(v store.View) error {
			id, err := s.authenticate(v, r, who)
			client = id.HolderKey()
			return err
		})
		if err != nil {
			return nil, err
		}
		s.turns.clients.put(who.Key, client)
	}
	if isExpensive {
		return s.turns.expensive.Take(ctx, client)
	}
	return s.turns.cheap.Take(ctx, client)
}

// clientCache caches the client of each token, which never changes. It grants no access:
// every read still authenticates its token.
type clientCache struct {
	mu sync.RWMutex
	of map[pdpp.TokenID]string
}

const maxClients = 1 << 16

func (c *clientCache) get(key pdpp.TokenID) (string, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	client, ok := c.of[key]
	return client, ok
}

func (c *clientCache) put(key pdpp.TokenID, client string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil || len(c.of) >= maxClients {
		c.of = make(map[pdpp.TokenID]string)
	}
	c.of[key] = client
}
