package auth

import (
	"sync"

	"pdpp"
	"pdpp/internal/grant"
	"pdpp/internal/store"
)

// Reach is what a token may read. It also caches values that depend only on that.
type Reach struct {
	*grant.Reach
	generation int64
	derived    sync.Map // values of Derive and TryDerive, by key
}

// Derive returns the cached value for a key, and computes it at the first call.
func Derive[T any](r *Reach, key any, compute func() T) T {
	value, _ := TryDerive(r, key, func() (T, error) { return compute(), nil })
	return value
}

// TryDerive is like Derive, for values whose computation can fail. Failures are not
// cached.
func TryDerive[T any](r *Reach, key any, compute func() (T, error)) (T, error) {
	if found, ok := r.derived.Load(key); ok {
		return found.(T), nil
	}
	value, err := compute()
	if err == nil {
		r.derived.Store(key, value)
	}
	return value, err
}

// reach returns what a principal can read, computed once per grant and generation.
func (a *Authenticator) reach(v store.View, p store.Principal) (*Reach, error) {
	isOwner := p.Kind == pdpp.TokenOwner // a token without a grant is not an owner's
	if !isOwner && p.Grant == nil {
		return nil, statusError(pdpp.CodeGrantInvalid)
	}
	var key string
	if isOwner {
		key = "owner " + string(p.Subject)
	} else {
		key = string(p.Grant.ID)
	}
	if cached := a.reaches.get(key, p.Generation); cached != nil {
		return cached, nil
	}
	catalog, err := v.Catalog(p.Subject)
	if err != nil {
		return nil, err
	}
	out := &Reach{generation: catalog.Generation}
	if isOwner {
		out.Reach = grant.ForOwner(p.Subject, catalog)
	} else if out.Reach, err = grantReach(v, p, catalog); err != nil {
		return nil, err
	}
	a.reaches.put(key, out)
	return out, nil
}

// grantReach computes the reach of a grant from its document.
func grantReach(v store.View, p store.Principal, catalog *pdpp.Catalog) (*grant.Reach, error) {
	stored, err := v.Grant(p.Subject, p.Grant.ID)
	if err != nil {
		return nil, err
	}
	g, err := grant.ParseDocument(stored.Document, stored.ConnectorKey)
	if err != nil {
		return nil, err
	}
	if g.SubjectID != p.Subject || g.ID != p.Grant.ID { // a grant is used only for the subject of its token (C-15)
		return nil, statusError(pdpp.CodeGrantInvalid)
	}
	return grant.ForClient(g, catalog), nil
}

// reachCache keeps computed reaches. An entry is valid only for the generation it was
// computed at, so the next request sees a changed manifest or label.
type reachCache struct {
	mu      sync.Mutex
	entries map[string]*Reach
}

const maxReaches = 1024

func (c *reachCache) get(key string, generation int64) *Reach {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.entries[key]; e != nil && e.generation == generation {
		return e
	}
	return nil
}

func (c *reachCache) put(key string, r *Reach) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries == nil || len(c.entries) >= maxReaches {
		c.entries = make(map[string]*Reach)
	}
	c.entries[key] = r
}
