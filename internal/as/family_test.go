package as_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pdpp"
	"pdpp/internal/as"
	"pdpp/internal/consent"
	"pdpp/internal/httpx"
	"pdpp/internal/rs/resttest"
)

func TestH163EveryRefreshRotates(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	a := w.connect(client, consent.DurationForever, "cin_work/messages")
	seen := map[string]bool{}
	for range 5 {
		w.Advance(time.Hour)
		if w.isLive(text(a, "access_token")) {
			t.Error("an access token is accepted after an hour")
		}
		a = w.token(refreshing(client, text(a, "refresh_token"))).OK()
		if seen[text(a, "refresh_token")] || !w.isLive(text(a, "access_token")) {
			t.Errorf("the renewed tokens are not new: %s", a.Body)
		}
		seen[text(a, "refresh_token")] = true
	}
}

func TestH163RefreshesAreLimited(t *testing.T) {
	w := newWorld(t, func(c *as.Config) { c.Limiter = httpx.NewLimiter(5, c.Clock) })
	client := w.client()
	token := text(w.connect(client, consent.DurationForever, "cin_work/messages"), "refresh_token")
	for range 5 {
		token = text(w.token(refreshing(client, token)).OK(), "refresh_token")
	}
	a := w.token(refreshing(client, token))
	wantError(t, a, 429, "temporarily_unavailable")
	if a.Header.Get("Retry-After") != "12" {
		t.Errorf("Retry-After = %q, want 12", a.Header.Get("Retry-After"))
	}
	w.Advance(12 * time.Second)
	w.token(refreshing(client, token)).OK() // the refusal did not use it up
}

func TestH163RefreshTokenIsBoundToItsClient(t *testing.T) {
	w := newWorld(t)
	client, other := w.client(), w.client()
	refresh := text(w.connect(client, consent.DurationForever, "cin_work/messages"), "refresh_token")
	wantError(t, w.token(refreshing(other, refresh)), 400, "invalid_grant")
	w.token(refreshing(client, refresh)).OK() // the attempt has ended nothing
}

func TestH163RefreshTokenExpiresUnused(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	a := w.connect(client, consent.DurationForever, "cin_work/messages")
	w.Advance(59 * 24 * time.Hour)
	a = w.token(refreshing(client, text(a, "refresh_token"))).OK()
	w.Advance(60 * 24 * time.Hour)
	wantError(t, w.token(refreshing(client, text(a, "refresh_token"))), 400, "invalid_grant")
}

func TestH160TokensEndWithTheirGrant(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	a := w.connect(client, consent.Duration7d, "cin_work/messages")
	w.Advance(7*24*time.Hour - 10*time.Minute)
	a = w.token(refreshing(client, text(a, "refresh_token"))).OK()
	if seconds := fmt.Sprint(a.At("expires_in")); seconds != "600" {
		t.Errorf("expires_in = %s, want the 600 that are left of the grant", seconds)
	}
	w.Advance(10 * time.Minute)
	wantError(t, w.token(refreshing(client, text(a, "refresh_token"))), 400, "invalid_grant")
}

func TestH163RefreshOfAnEndedGrant(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	single := w.connect(client, consent.DurationForever, "cin_work/messages")
	w.Revoke(w.grants()[0].ID) // as the command does, which knows nothing of families
	wantError(t, w.token(refreshing(client, text(single, "refresh_token"))), 400, "invalid_grant")

	pkg := w.connect(client, consent.DurationForever, "cin_work/messages", "cin_home/messages")
	first, second := grantID(pkg, 0), grantID(pkg, 1)
	w.Revoke(first)
	left := w.token(refreshing(client, text(pkg, "refresh_token"))).OK()
	if grantID(left, 0) != second || left.At("authorization_details.1") != nil {
		t.Errorf("the details are not those of the members that are left: %s", left.Body)
	}
	w.Revoke(second)
	wantError(t, w.token(refreshing(client, text(left, "refresh_token"))), 400, "invalid_grant")
}

func TestH164ReplayWithinSeconds(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	first := text(w.connect(client, consent.DurationForever, "cin_work/messages"), "refresh_token")
	w.token(refreshing(client, first)).OK() // this answer is lost
	w.Advance(30 * time.Second)
	second := w.token(refreshing(client, first)).OK() // once more
	third := w.token(refreshing(client, first)).OK()  // and by another process
	// Both processes continue, each with its own tokens.
	for _, a := range []resttest.Answer{second, third} {
		if !w.isLive(text(a, "access_token")) {
			t.Error("the token of a repeated refresh is not accepted")
		}
		w.token(refreshing(client, text(a, "refresh_token"))).OK()
	}
}

