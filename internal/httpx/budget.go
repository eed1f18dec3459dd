package httpx

import (
	"context"
	"net/http"
	"sync"

	"pdpp"
)

// Budget limits the bytes that all requests hold together: responses until they are sent,
// bodies until they are stored (H-69). It is safe for concurrent use.
type Budget struct {
	size int64

	mu      sync.Mutex
	used    int64
	clients map[string]int64 // bytes by client; clients that hold nothing have no entry
}

// NewBudget returns a budget of size bytes. For 0 it returns nil, which has no limit.
func NewBudget(size int64) *Budget {
	if size <= 0 {
		return nil
	}
	return &Budget{size: size, clients: map[string]int64{}}
}

// add changes the number of bytes of a client. The caller holds the lock.
func (b *Budget) add(client string, n int64) {
	if n == 0 {
		return // most requests hold nothing
	}
	b.used += n
	if b.clients[client] += n; b.clients[client] == 0 {
		delete(b.clients, client)
	}
}

// Hold is the part of a budget that one request has reserved. It is safe for concurrent
// use. A nil Hold has no limit.
type Hold struct {
	budget *Budget
	client string // "" before Claim
	bytes  int64  // client and bytes are guarded by the lock of the budget
}

// Claim assigns the request to a client. The requests of one client together hold at
// most half of the budget. A single request may hold more.
func (h *Hold) Claim(client string) {
	if h == nil {
		return
	}
	h.budget.mu.Lock()
	defer h.budget.mu.Unlock()
	h.budget.add(h.client, -h.bytes)
	h.client = client
	h.budget.add(client, h.bytes)
}

// Reserve reserves n more bytes until the request ends. It fails with CodeUnavailable
// while other requests hold them, and with CodeResourceLimit when the request needs more
// than the whole budget.
func (h *Hold) Reserve(n int) error {
	if h == nil || n <= 0 {
		return nil
	}
	b := h.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	others := b.clients[h.client] - h.bytes // of the same client
	switch need := h.bytes + int64(n); {
	case need > b.size:
		return pdpp.Errorf(pdpp.CodeResourceLimit,
			"This request needs more than the %d MiB of memory that this server has for all requests. Ask for fewer records, fields or related records.", b.size>>20)
	case b.used+int64(n) > b.size, h.client != "" && others > 0 && others+need > b.size/2:
		return errMemory
	}
	b.add(h.client, int64(n))
	h.bytes += int64(n)
	return nil
}

// release returns all bytes to the budget.
func (h *Hold) release() {
	h.budget.mu.Lock()
	defer h.budget.mu.Unlock()
	h.budget.add(h.client, -h.bytes)
	h.bytes = 0
}

var errMemory = &pdpp.Error{
	Code: pdpp.CodeUnavailable, RetryAfter: 2, Op: "memory budget",
	Message: "This server has no memory left for a request of this size. Try again in a moment, or ask for less at once.",
}

// Within gives every request a Hold and releases it when the response has been
// written. It comes after WithRequestID.
func (b *Budget) Within(next http.Handler) http.Handler {
	if b == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		st := stateOf(r.Context())
		if st == nil {
			next.ServeHTTP(w, r)
			return
		}
		st.own.budget = b
		st.hold = &st.own
		defer st.own.release()
		next.ServeHTTP(w, r)
	})
}

// HoldOf returns the Hold of the request that ctx belongs to, or nil.
func HoldOf(ctx context.Context) *Hold {
	if st := stateOf(ctx); st != nil {
		return st.hold
	}
	return nil
}
