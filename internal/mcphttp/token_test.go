package mcphttp_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"pdpp"
	"pdpp/internal/rs/resttest"
	"pdpp/internal/secret"
	"pdpp/internal/store"
)

func TestBearerForms(t *testing.T) {
	h := newFixture(t)
	long := strings.Repeat("a", 513)
	for _, c := range []struct {
		values []string
		status int
		code   string
	}{
		{[]string{"Bearer " + h.client}, 200, ""},
		{[]string{"bEARER " + h.client}, 200, ""},
		{[]string{"Bearer   " + h.client}, 200, ""},
		{nil, 401, "authentication_error"},
		{[]string{""}, 401, "authentication_error"},
		{[]string{"Bearer"}, 401, "authentication_error"},
		{[]string{"Bearer "}, 401, "authentication_error"},
		{[]string{"Basic " + h.client}, 401, "authentication_error"},
		{[]string{h.client}, 401, "authentication_error"},
		{[]string{"Bearer " + h.client + " " + h.client}, 401, "invalid_token"},
		{[]string{"Bearer " + h.client + "," + h.client}, 401, "invalid_token"},
		{[]string{"Bearer " + h.client + "x"}, 401, "invalid_token"},
		{[]string{"Bearer " + long}, 401, "invalid_token"},
		{[]string{`Bearer "` + h.client + `"`}, 401, "invalid_token"},
		{[]string{"Bearer " + strings.ToUpper(h.client)}, 401, "invalid_token"},
		{[]string{"Bearer é"}, 401, "invalid_token"},
		{[]string{"Bearer " + h.client, "Bearer " + h.client}, 400, "invalid_request"},
	} {
		body := rpc{era: handshake, method: "ping"}.body()
		a := h.raw(raw{method: "POST", body: body, header: http.Header{"Authorization": c.values, "Content-Type": {"application/json"}}})
		if a.Status != c.status || a.Status != 200 && a.Code() != c.code {
			t.Errorf("Authorization %.60q: %d %s, want %d %s", c.values, a.Status, a.Body, c.status, c.code)
		}
	}
}

// The stored token decides, not its prefix, and it is read for each request.
func TestTokenStates(t *testing.T) {
	h := newFixture(t)
	ask := func(token string) resttest.Answer { return h.send(token, callOf(modern, "search", `{"q":"rent"}`)) }
	mint := func(tok store.Token) string {
		tok.Audience = append(tok.Audience, "mcp")
		return h.Token(tok)
	}
	short := mint(store.Token{Kind: pdpp.TokenClient, Client: h.ClientOf(h.grant), Grant: h.grant, ExpiresAt: h.Now().Add(time.Hour)}) // of a grant that lasts longer
	ending, endingID := h.Grant(`{"source":{"connector_key":"ledgerly"},"streams":[{"name":"entries","connections":["cin_a1"]}],"expires_in":"2h"}`)
	endingPkg, _, _ := h.Package(`{"source":{"connector_key":"ledgerly"},"streams":[{"name":"entries","connections":["cin_a1"]}],"expires_in":"2h"}`,
		`{"source":{"connector_key":"ledgerly"},"streams":[{"name":"entries","connections":["cin_b2"]}],"expires_in":"1h"}`)
	withdrawn, withdrawnID := h.Grant(memberSpecs[1])
	broken := h.brokenGrant()
	for _, token := range []string{h.client, h.pkg, short, ending, endingPkg, withdrawn} {
		ask(token).OK()
	}
	expect(t, ask(h.fresh("rest")), 401, "invalid_token")
	expect(t, ask(h.fresh("mcp-developer")), 401, "invalid_token")
	expect(t, ask(h.fresh()), 401, "invalid_token")
	if a := ask(h.fresh("rest")); !strings.Contains(string(a.Body), "another resource") || !strings.Contains(a.Header.Get("WWW-Authenticate"), "/oauth-protected-resource/mcp\"") {
		t.Errorf("another audience: %s %v", a.Body, a.Header)
	}
	ask(h.fresh("rest", "mcp")).OK()
	expect(t, ask(broken), 401, "invalid_token")
	expect(t, ask(mint(store.Token{Kind: pdpp.TokenOwner})), 403, "permission_error") // its prefix is that of a client token

	h.Revoke(withdrawnID)
	t.Run("CHAL-1 a token whose grant was revoked is challenged like any invalid bearer", func(t *testing.T) {
		a := ask(withdrawn)
		expect(t, a, 401, "invalid_token")
		metadata, _ := a.At("error.resource_metadata").(string)
		for _, part := range []string{`error="invalid_token"`, `error_description="The owner has revoked this grant."`, `resource_metadata="` + metadata + `"`} {
			if got := a.Header.Get("WWW-Authenticate"); !strings.Contains(got, part) || !strings.HasSuffix(metadata, "/.well-known/oauth-protected-resource/mcp") {
				t.Errorf("no %s in the challenge %s of %s", part, got, a.Body)
			}
		}
		expect(t, h.Get(withdrawn, "/v1/schema?view=compact"), 403, "grant_revoked") // /v1 says what is wrong (C-18)
	})
	h.Advance(time.Hour)
	expect(t, ask(short), 401, "invalid_token")
	ask(h.client).OK() // the grant of short is still valid
	ask(ending).OK()
	if a := ask(endingPkg).OK(); strings.Contains(string(a.Body), `"connection_id":"cin_b2","connector_key":"ledgerly","stream"`) {
		t.Errorf("an expired member answered: %s", a.Body)
	}
	h.Advance(time.Hour)
	expect(t, ask(ending), 401, "invalid_token")
	expect(t, ask(endingPkg), 401, "invalid_token")
	h.Revoke(endingID)
	expect(t, ask(ending), 401, "invalid_token")

	for i, id := range h.grants {
		ask(h.pkg).OK()
		h.Revoke(id)
		if i == len(h.grants)-1 {
			expect(t, ask(h.pkg), 401, "invalid_token")
		}
	}
	h.Advance(31 * 24 * time.Hour)
	expect(t, ask(withdrawn), 401, "invalid_token") // now the token has expired, too

	pkg, id, grants := h.Package(memberSpecs...)
	ask(pkg).OK()
	h.Update(func(tx store.Tx) error {
		_, _, _, err := tx.RevokePackage(h.Subject, id, h.Now())
		return err
	})
	expect(t, ask(pkg), 401, "invalid_token")
	expect(t, ask(h.tokenOf(grants[0], "mcp")), 401, "invalid_token")
}

