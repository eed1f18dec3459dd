package as_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"pdpp/internal/as"
	"pdpp/internal/consent"
	"pdpp/internal/rs/resttest"
)

func TestH161CodeIsBoundToItsRequest(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	other := w.client()
	for name, change := range map[string][]string{
		"another client":                   {"client_id", other},
		"code injection: another verifier": {"code_verifier", strings.Repeat("a", 43)},
		"no verifier":                      {"code_verifier", ""},
		"the challenge as verifier":        {"code_verifier", challenge},
		"another redirect URI":             {"redirect_uri", "https://app.example/cb2"},
		"no redirect URI":                  {"redirect_uri", ""},
		"a code of nobody":                 {"code", "pdpp_ac_" + strings.Repeat("a", 43)},
	} {
		t.Run(name, func(t *testing.T) {
			good := redemption(client, w.code(client, consent.Duration30d, "cin_work/messages"))
			wantError(t, w.token(with(good, change...)), 400, "invalid_grant")
			if change[0] != "code" { // the failed use has spent the code
				wantError(t, w.token(good), 400, "invalid_grant")
			}
		})
	}
}

func TestH161CodeExpires(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	code := w.code(client, consent.Duration30d, "cin_work/messages")
	w.Advance(60 * time.Second)
	wantError(t, w.token(redemption(client, code)), 400, "invalid_grant")
}

func TestH161ReuseRevokesEverything(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	form := redemption(client, w.code(client, consent.Duration30d, "cin_work/messages", "cin_home/messages"))
	first := w.token(form).OK()
	renewed := w.token(refreshing(client, text(first, "refresh_token"))).OK()
	wantError(t, w.token(form), 400, "invalid_grant")
	for _, a := range []resttest.Answer{first, renewed} {
		wantError(t, w.token(refreshing(client, text(a, "refresh_token"))), 400, "invalid_grant")
	}
	for _, g := range w.grants() {
		if !g.Revoked {
			t.Errorf("grant %s is not revoked", g.ID)
		}
	}
}

func TestH161ParallelRedemptionHasOneWinner(t *testing.T) {
	w, second := twoProcesses(t)
	client := w.client()
	form := redemption(client, w.code(client, consent.Duration30d, "cin_work/messages"))
	answers := race(10, func(i int) resttest.Answer {
		if i%2 == 0 {
			return w.token(form)
		}
		return second.token(form)
	})
	won := wins(answers)
	if len(won) != 1 {
		t.Fatalf("%d redemptions of one code succeeded", len(won))
	}
	if w.isLive(text(won[0], "access_token")) {
		t.Error("the token of a code that was used ten times is accepted")
	}
}

// race calls fn in n goroutines at once.
func race(n int, fn func(i int) resttest.Answer) []resttest.Answer {
	answers := make([]resttest.Answer, n)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-start
			answers[i] = fn(i)
		})
	}
	close(start)
	wg.Wait()
	return answers
}

// wins returns the successful answers.
func wins(answers []resttest.Answer) []resttest.Answer {
	var out []resttest.Answer
	for _, a := range answers {
		if a.Status == http.StatusOK {
			out = append(out, a)
		}
	}
	return out
}

func TestH144PKCEDowngrade(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	for name, change := range map[string][]string{
		"no challenge":         {"code_challenge", ""},
		"no method":            {"code_challenge_method", ""},
		"plain":                {"code_challenge_method", "plain"},
		"method in lower case": {"code_challenge_method", "s256"},
		"short challenge":      {"code_challenge", "abc"},
		"padded challenge":     {"code_challenge", challenge + "="},
	} {
		t.Run(name, func(t *testing.T) {
			a := w.do("GET", "/oauth/authorize?"+with(w.authorization(client), change...).Encode(), "", "")
			u, err := url.Parse(a.Header.Get("Location"))
			if err != nil || a.Status != http.StatusSeeOther {
				t.Fatalf("%d %s", a.Status, a.Body)
			}
			q := u.Query()
			if u.Host != "app.example" || q.Get("error") != "invalid_request" || q.Get("state") != "s1" || q.Get("iss") != w.URL {
				t.Errorf("Location = %s", u)
			}
		})
	}
}

