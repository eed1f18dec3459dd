package httpx

import "sync"

// maxOrigins bounds a PerOrigin: where R follows from the request, strangers choose it
// among the names that the gate admits, and *.suffix admits many.
const maxOrigins = 64

// PerOrigin keeps what is made once for each public origin R. The zero value is empty
// and ready; it is safe for concurrent use.
type PerOrigin[T any] struct {
	mu   sync.RWMutex
	made map[string]T
}

// Get gives what was made for R, making it the first time. When there are too many
// origins all are forgotten; those in use are soon made again.
func (p *PerOrigin[T]) Get(base string, make func(base string) T) T {
	p.mu.RLock()
	v, ok := p.made[base]
	p.mu.RUnlock()
	if ok {
		return v
	}
	v = make(base)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.made == nil || len(p.made) >= maxOrigins {
		p.made = map[string]T{}
	}
	p.made[base] = v
	return v
}
