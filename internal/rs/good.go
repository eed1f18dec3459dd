package rs

import (
	"sync"

	"pdpp"
	"pdpp/internal/store"
)

// goodTokens are tokens of single grants that the last request with them found good.
// That spares their next request a snapshot, and opens nothing by itself.
type goodTokens struct {
	mu  sync.Mutex
	ids map[goodKey]pdpp.TokenID
}

type goodKey struct {
	hash     store.TokenHash
	audience string
}

const maxGood = 4096

func (g *goodTokens) find(key goodKey) pdpp.TokenID {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.ids[key]
}

func (g *goodTokens) note(key goodKey, id pdpp.TokenID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, known := g.ids[key]; g.ids == nil || !known && len(g.ids) >= maxGood {
		g.ids = make(map[goodKey]pdpp.TokenID)
	}
	g.ids[key] = id
}

func (g *goodTokens) forget(key goodKey) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.ids, key)
}