func TestH144RedirectVariantsAreShownNotSent(t *testing.T) {
	w := newWorld(t)
	client := w.register(`{"redirect_uris":["` + callback + `","http://127.0.0.1/cb"]}`)
	for _, uri := range []string{
		"https://APP.example/cb", "https://app.example:443/cb", "https://app.example/cb/", "https://app.example/cb?x", "https://app.example/cb#f",
		"https://u@app.example/cb", "http://127.0.0.1.evil.example/cb", "http://localhost/cb", "http://127.0.0.1:1@evil.example/cb", "//evil.example", "javascript:alert(1)",
	} {
		a := w.do("GET", "/oauth/authorize?"+with(w.authorization(client), "redirect_uri", uri).Encode(), "", "")
		if a.Status != http.StatusBadRequest || a.Header.Get("Location") != "" || strings.Contains(string(a.Body), uri) {
			t.Errorf("redirect_uri %s: %d %s %s", uri, a.Status, a.Header.Get("Location"), a.Body)
		}
	}
}

// A client that talks to two servers recognizes the one that answered by iss (RFC 9207).
func TestH144MixUp(t *testing.T) {
	honest, attacker := newWorld(t), newWorld(t)
	q := honest.approve(honest.choose(honest.authorize(honest.authorization(honest.client())), consent.Duration7d, "cin_work/messages"))
	if q.Get("iss") != honest.URL || q.Get("iss") == attacker.URL {
		t.Errorf("iss = %q, want %q", q.Get("iss"), honest.URL)
	}
	next, err := honest.as.Deny(t.Context(), honest.URL, honest.open(honest.authorize(honest.authorization(honest.client()))), honest.Subject)
	if u, _ := url.Parse(next); err != nil || u.Query().Get("iss") != honest.URL || u.Query().Get("error") != "access_denied" {
		t.Errorf("Deny = %s, %v", next, err)
	}
	// The code of one server is of no use at another one.
	wantError(t, attacker.token(redemption(attacker.client(), q.Get("code"))), 400, "invalid_grant")
}

// open opens a request as the owner and returns its id.
func (w *world) open(id string) string {
	w.T.Helper()
	if _, err := w.as.Request(w.T.Context(), id, w.Subject); err != nil {
		w.T.Fatal(err)
	}
	return id
}

func TestH144RequestBelongsToItsFirstOwner(t *testing.T) {
	w := newWorld(t)
	bea := w.Owner("bea")
	id := w.authorize(w.authorization(w.client()))
	approval := w.choose(id, consent.Duration7d, "cin_work/messages")
	approval.Subject = bea
	_, requestErr := w.as.Request(t.Context(), id, bea)
	_, approveErr := w.as.Approve(t.Context(), approval)
	_, denyErr := w.as.Deny(t.Context(), w.URL, id, bea)
	chooseErr := w.as.Choose(t.Context(), id, bea, consent.Choice{})
	_, _, reviewErr := w.as.Review(t.Context(), id, bea, consent.Choice{})
	_, unknownErr := w.as.Request(t.Context(), "areq_unknown", bea)
	for i, err := range []error{requestErr, approveErr, denyErr, chooseErr, reviewErr, unknownErr} {
		if !isNotFound(err) || err.Error() != unknownErr.Error() {
			t.Errorf("call %d by another owner: %v, want that of an unknown request", i, err)
		}
	}
	// A request that nobody has opened cannot be decided on.
	unseen := w.authorize(w.authorization(w.client()))
	if _, err := w.as.Deny(t.Context(), w.URL, unseen, w.Subject); !isNotFound(err) {
		t.Errorf("Deny of a request that was not opened: %v", err)
	}
}

func TestH144RequestExpires(t *testing.T) {
	w := newWorld(t)
	approval := w.choose(w.authorize(w.authorization(w.client())), consent.Duration7d, "cin_work/messages")
	w.Advance(30 * time.Minute)
	if _, err := w.as.Approve(t.Context(), approval); !errors.Is(err, as.ErrDecided) {
		t.Errorf("Approve = %v, want ErrDecided", err)
	}
	req, err := w.as.Request(t.Context(), approval.Request, w.Subject)
	if err != nil || req.Outcome != as.Expired {
		t.Errorf("Request = %v, %v; want an expired one", req, err)
	}
	if n := len(w.grants()); n != 0 {
		t.Errorf("%d grants were created", n)
	}
}

func TestH144RequestsOfAnAddressAreLimited(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	for range 30 {
		w.authorize(w.authorization(client))
		if a := w.post("/oauth/par", w.authorization(client)); a.Status != http.StatusCreated {
			t.Fatalf("PAR: %d %s", a.Status, a.Body)
		}
	}
	a := w.do("GET", "/oauth/authorize?"+w.authorization(client).Encode(), "", "")
	if a.Status != http.StatusTooManyRequests || a.Header.Get("Retry-After") == "" || a.Header.Get("Location") != "" {
		t.Errorf("the 61st request: %d %v", a.Status, a.Header)
	}
	wantError(t, w.post("/oauth/par", w.authorization(client)), 429, "temporarily_unavailable")
	w.Advance(time.Minute)
	w.authorize(w.authorization(client))
}

