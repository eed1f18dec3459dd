package as_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"pdpp"
	"pdpp/internal/consent"
	"pdpp/internal/rs/resttest"
)

// grantID returns the id of a grant in a token answer.
func grantID(a resttest.Answer, i int) pdpp.GrantID {
	return pdpp.GrantID(text(a, fmt.Sprintf("authorization_details.%d.grant_id", i)))
}

func TestH170RevokingATokenEndsWhatItIs(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	a := w.connect(client, consent.DurationForever, "cin_work/messages")
	second := w.token(refreshing(client, text(a, "refresh_token"))).OK()
	w.post("/oauth/revoke", params("token", text(a, "access_token"))).OK()
	if w.isLive(text(a, "access_token")) || !w.isLive(text(second, "access_token")) {
		t.Error("revoking an access token revokes that token and no other")
	}
	w.post("/oauth/revoke", params("token", text(second, "refresh_token"), "token_type_hint", "access_token")).OK()
	if w.isLive(text(second, "access_token")) {
		t.Error("the access token of a revoked refresh token is accepted")
	}
	if g := w.grants()[0]; !g.Revoked {
		t.Error("the grant is not revoked with its last family")
	}
	// Unknown, and revoked before: the answer is the same.
	for _, token := range []string{"unknown", text(second, "refresh_token"), text(a, "access_token")} {
		if answer := w.post("/oauth/revoke", params("token", token)); answer.Status != http.StatusOK || len(answer.Body) != 0 {
			t.Errorf("revoking %.12s again: %d %q", token, answer.Status, answer.Body)
		}
	}
}

func TestH170OfAnotherClient(t *testing.T) {
	w := newWorld(t)
	client, other := w.client(), w.client()
	a := w.connect(client, consent.DurationForever, "cin_work/messages")
	for _, name := range []string{"access_token", "refresh_token"} {
		wantError(t, w.post("/oauth/revoke", params("token", text(a, name), "client_id", other)), 400, "invalid_client")
	}
	if !w.isLive(text(a, "access_token")) {
		t.Error("another client revoked the token")
	}
}

func TestH170GrantLivesWithAnotherFamily(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	approval := w.choose(w.authorize(w.authorization(client)), consent.DurationForever, "cin_work/messages")
	a := w.token(redemption(client, w.approve(approval).Get("code"))).OK()
	other := w.connect(client, consent.DurationForever, "cin_work/messages")
	w.post("/oauth/revoke", params("token", text(a, "refresh_token"))).OK()
	if !w.isLive(text(other, "access_token")) {
		t.Error("revoking one authorization ended another one")
	}
}

func TestH171RevocationByTheOwner(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	single := w.connect(client, consent.DurationForever, "cin_work/messages")
	pkg := w.connect(client, consent.DurationForever, "cin_work/messages", "cin_home/messages")
	third := w.connect(client, consent.DurationForever, "cin_work/contacts")

	if err := w.as.RevokeGrant(t.Context(), w.Subject, grantID(single, 0)); err != nil {
		t.Fatal(err)
	}
	if err := w.as.RevokePackage(t.Context(), w.Subject, pdpp.PackageID(text(pkg, "grant_package_id"))); err != nil {
		t.Fatal(err)
	}
	for _, a := range []resttest.Answer{single, pkg} {
		wantError(t, w.token(refreshing(client, text(a, "refresh_token"))), 400, "invalid_grant")
	}
	if w.isLive(text(single, "access_token")) || !w.isLive(text(third, "access_token")) {
		t.Error("revoking a grant ends its tokens and no others")
	}
	if err := w.as.RevokeClient(t.Context(), w.Subject, pdpp.ClientID(client)); err != nil {
		t.Fatal(err)
	}
	if w.isLive(text(third, "access_token")) {
		t.Error("a token of a revoked client is accepted")
	}
	bea := w.Owner("bea")
	for i, err := range []error{
		w.as.RevokeGrant(t.Context(), bea, grantID(third, 0)),
		w.as.RevokePackage(t.Context(), bea, pdpp.PackageID(text(pkg, "grant_package_id"))),
		w.as.RevokeClient(t.Context(), bea, pdpp.ClientID(client)),
	} {
		if !isNotFound(err) {
			t.Errorf("revocation %d by another owner: %v, want not_found", i, err)
		}
	}
}