// brokenGrant returns a token of a grant whose document cannot be interpreted.
func (h *fixture) brokenGrant() string {
	h.T.Helper()
	id := pdpp.GrantID(secret.ID("grt_"))
	h.Update(func(tx store.Tx) error {
		g, err := tx.Grant(h.Subject, h.grant)
		if err != nil {
			return err
		}
		return tx.CreateGrant(store.Grant{
			ID: id, Subject: h.Subject, Client: g.Client, ConnectorKey: "ledgerly", IssuedAt: h.Now(), Document: []byte(`{"version":"9.9.9"}`),
		})
	})
	return h.tokenOf(id, "mcp")
}

// A member whose grant cannot be interpreted does not affect the others.
func TestBrokenMember(t *testing.T) {
	h := newFixture(t)
	broken := pdpp.GrantID(secret.ID("grt_"))
	id := pdpp.PackageID(secret.ID("gpkg_"))
	var client store.Client
	h.Update(func(tx store.Tx) error {
		good, err := tx.Grant(h.Subject, h.grant)
		if err != nil {
			return err
		}
		client = good.Client
		err = tx.CreateGrant(store.Grant{
			ID: broken, Subject: h.Subject, Client: client, ConnectorKey: "post", IssuedAt: h.Now(), Document: []byte(`{"version":"9.9.9"}`),
		})
		if err != nil {
			return err
		}
		_, err = tx.CreatePackage(store.Package{ID: id, Subject: h.Subject, Client: client, IssuedAt: h.Now()},
			[]store.NewMember{{Grant: broken, Connection: "cin_m3"}, {Grant: h.grant, Connection: "cin_a1"}})
		return err
	})
	token := h.Token(store.Token{Kind: pdpp.TokenPackage, Client: client.ID, Package: id, Audience: []string{"mcp"}})
	a := h.send(token, callOf(modern, "query_records", `{"stream":"entries"}`)).OK() // the only usable member
	if a.At("result.isError") != nil {
		t.Errorf("the good member: %s", a.Body)
	}
	a = h.send(token, callOf(modern, "query_records", `{"stream":"messages","connection_id":"cin_m3"}`)).OK()
	wants(t, a, map[string]any{"result.structuredContent.error.code": "grant_invalid"})
	h.Revoke(h.grant)
	expect(t, h.send(token, callOf(modern, "schema", `{}`)), 401, "invalid_token")
}

// A revoked token is invalid, whatever the status of its grant.
func TestRevokedToken(t *testing.T) {
	h := newFixture(t)
	ping := rpc{era: handshake, method: "ping"}
	h.send(h.client, ping).OK()
	h.Update(func(tx store.Tx) error {
		list, err := tx.Tokens(h.Subject, h.grant)
		if err != nil {
			return err
		}
		_, _, err = tx.RevokeToken(h.Subject, list[0].ID, h.Now())
		return err
	})
	expect(t, h.send(h.client, ping), 401, "invalid_token")
	h.send(h.fresh("mcp"), ping).OK()
}

// A client token of the endpoint also reads /v1. A package token does not: it has no rights
// of its own (H-52).
func TestTokensOfTheEndpointElsewhere(t *testing.T) {
	h := newFixture(t)
	h.Get(h.fresh("mcp"), "/v1/streams/entries/records").OK()
	for _, audience := range []string{"mcp", "rest"} {
		token := h.Token(store.Token{Kind: pdpp.TokenPackage, Client: h.ClientOf(h.grants[0]), Package: h.packageID, Audience: []string{audience}})
		for _, target := range []string{"/v1/streams", "/v1/search?q=rent", "/v1/streams/entries/records?connection_id=cin_a1"} {
			expect(t, h.Get(token, target), 403, "permission_error")
		}
	}
}

// A read through a package is a use of the package and of the grant of the member. A
// refused token is not used (H-81).
func TestUseIsNoted(t *testing.T) {
	h := newFixture(t)
	h.send(h.pkg, callOf(modern, "query_records", `{"stream":"entries","connection_id":"cin_b2"}`)).OK()
	expect(t, h.send(h.fresh("rest"), callOf(modern, "schema", `{}`)), 401, "invalid_token")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := h.Server.Run(ended); err != nil { // writes the pending uses
		t.Fatal(err)
	}
	h.Update(func(tx store.Tx) error {
		packages, err := tx.Packages(h.Subject)
		if err != nil || len(packages) != 1 || !packages[0].LastUsedAt.Equal(h.Now()) {
			t.Errorf("packages %+v, %v", packages, err)
		}
		for i, id := range append(h.grants, h.grant) {
			g, err := tx.Grant(h.Subject, id)
			if used := !g.LastUsedAt.IsZero(); err != nil || used != (i == 1) {
				t.Errorf("grant %d was used at %v, %v", i, g.LastUsedAt, err)
			}
		}
		return nil
	})
}
