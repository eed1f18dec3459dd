package store

import (
	"testing"
	"time"

	"pdpp"
)

func TestStatus(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for want, g := range map[pdpp.GrantStatus]Grant{
		pdpp.GrantActive:   {ExpiresAt: now.Add(1)},
		pdpp.GrantExpired:  {ExpiresAt: now, Consumed: true},
		pdpp.GrantRevoked:  {Revoked: true, ExpiresAt: now},
		pdpp.GrantConsumed: {Consumed: true},
	} {
		if got := g.Status(now); got != want {
			t.Errorf("status of %+v = %s, want %s", g, got, want)
		}
	}
	for want, k := range map[string]Token{
		"active":  {ExpiresAt: now.Add(1)},
		"expired": {ExpiresAt: now},
		"revoked": {ExpiresAt: now, RevokedAt: now},
	} {
		p := Principal{ExpiresAt: k.ExpiresAt, Revoked: !k.RevokedAt.IsZero()}
		if got := k.Status(now); got != want || p.Live(now) != (want == "active") {
			t.Errorf("status of %+v = %s, live %v, want %s", k, got, p.Live(now), want)
		}
	}
}