func TestH171ClientGivesAGrantBack(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	mine := w.connect(client, consent.DurationForever, "cin_work/messages")
	other := w.connect(client, consent.DurationForever, "cin_work/contacts")
	pkg := w.connect(client, consent.DurationForever, "cin_work/messages", "cin_home/messages")
	revoke := func(id pdpp.GrantID, token string) resttest.Answer {
		return w.do("POST", "/grants/"+string(id)+"/revoke", "", "", "Authorization: Bearer "+token)
	}
	for name, a := range map[string]resttest.Answer{
		"another grant's token":    revoke(grantID(other, 0), text(mine, "access_token")),
		"an unknown grant":         revoke("grt_unknown", w.OwnerToken()),
		"a package's token":        revoke(grantID(pkg, 0), text(pkg, "access_token")),
		"the token of a stranger ": revoke(grantID(mine, 0), w.As(w.Owner("bea")).OwnerToken()),
	} {
		if a.Status != http.StatusNotFound || a.Code() != "not_found" {
			t.Errorf("%s: %d %s, want 404", name, a.Status, a.Body)
		}
	}
	if a := revoke(grantID(mine, 0), "pdpp_at_unknown"); a.Status != http.StatusUnauthorized {
		t.Errorf("an unknown token: %d, want 401", a.Status)
	}
	if a := w.do("POST", "/grants/grt_1/revoke", "", ""); a.Status != http.StatusUnauthorized {
		t.Errorf("no token: %d, want 401", a.Status)
	}
	if a := revoke(grantID(mine, 0), text(mine, "access_token")).OK(); text(a, "status") != "revoked" {
		t.Errorf("giving a grant back: %s", a.Body)
	}
	revoke(grantID(other, 0), w.OwnerToken()).OK()
	if w.isLive(text(mine, "access_token")) || w.isLive(text(other, "access_token")) {
		t.Error("the token of a revoked grant is accepted")
	}
}

func TestH165ExchangedTokenEndsWithItsFamily(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	code := w.approve(w.choose(w.authorize(with(w.authorization(client), "resource", w.URL)), consent.DurationForever, "cin_work/messages", "cin_home/messages")).Get("code")
	pkg := w.token(redemption(client, code)).OK()
	exchange := params("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange", "client_id", client, "subject_token", text(pkg, "access_token"),
		"subject_token_type", "urn:ietf:params:oauth:token-type:access_token", "pdpp_grant_id", string(grantID(pkg, 1)))
	member := w.token(exchange).OK()
	if !w.isLive(text(member, "access_token")) || w.isLive(text(pkg, "access_token")) {
		t.Error("the member's token opens /v1, the package's does not")
	}
	for name, change := range map[string][]string{
		"a member's token":  {"subject_token", text(member, "access_token")},
		"an owner's token":  {"subject_token", w.OwnerToken()},
		"a refresh token":   {"subject_token", text(pkg, "refresh_token")},
		"a foreign grant":   {"pdpp_grant_id", string(grantID(w.connect(client, consent.Duration7d, "cin_work/contacts"), 0))},
		"an unknown client": {"client_id", "nobody"},
	} {
		t.Run(name, func(t *testing.T) { wantError(t, w.token(with(exchange, change...)), 400, "invalid_grant") })
	}
	wantError(t, w.token(with(exchange, "resource", w.URL+"/mcp")), 400, "invalid_target")
	w.Revoke(grantID(pkg, 0))
	wantError(t, w.token(with(exchange, "pdpp_grant_id", string(grantID(pkg, 0)))), 400, "invalid_grant")

	// A replay ends the family and leaves the package.
	w.token(refreshing(client, text(pkg, "refresh_token"))).OK()
	w.Advance(time.Minute)
	wantError(t, w.token(refreshing(client, text(pkg, "refresh_token"))), 400, "invalid_grant")
	if w.isLive(text(member, "access_token")) {
		t.Error("the exchanged token outlives the package's")
	}
	wantError(t, w.token(exchange), 400, "invalid_grant")
}

func TestH165ExchangedTokenEndsWithThePackages(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	code := w.approve(w.choose(w.authorize(with(w.authorization(client), "resource", w.URL)), consent.DurationForever, "cin_work/messages", "cin_home/messages")).Get("code")
	pkg := w.token(redemption(client, code)).OK()
	member := w.token(params("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange", "client_id", client, "subject_token", text(pkg, "access_token"),
		"subject_token_type", "urn:ietf:params:oauth:token-type:access_token", "pdpp_grant_id", string(grantID(pkg, 1)))).OK()
	w.post("/oauth/revoke", params("token", text(pkg, "access_token"))).OK()
	if w.isLive(text(member, "access_token")) {
		t.Error("the exchanged token outlives the package's")
	}
	w.token(refreshing(client, text(pkg, "refresh_token"))).OK() // only that token was revoked
}

func TestH165ExchangedTokenEndsBeforeThePackages(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	code := w.approve(w.choose(w.authorize(with(w.authorization(client), "resource", w.URL)), consent.DurationForever, "cin_work/messages", "cin_home/messages")).Get("code")
	pkg := w.token(redemption(client, code)).OK()
	exchange := params("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange", "client_id", client, "subject_token", text(pkg, "access_token"),
		"subject_token_type", "urn:ietf:params:oauth:token-type:access_token", "pdpp_grant_id", string(grantID(pkg, 0)))
	w.Advance(55 * time.Minute)
	if seconds := fmt.Sprint(w.token(exchange).OK().At("expires_in")); seconds != "300" {
		t.Errorf("expires_in = %s, want the 300 that are left of the package's token", seconds)
	}
	w.Advance(5 * time.Minute)
	wantError(t, w.token(exchange), 400, "invalid_grant")
}
