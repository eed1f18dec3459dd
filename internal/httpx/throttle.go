package httpx

import (
	"net/netip"
	"sync"
	"time"
)

// The throttle of H-68.
const (
	maxFailures   = 60
	failureWindow = time.Minute
	blockTime     = time.Minute
	maxAddrKeys   = 1 << 16
)

// Throttle counts invalid bearer tokens per client address (H-68). Callers use it only
// after a token was found invalid, so that a valid token works from any address:
//
//	if err := t.Blocked(addr); err != nil {
//		return err // 429
//	}
//	t.Failed(addr)
//	return … // 401
//
// It is safe for concurrent use.
type Throttle struct {
	now func() time.Time

	mu    sync.Mutex
	addrs table[netip.Addr, failures]
}

// failures counts the invalid tokens of one address.
type failures struct {
	count int
	since time.Time // start of the window
	until time.Time // end of the block
}

// NewThrottle returns an empty throttle.
func NewThrottle(now func() time.Time) *Throttle {
	return &Throttle{now: now, addrs: table[netip.Addr, failures]{
		max:    maxAddrKeys,
		idle:   (*failures).over,
		pinned: func(*failures) bool { return false },
	}}
}

// over reports whether the window and the block have ended.
func (f *failures) over(now time.Time) bool {
	return now.Sub(f.since) >= failureWindow && !now.Before(f.until)
}

// Network returns the address under which a client is counted: an IPv4 address, or the
// /64 network from which an IPv6 client can choose its addresses.
func Network(addr netip.Addr) netip.Addr {
	addr = addr.Unmap()
	if addr.Is4() {
		return addr
	}
	prefix, err := addr.WithZone("").Prefix(64)
	if err != nil {
		return addr // the zero Addr
	}
	return prefix.Addr()
}

// Failed counts one invalid token. At the limit, the address is blocked.
func (t *Throttle) Failed(addr netip.Addr) {
	now := t.now()
	t.mu.Lock()
	defer t.mu.Unlock()
	f, fresh := t.addrs.entry(Network(addr), now)
	if fresh || f.over(now) {
		*f = failures{since: now}
	}
	if f.count++; f.count == maxFailures {
		f.until = now.Add(blockTime)
	}
}

// Blocked returns a 429 error with the remaining seconds while an address is blocked,
// else nil.
func (t *Throttle) Blocked(addr netip.Addr) error {
	now := t.now()
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.addrs.find(Network(addr))
	if f == nil || !now.Before(f.until) {
		return nil
	}
	left := f.until.Sub(now)
	return tooMany("Too many invalid tokens came from this address.",
		int((left+time.Second-1)/time.Second))
}
