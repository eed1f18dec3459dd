package store

import (
	"testing"
	"time"

	"pdpp"
)

func TestMemberFault(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name  string
		grant *GrantState
		want  pdpp.Code
	}{
		{"active", &GrantState{Client: "cli_1", ExpiresAt: now.Add(1)}, ""},
		{"used up", &GrantState{Client: "cli_1", Consumed: true}, ""},
		{"expired", &GrantState{Client: "cli_1", ExpiresAt: now, Consumed: true}, pdpp.CodeGrantExpired},
		{"revoked", &GrantState{Client: "cli_1", ExpiresAt: now, Revoked: true}, pdpp.CodeGrantRevoked},
		{"another client's", &GrantState{Client: "cli_2"}, pdpp.CodeGrantInvalid},
		{"gone", nil, pdpp.CodeGrantInvalid},
	} {
		if got := (Member{Grant: c.grant}).Fault("cli_1", now); got != c.want {
			t.Errorf("%s: fault %q, want %q", c.name, got, c.want)
		}
	}
}

func TestPackageStatus(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for want, p := range map[pdpp.GrantStatus]Package{
		pdpp.GrantActive:  {ExpiresAt: now.Add(1)},
		pdpp.GrantExpired: {ExpiresAt: now},
		pdpp.GrantRevoked: {ExpiresAt: now, RevokedAt: now},
	} {
		state := PackageState{ExpiresAt: p.ExpiresAt, Revoked: !p.RevokedAt.IsZero()}
		if got := p.Status(now); got != want || state.Status(now) != want {
			t.Errorf("status of %+v = %s, as found by its token %s, want %s", p, got, state.Status(now), want)
		}
	}
}