func TestH164ReplayRevokesTheFamily(t *testing.T) {
	for name, use := range map[string]func(w *world, client, superseded string, current resttest.Answer){
		"after 30 seconds": func(w *world, _, _ string, _ resttest.Answer) { w.Advance(30*time.Second + time.Millisecond) },
		"a third time": func(w *world, client, superseded string, _ resttest.Answer) {
			w.token(refreshing(client, superseded)).OK()
			w.token(refreshing(client, superseded)).OK()
		},
		"after its successor was used": func(w *world, client, _ string, current resttest.Answer) {
			w.token(refreshing(client, text(current, "refresh_token"))).OK()
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			client := w.client()
			a := w.connect(client, consent.DurationForever, "cin_work/messages")
			unrelated := w.connect(client, consent.DurationForever, "cin_work/contacts")
			superseded := text(a, "refresh_token")
			current := w.token(refreshing(client, superseded)).OK()
			use(w, client, superseded, current)
			replay := w.token(refreshing(client, superseded))
			wantError(t, replay, 400, "invalid_grant")
			if replay.At("fresh_authorization_required") != true {
				t.Errorf("the answer does not say that the owner must approve again: %s", replay.Body)
			}
			if w.isLive(text(a, "access_token")) || w.isLive(text(current, "access_token")) {
				t.Error("an access token of the family is accepted")
			}
			wantError(t, w.token(refreshing(client, text(current, "refresh_token"))), 400, "invalid_grant")
			if !w.isLive(text(unrelated, "access_token")) {
				t.Error("another family of the client was revoked")
			}
			misuses, err := w.as.Misuses(t.Context(), w.Subject)
			want := []as.Misuse{{ID: text(a, "grant_id"), Client: pdpp.ClientID(client), Reason: as.EndedByReplay, At: w.Now()}}
			if diff := cmp.Diff(want, misuses); err != nil || diff != "" {
				t.Errorf("Misuses = %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// Ten programs that share a refresh token and no lock: three get tokens, the next one looks
// like a thief, and all of them have to ask the owner.
func TestH164RefreshRace(t *testing.T) {
	w, second := twoProcesses(t)
	client := w.client()
	refresh := text(w.connect(client, consent.DurationForever, "cin_work/messages"), "refresh_token")
	answers := race(10, func(i int) resttest.Answer {
		if i%2 == 0 {
			return w.token(refreshing(client, refresh))
		}
		return second.token(refreshing(client, refresh))
	})
	won := wins(answers)
	if len(won) != 3 {
		t.Errorf("%d of ten concurrent refreshes succeeded, want 3", len(won))
	}
	seen := map[string]bool{}
	for _, a := range won {
		seen[text(a, "refresh_token")] = true
		if w.isLive(text(a, "access_token")) {
			t.Error("a token of the revoked family is accepted")
		}
	}
	if len(seen) != len(won) {
		t.Error("two refreshes returned the same token")
	}
}

func TestH142TokenOfOneResourceAtAnother(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	code := w.approve(w.choose(w.authorize(with(w.authorization(client), "resource", w.URL)), consent.Duration7d, "cin_work/messages")).Get("code")
	wantError(t, w.token(with(redemption(client, code), "resource", w.URL+"/mcp")), 400, "invalid_target")

	code = w.approve(w.choose(w.authorize(with(w.authorization(client), "resource", w.URL)), consent.Duration7d, "cin_work/messages")).Get("code")
	a := w.token(redemption(client, code)).OK()
	wantError(t, w.token(with(refreshing(client, text(a, "refresh_token")), "resource", w.URL+"/mcp")), 400, "invalid_target")
	w.token(with(refreshing(client, text(a, "refresh_token")), "resource", w.URL+"/")).OK()
}

func TestH162NoRefreshTokenUnlessStated(t *testing.T) {
	w := newWorld(t)
	client := w.register(`{"redirect_uris":["` + callback + `"],"grant_types":["authorization_code"]}`)
	a := w.connect(client, consent.DurationForever, "cin_work/messages")
	if seconds := fmt.Sprint(a.At("expires_in")); text(a, "refresh_token") != "" || seconds != "86400" {
		t.Errorf("a client without the refresh grant: %s", a.Body)
	}
}
