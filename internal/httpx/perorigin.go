package httpx

import "sync"

// maxOrigins bounds a PerOrigin. If R is derived from the request, clients can choose it
// from all host names that Gate admits; a pattern such as *.suffix admits many.
const maxOrigins = 64

// PerOrigin caches a value for each public origin R. The zero value is an empty cache.
// It is safe for concurrent use.
type PerOrigin[T any] struct {
	mu     sync.RWMutex
	values map[string]T
}

// Get returns the value for R and builds it the first time. A full cache is emptied;
// values in use are soon built again.
func (p *PerOrigin[T]) Get(base string, build func(base string) T) T {
	p.mu.RLock()
	v, ok := p.values[base]
	p.mu.RUnlock()
	if ok {
		return v
	}
	v = build(base)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.values == nil || len(p.values) >= maxOrigins {
		p.values = map[string]T{}
	}
	p.values[base] = v
	return v
}
