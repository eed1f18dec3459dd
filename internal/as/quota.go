package as

import (
	"net/netip"
	"time"

	"pdpp/internal/httpx"
	"pdpp/internal/store"
)

// quota bounds how often an address may do something. It is counted in the store, so that
// it holds for all processes and across restarts.
type quota struct {
	name   string
	limit  int
	window time.Duration
}

var (
	requestQuota      = quota{"authorization request", 60, time.Minute} // H-144
	registrationQuota = quota{"registration", 30, time.Hour}            // H-153
	documentQuota     = quota{"client document", 20, time.Minute}       // H-154
)

type quotaBody struct {
	Count int       `json:"count"`
	Since time.Time `json:"since"`
}

// take counts one use by an address. It returns an error with the time to wait when there
// were too many in the current window.
func (q quota) take(tx store.Tx, addr netip.Addr, now time.Time) error {
	key := q.name + " " + httpx.Network(addr).String()
	_, used, err := read[quotaBody](tx, store.EntryThrottle, key)
	if err != nil && !isMissing(err) {
		return err
	}
	if used == nil || !now.Before(used.Since.Add(q.window)) {
		used = &quotaBody{Since: now}
	}
	end := used.Since.Add(q.window)
	if used.Count >= q.limit {
		return tooMany("Too many requests of this kind came from this address. Try again later.", int(end.Sub(now)/time.Second)+1)
	}
	used.Count++
	return write(tx, store.Entry{Kind: store.EntryThrottle, Key: key, CreatedAt: used.Since, DeleteAfter: end}, used)
}
