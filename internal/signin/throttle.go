package signin

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/netip"
	"time"

	"pdpp"
	"pdpp/internal/httpx"
	"pdpp/internal/store"
)

// A Limit bounds how often something is tried under one key. An attempt counts before its
// outcome is known, so that parallel attempts cannot exceed the limit; Forgive takes back
// one that succeeded.
type Limit struct {
	Name   string // distinguishes the keys of one limit from those of another
	Max    int
	Window time.Duration
}

// UserCodes limits wrong user codes per session and per address (H-157).
var UserCodes = Limit{Name: "user code", Max: 10, Window: 15 * time.Minute}

// AddressKey returns the key under which attempts from an address count: an IPv4 address, or
// the network of 64 bits of an IPv6 address.
func AddressKey(a netip.Addr) string { return "address " + httpx.Network(a).String() }

// attempts is the body of a throttle entry.
type attempts struct {
	Count int       `json:"count"`
	Until time.Time `json:"until,omitzero"` // the end of the window or of the wait
}

// Attempt counts an attempt under each of the keys. It fails with CodeRateLimited, and
// counts nothing, when the limit of one of them is reached.
func (s *Service) Attempt(ctx context.Context, l Limit, keys ...string) error {
	return s.Store.Update(ctx, func(tx store.Tx) error {
		for _, k := range keys {
			if err := s.count(tx, l, k); err != nil {
				return err
			}
		}
		return nil
	})
}

// Forgive takes back an attempt that succeeded.
func (s *Service) Forgive(ctx context.Context, l Limit, keys ...string) error {
	return s.Store.Update(ctx, func(tx store.Tx) error {
		for _, k := range keys {
			if err := s.uncount(tx, l, k); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *Service) count(tx store.Tx, l Limit, key string) error {
	now, id := s.Clock(), s.throttleID(l.Name, key)
	a, _, err := load[attempts](tx, store.EntryThrottle, id)
	if err != nil {
		return err
	}
	if !now.Before(a.Until) {
		a = attempts{Until: now.Add(l.Window)}
	}
	if a.Count >= l.Max {
		return tooMany(a.Until.Sub(now))
	}
	a.Count++
	return put(tx, store.Entry{Kind: store.EntryThrottle, Key: id, CreatedAt: now, DeleteAfter: a.Until}, a)
}

func (s *Service) uncount(tx store.Tx, l Limit, key string) error {
	id := s.throttleID(l.Name, key)
	a, found, err := load[attempts](tx, store.EntryThrottle, id)
	if err != nil || !found || a.Count == 0 {
		return err
	}
	a.Count--
	return put(tx, store.Entry{Kind: store.EntryThrottle, Key: id, CreatedAt: s.Clock(), DeleteAfter: a.Until}, a)
}

// throttleID returns the key of a throttle entry. It is an HMAC, because what people type
// as their name may be their password.
func (s *Service) throttleID(parts ...string) string {
	return hex.EncodeToString(mac(s.throttleKey, parts...))
}

func tooMany(wait time.Duration) error {
	seconds := int((wait + time.Second - 1) / time.Second)
	return &pdpp.Error{
		Code: pdpp.CodeRateLimited, RetryAfter: seconds,
		Message: fmt.Sprintf("There were too many failed attempts. Try again in %s.", waitText(seconds)),
	}
}

// waitText returns a number of seconds in words, for people.
func waitText(seconds int) string {
	switch {
	case seconds == 1:
		return "a second"
	case seconds < 120:
		return fmt.Sprintf("%d seconds", seconds)
	}
	return fmt.Sprintf("%d minutes", (seconds+59)/60)
}