func TestH151PushedRequestExpires(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	uri := text(w.post("/oauth/par", w.authorization(client)), "request_uri")
	w.Advance(300 * time.Second)
	a := w.do("GET", "/oauth/authorize?"+params("client_id", client, "request_uri", uri).Encode(), "", "")
	if a.Status != http.StatusBadRequest || a.Header.Get("Location") != "" {
		t.Errorf("an expired request_uri: %d %s", a.Status, a.Header.Get("Location"))
	}
}

func TestH141EveryRequestNeedsAKnownClient(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{"/oauth/token", "/oauth/par", "/oauth/device_authorization"} {
		form := with(w.authorization(""), "client_id", "", "grant_type", "authorization_code", "code", "x")
		wantError(t, w.post(path, form), 400, "invalid_request")
		for _, id := range []string{"cli_0000000000000000", "https://app.example/client.json", strings.Repeat("x", 3000)} {
			wantError(t, w.post(path, with(form, "client_id", id)), 401, "invalid_client")
		}
	}
	// A secret is ignored: all clients are public.
	client := w.client()
	form := redemption(client, w.code(client, consent.Duration7d, "cin_work/messages"))
	w.do("POST", "/oauth/token", "application/x-www-form-urlencoded", with(form, "client_secret", "x").Encode(), "Authorization: Basic eDp5").OK()
}

func TestH143ScopesHaveNoRights(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	for _, scope := range []string{"", "pdpp:read", "pdpp:read offline_access", "openid profile admin"} {
		id := w.authorize(with(w.authorization(client), "scope", scope))
		a := w.token(redemption(client, w.approve(w.choose(id, consent.Duration7d, "cin_work/messages")).Get("code"))).OK()
		if text(a, "scope") != "pdpp:read" || text(a, "refresh_token") == "" || a.At("authorization_details.1") != nil {
			t.Errorf("scope %q: %s", scope, a.Body)
		}
	}
}

// Several connections make a package with one member each; one makes a grant (H-80, H-82).
func TestH82ConsentOverSeveralSources(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	one := w.connect(client, consent.Duration7d, "cin_work/messages", "cin_work/contacts")
	if !strings.HasPrefix(text(one, "access_token"), "pdpp_at_") || text(one, "grant_id") == "" || one.At("grant_package_id") != nil {
		t.Errorf("one connection: %s", one.Body)
	}
	two := w.connect(client, consent.Duration7d, "cin_work/messages", "cin_home/contacts")
	if !strings.HasPrefix(text(two, "access_token"), "pdpp_pt_") || two.At("grant_id") != nil || text(two, "grant_package_id") == "" {
		t.Errorf("two connections: %s", two.Body)
	}
	if text(two, "authorization_details.0.streams.0.instance_ids.0") == text(two, "authorization_details.1.streams.0.instance_ids.0") {
		t.Errorf("two members cover one connection: %s", two.Body)
	}
}

func TestH150GrantedDetail(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	v := with(w.authorization(client), "authorization_details", `[{"type":"https://pdpp.dev/data-access","source":{"connector_key":"mail"},
		"purpose_code":"https://pdpp.dev/purpose/research","purpose_description":"Study","retention":{"max_duration":"P30D","on_expiry":"delete"},
		"streams":[{"name":"messages","fields":["subject"],"instance_ids":["cin_work"],"time_range":{"since":"2026-01-01T00:00:00Z"}}]}]`)
	a := w.token(redemption(client, w.approve(w.choose(w.authorize(v), consent.Duration7d, "cin_work/messages")).Get("code"))).OK()
	want := `[{"type":"https://pdpp.dev/data-access","grant_id":"` + text(a, "grant_id") + `","access_mode":"continuous",` +
		`"purpose_code":"https://pdpp.dev/purpose/research","purpose_description":"Study","retention":{"max_duration":"P30D","on_expiry":"delete"},` +
		`"source":{"kind":"connector","id":"https://registry.example/connectors/mail","connector_key":"mail"},` +
		`"streams":[{"name":"messages","instance_ids":["cin_work"],"fields":["id","subject"],"time_constraint":{"field":"sent_at","since":"2026-01-01T00:00:00Z"}}],` +
		`"expires_at":"2026-05-08T08:00:00.000Z"}]`
	if !strings.Contains(string(a.Body), `"authorization_details":`+want) {
		t.Errorf("details:\n%s\nwant\n%s", a.Body, want)
	}
}
