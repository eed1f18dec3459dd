package rs_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pdpp"
	"pdpp/internal/grant"
	"pdpp/internal/httpx"
	"pdpp/internal/rs/resttest"
	"pdpp/internal/secret"
	"pdpp/internal/server"
	"pdpp/internal/store"
)

// fixedID is a header that makes answers comparable byte by byte.
const fixedID = "Request-Id: req_fixed"

// secondServer starts a second server on the store and the clock of a world. edit changes
// its configuration.
func secondServer(w *resttest.World, edit func(*server.Config)) *resttest.World {
	w.T.Helper()
	cfg := w.Server.Config
	cfg.Clock = w.Now
	edit(&cfg)
	s, err := server.New(cfg)
	if err != nil {
		w.T.Fatal(err)
	}
	out := w.As(w.Subject)
	out.Server = s
	out.URL = out.Serve()
	return out
}

// mint creates a token and returns its value and id. Unless ExpiresAt is set, it is valid
// for an hour.
func mint(w *resttest.World, tok store.Token) (value string, id pdpp.TokenID) {
	w.T.Helper()
	tok.ID = pdpp.TokenID(secret.ID("tok_"))
	if tok.ExpiresAt.IsZero() {
		tok.ExpiresAt = w.Now().Add(time.Hour)
	}
	return w.Token(tok), tok.ID
}

// mintFor creates a client token of an existing grant.
func mintFor(w *resttest.World, g pdpp.GrantID, tok store.Token) (value string, id pdpp.TokenID) {
	w.T.Helper()
	tok.Client, tok.Grant = w.ClientOf(g), g
	if tok.Kind == "" {
		tok.Kind = pdpp.TokenClient
	}
	return mint(w, tok)
}

func revokeToken(w *resttest.World, id pdpp.TokenID) {
	w.T.Helper()
	w.Update(func(tx store.Tx) error {
		_, _, err := tx.RevokeToken(w.Subject, id, w.Now())
		return err
	})
}

// mintForDocument creates a grant of the ledger with any document, and a token of it.
func mintForDocument(w *resttest.World, id pdpp.GrantID, document []byte) string {
	w.T.Helper()
	client := store.Client{ID: pdpp.ClientID(secret.ID("cli_")), Name: string(id), RegistrationMode: "operator", CreatedAt: w.Now()}
	w.Update(func(tx store.Tx) error {
		if err := tx.CreateClient(w.Subject, client); err != nil {
			return err
		}
		return tx.CreateGrant(store.Grant{
			ID: id, Subject: w.Subject, Client: client, ConnectorKey: "ledgerly", IssuedAt: w.Now(), Document: document,
		})
	})
	return first(mintFor(w, id, store.Token{Audience: []string{"rest"}}))
}

// mintForInvalidGrant creates a token of a grant whose document is invalid.
func mintForInvalidGrant(w *resttest.World) string {
	w.T.Helper()
	return mintForDocument(w, pdpp.GrantID(secret.ID("grt_")), []byte(`{"version":"9.9.9","streams":"all"}`))
}

// expectError fails unless the answer has this status and error code.
func expectError(t *testing.T, a resttest.Answer, status int, code pdpp.Code) {
	t.Helper()
	if a.Status != status || a.Code() != string(code) {
		t.Errorf("%s: answer %d %s, want %d %s: %s", a.Request, a.Status, a.Code(), status, code, a.Body)
	}
}

func TestBearer(t *testing.T) { // C-14, C-17, H-43, H-45, H-46
	w := ledger(t)
	valid, g := w.Grant(ledgerGrant)
	short, _ := mintFor(w, g, store.Token{Audience: []string{"rest"}, ExpiresAt: w.Now().Add(time.Minute)})
	ended, endedID := mintFor(w, g, store.Token{Audience: []string{"rest"}})
	revokeToken(w, endedID)
	w.Advance(time.Minute)
	robot, _ := mint(w, store.Token{Kind: "robot", Audience: []string{"rest"}})
	for _, tc := range []struct {
		name    string
		headers []string
		status  int
		code    pdpp.Code
	}{
		{"valid", []string{"Bearer " + valid}, 200, ""},
		{"scheme in another case", []string{"bEaReR " + valid}, 200, ""},
		{"several spaces before the token", []string{"Bearer   " + valid}, 200, ""},
		{"no header", nil, 401, pdpp.CodeAuthentication},
		{"other scheme", []string{"Basic " + valid}, 401, pdpp.CodeAuthentication},
		{"scheme without token", []string{"Bearer"}, 401, pdpp.CodeAuthentication},
		{"scheme and a space without token", []string{"Bearer "}, 401, pdpp.CodeAuthentication},
		{"token without scheme", []string{valid}, 401, pdpp.CodeAuthentication},
		{"two headers", []string{"Bearer " + valid, "Bearer " + valid}, 400, pdpp.CodeInvalidRequest},
		{"two tokens", []string{"Bearer " + valid + " " + valid}, 401, pdpp.CodeInvalidToken},
		{"two credentials in one header", []string{"Bearer " + valid + ",Bearer " + valid}, 401, pdpp.CodeInvalidToken},
		{"malformed", []string{"Bearer \"" + valid + "\""}, 401, pdpp.CodeInvalidToken},
		{"too long", []string{"Bearer " + strings.Repeat("a", 513)}, 401, pdpp.CodeInvalidToken},
		{"unknown", []string{"Bearer pdpp_at_unknown"}, 401, pdpp.CodeInvalidToken},
		{"without the last character", []string{"Bearer " + valid[:len(valid)-1]}, 401, pdpp.CodeInvalidToken},
		{"expired", []string{"Bearer " + short}, 401, pdpp.CodeInvalidToken},
		{"revoked", []string{"Bearer " + ended}, 401, pdpp.CodeInvalidToken},
		{"unknown kind", []string{"Bearer " + robot}, 401, pdpp.CodeInvalidToken},
	} {
		t.Run(tc.name, func(t *testing.T) {
			headers := []string{fixedID}
			for _, h := range tc.headers {
				headers = append(headers, "Authorization: "+h)
			}
			for _, target := range []string{"/v1/streams", "/v1/schema", "/v1/streams/entries/records", "/v1/state/ledgerly?connection_id=cin_a1"} {
				if tc.status == 200 && strings.HasPrefix(target, "/v1/state") {
					continue // an owner route
				}
				expectError(t, w.Get("", target, headers...), tc.status, tc.code)
			}
		})
	}
}

// TestInvalidTokensLookAlike: a client cannot distinguish a token that has expired from one
// that never existed (C-17).
func TestInvalidTokensLookAlike(t *testing.T) {
	w := ledger(t)
	_, g := w.Grant(ledgerGrant)
	short, _ := mintFor(w, g, store.Token{Audience: []string{"rest"}, ExpiresAt: w.Now().Add(time.Minute)})
	ended, id := mintFor(w, g, store.Token{Audience: []string{"rest"}})
	revokeToken(w, id)
	robot, _ := mint(w, store.Token{Kind: "robot"})
	w.Advance(2 * time.Minute)
	want := w.Get("pdpp_at_unknown", "/v1/streams", fixedID)
	for name, tok := range map[string]string{"expired": short, "revoked": ended, "unknown kind": robot, "malformed": "a b", "long": strings.Repeat("x", 600)} {
		sameAnswer(t, name, w.Get(tok, "/v1/streams", fixedID), want)
	}
}

// sameAnswer compares two answers byte by byte. Their requests have the same Request-Id.
func sameAnswer(t *testing.T, name string, got, want resttest.Answer) {
	t.Helper()
	got.Header.Del("Date")
	want.Header.Del("Date")
	if got.Status != want.Status {
		t.Errorf("%s: status %d, want %d", name, got.Status, want.Status)
	}
	if diff := cmp.Diff(string(want.Body), string(got.Body)); diff != "" {
		t.Errorf("%s: bodies differ (-want +got):\n%s", name, diff)
	}
	if diff := cmp.Diff(want.Header, got.Header); diff != "" {
		t.Errorf("%s: headers differ (-want +got):\n%s", name, diff)
	}
}

// TestTokensInQueryAndBodyAreIgnored: only the Authorization header counts (C-14).
func TestTokensInQueryAndBodyAreIgnored(t *testing.T) {
	w := ledger(t)
	tok, owner := first(w.Grant(ledgerGrant)), w.OwnerToken()
	expectError(t, w.Get("", "/v1/streams?access_token="+tok), 401, pdpp.CodeAuthentication)
	a := w.Do("POST", "", "/v1/ingest/entries?connection_id=cin_a1", "access_token="+owner, "Content-Type: application/x-www-form-urlencoded")
	expectError(t, a, 401, pdpp.CodeAuthentication)
}

// first returns the first of two results.
func first[A, B any](a A, _ B) A { return a }

// TestGrantStatus: a revoked or expired grant ends access with the next request (C-18, H-49).
func TestGrantStatus(t *testing.T) {
	w := ledger(t)
	tok, g := w.Grant(ledgerGrant)
	w.Get(tok, "/v1/streams").OK()
	w.Revoke(g)
	for _, target := range []string{"/v1/streams", "/v1/streams/entries/records/ent_31", "/v1/schema?view=compact"} {
		expectError(t, w.Get(tok, target), 403, pdpp.CodeGrantRevoked)
	}

	limited, _ := w.Grant(strings.Replace(ledgerGrant, `{"source"`, `{"expires_at":"2026-05-01T09:00:00Z","source"`, 1))
	w.Get(limited, "/v1/streams").OK()
	w.Advance(time.Hour - time.Millisecond)
	w.Get(limited, "/v1/streams").OK()
	w.Advance(time.Millisecond)
	expectError(t, w.Get(limited, "/v1/streams"), 403, pdpp.CodeGrantExpired)

	expectError(t, w.Get(mintForInvalidGrant(w), "/v1/streams"), 403, pdpp.CodeGrantInvalid)
	bare, _ := mint(w, store.Token{Kind: pdpp.TokenClient, Audience: []string{"rest"}})
	expectError(t, w.Get(bare, "/v1/streams"), 403, pdpp.CodeGrantInvalid)

	// An expired token is reported before a revoked grant (H-49).
	w.Advance(31 * 24 * time.Hour)
	expectError(t, w.Get(tok, "/v1/streams"), 401, pdpp.CodeInvalidToken)
}

func TestKindAndAudience(t *testing.T) { // C-16, H-52
	w := ledger(t)
	_, g := w.Grant(ledgerGrant)
	pack, _ := mint(w, store.Token{Kind: pdpp.TokenPackage, Audience: []string{"mcp", "rest"}})
	expectError(t, w.Get(pack, "/v1/streams"), 403, pdpp.CodePermission)
	for audience, want := range map[string]int{"rest": 200, "mcp": 200, "mcp-developer": 200, "other": 403, "": 403, "mcp rest": 200} {
		tok, _ := mintFor(w, g, store.Token{Audience: strings.Fields(audience)})
		a := w.Get(tok, "/v1/streams")
		if a.Status != want {
			t.Errorf("audience %q: status %d, want %d", audience, a.Status, want)
		}
		if want == 403 && a.Code() != string(pdpp.CodeInsufficientScope) {
			t.Errorf("audience %q: code %s, want insufficient_scope", audience, a.Code())
		}
	}
}

func TestOwnerRoutesAreForOwners(t *testing.T) { // C-16
	w := ledger(t)
	tok := first(w.Grant(ledgerGrant))
	for _, r := range []string{
		"POST /v1/ingest/entries?connection_id=cin_a1", "DELETE /v1/streams/entries/records?connection_id=cin_a1",
		"DELETE /v1/streams/entries/records/ent_31?connection_id=cin_a1", "GET /v1/state/ledgerly?connection_id=cin_a1",
		"PUT /v1/state/ledgerly?connection_id=cin_a1", "DELETE /v1/streams/other/records?nope=1", "GET /v1/state/unknown",
	} {
		method, target, _ := strings.Cut(r, " ")
		a := w.Do(method, tok, target, "{}", "Content-Type: application/x-ndjson")
		expectError(t, a, 403, pdpp.CodePermission)
	}
	if ids := w.Get(tok, "/v1/streams/entries/records").IDs(); len(ids) != 3 {
		t.Errorf("records after refused writes: %v, want 3", ids)
	}
}

var authParam = regexp.MustCompile(`([a-z_]+)="([^"]*)"`)

func challengeOf(a resttest.Answer) map[string]string {
	out := map[string]string{}
	value, ok := strings.CutPrefix(a.Header.Get("WWW-Authenticate"), "Bearer ")
	if !ok {
		return nil
	}
	for _, m := range authParam.FindAllStringSubmatch(value, -1) {
		out[m[1]] = m[2]
	}
	return out
}

func TestChallenges(t *testing.T) { // C-19, H-50, H-51, R3
	w := ledger(t)
	tok, g := w.Grant(ledgerGrant)
	revoked, rg := w.Grant(ledgerGrant)
	w.Revoke(rg)
	other, _ := mintFor(w, g, store.Token{Audience: []string{"elsewhere"}})
	public, err := httpx.ParsePublicURL("https://vault.acme.test")
	if err != nil {
		t.Fatal(err)
	}
	fixed := secondServer(w, func(c *server.Config) { c.Edge = &httpx.Edge{PublicURL: public} })
	for _, tc := range []struct {
		token, target string
		status        int
		err           string // the error parameter of the challenge
	}{
		{"", "/v1/streams", 401, ""},
		{"pdpp_at_unknown", "/v1/streams", 401, "invalid_token"},
		{revoked, "/v1/streams", 403, "insufficient_scope"},
		{mintForInvalidGrant(w), "/v1/streams", 403, "insufficient_scope"},
		{other, "/v1/streams", 403, "insufficient_scope"},
		{tok, "/v1/streams/other/records", 403, "insufficient_scope"},
		{tok, "/v1/streams/entries/records?fields=note", 403, "insufficient_scope"},
		{tok, "/v1/state/ledgerly?connection_id=cin_a1", 403, "insufficient_scope"},
	} {
		for base, world := range map[string]*resttest.World{w.URL: w, "https://vault.acme.test": fixed} {
			a := world.Get(tc.token, tc.target)
			checkChallenge(t, a, tc.status, tc.err, base)
			head := world.Do("HEAD", tc.token, tc.target, "")
			if diff := cmp.Diff(challengeOf(a), challengeOf(head)); diff != "" || head.Status != a.Status || len(head.Body) > 0 {
				t.Errorf("HEAD %s: status %d, %d bytes, challenge differs:\n%s", tc.target, head.Status, len(head.Body), diff)
			}
		}
	}
	for _, a := range []resttest.Answer{w.Get(tok, "/v1/streams"), w.Get("", "/v1/nope"), w.Get(tok, "/v1/streams?nope=1")} {
		if h := a.Header.Get("WWW-Authenticate"); h != "" {
			t.Errorf("status %d has a challenge: %s", a.Status, h)
		}
	}
}

func checkChallenge(t *testing.T, a resttest.Answer, status int, wantErr, base string) {
	t.Helper()
	ch := challengeOf(a)
	if a.Status != status || ch == nil {
		t.Fatalf("status %d, challenge %v, want %d and a challenge: %s", a.Status, ch, status, a.Body)
	}
	metadata := base + "/.well-known/oauth-protected-resource"
	if ch["error"] != wantErr || ch["scope"] != "pdpp:read" || ch["resource_metadata"] != metadata {
		t.Errorf("challenge %v, want error %q and metadata %s", ch, wantErr, metadata)
	}
	if (ch["error_description"] != "") != (wantErr != "") {
		t.Errorf("challenge %v: error and error_description must occur together", ch)
	}
	inBody, _ := a.At("error.resource_metadata").(string)
	next, _ := a.At("error.next_step").(string)
	if status == 401 && (inBody != metadata || next == "") {
		t.Errorf("body of a 401 has no resource_metadata or next_step: %s", a.Body)
	}
	if status == 403 && inBody != "" {
		t.Errorf("body of a 403 has resource_metadata: %s", a.Body)
	}
}

// TestOrderOfChecks: the first check that fails decides the answer (C-20). Each request has
// at least two faults.
func TestOrderOfChecks(t *testing.T) {
	w := ledger(t)
	addCabinet(w)
	tok := first(w.Grant(ledgerGrant))
	only := first(w.Grant(`{"source":{"connector_key":"ledgerly"},"streams":[{"name":"entries","fields":["id","memo"],"instance_ids":["cin_a1"]}]}`))
	revoked, g := w.Grant(ledgerGrant)
	w.Revoke(g)
	pack, _ := mint(w, store.Token{Kind: pdpp.TokenPackage})
	owner := w.OwnerToken()
	const other = "Pdpp-Version: 1999-01-01"
	for _, tc := range []struct {
		name, token, request string
		status               int
		code                 pdpp.Code
		param                string
		headers              []string
	}{
		{"version before route", "", "GET /v1/nope", 400, "unsupported_version", "", []string{other}},
		{"version before bearer", "", "GET /v1/streams", 400, "unsupported_version", "", []string{other}},
		{"route before bearer", "", "GET /v1/nope?x=1", 404, "not_found", "", nil},
		{"method before bearer", "", "PATCH /v1/streams?x=1", 405, "method_not_allowed", "", nil},
		{"bearer before parameters", "", "GET /v1/streams?x=1", 401, "authentication_error", "", nil},
		{"bearer before grammar", "", "GET /v1/streams?x=%zz", 401, "authentication_error", "", nil},
		{"token before parameters", "nope", "GET /v1/streams?x=1", 401, "invalid_token", "", nil},
		{"grant before parameters", revoked, "GET /v1/streams?x=1", 403, "grant_revoked", "", nil},
		{"grant before stream", revoked, "GET /v1/streams/other/records", 403, "grant_revoked", "", nil},
		{"grant before kind", revoked, "DELETE /v1/streams/entries/records?x=1", 403, "grant_revoked", "", nil},
		{"kind before parameters", pack, "GET /v1/streams?x=1", 403, "permission_error", "", nil},
		{"kind before grammar", tok, "PUT /v1/state/ledgerly?x=%zz", 403, "permission_error", "", nil},
		{"kind before unknown parameter", tok, "POST /v1/ingest/entries?x=1", 403, "permission_error", "", nil},
		{"kind before connection", tok, "DELETE /v1/streams/entries/records?connection_id=cin_zz", 403, "permission_error", "", nil},
		{"grammar before unknown parameter", tok, "GET /v1/streams?x=1&filter[a][b][c]=1", 400, "invalid_request", "filter", nil},
		{"unknown parameter before stream", tok, "GET /v1/streams/other/records?x=1", 400, "invalid_request", "x", nil},
		{"unknown parameter before connection", tok, "GET /v1/streams?connection_id=cin_zz&x=1", 400, "invalid_request", "x", nil},
		{"stream before connection", tok, "GET /v1/streams/other/records?connection_id=cin_zz", 403, "grant_stream_not_allowed", "", nil},
		{"stream before connector", tok, "GET /v1/streams/other?connector_id=zz", 403, "grant_stream_not_allowed", "", nil},
		{"stream before connection, owner", owner, "GET /v1/streams/other/records?connection_id=cin_zz", 404, "not_found", "", nil},
		{"stream before limit", tok, "GET /v1/streams/other/records?limit=0", 403, "grant_stream_not_allowed", "", nil},
		{"connection before limit", tok, "GET /v1/streams/entries/records?connection_id=cin_zz&limit=0", 404, "connection_not_found", "connection_id", nil},
		{"connection before field", tok, "GET /v1/streams/entries/records?connection_id=cin_zz&fields=nope", 404, "connection_not_found", "connection_id", nil},
		{"unknown before ungranted", tok, "GET /v1/streams/entries/records?fields=note,nope", 400, "unknown_field", "fields", nil},
		{"unknown filter before ungranted field", tok, "GET /v1/streams/entries/records?fields=note&filter[nope]=1", 400, "unknown_field", "filter", nil},
		{"unknown relation before ungranted field", tok, "GET /v1/streams/entries/records?fields=note&expand=nope", 400, "invalid_expand", "expand", nil},
		{"ungranted before undeclared", tok, "GET /v1/streams/entries/records?filter[memo][gte]=a&filter[note]=b", 403, "field_not_granted", "filter", nil},
		{"ungranted field before undeclared operator", only, "GET /v1/streams/entries/records?filter[memo][gte]=a&sort=posted_at", 403, "field_not_granted", "sort", nil},
		{"ungranted relation before undeclared operator", only, "GET /v1/streams/entries/records?filter[memo][gte]=a&expand=receipts", 403, "insufficient_scope", "expand", nil},
		{"field before cursor", tok, "GET /v1/streams/entries/records?fields=note&cursor=x", 403, "field_not_granted", "fields", nil},
		{"undeclared before cursor", tok, "GET /v1/streams/entries/records?filter[memo][gte]=a&cursor=x", 400, "invalid_request", "filter", nil},
		{"cursor before data", tok, "GET /v1/streams/entries/records?cursor=x", 400, "invalid_cursor", "cursor", nil},
		{"field before record", tok, "GET /v1/streams/entries/records/none?fields=note", 403, "field_not_granted", "fields", nil},
		{"write: unknown parameter before stream", owner, "POST /v1/ingest/nope?x=1", 400, "invalid_request", "x", nil},
		{"write: stream before connection", owner, "POST /v1/ingest/nope?connection_id=cin_zz", 404, "not_found", "", nil},
		{"write: connection before body", owner, "POST /v1/ingest/entries?connection_id=cin_zz", 404, "connection_not_found", "connection_id", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			method, target, _ := strings.Cut(tc.request, " ")
			a := w.Do(method, tc.token, target, "", tc.headers...)
			expectError(t, a, tc.status, tc.code)
			if p, _ := a.At("error.param").(string); p != tc.param {
				t.Errorf("param %q, want %q: %s", p, tc.param, a.Body)
			}
		})
	}
}

func withNewKey(c *server.Config) { c.InstanceKey = []byte(strings.Repeat("n", 32)) }

// TestGrantOfAnotherSubject: a grant whose document names another owner than its token is
// invalid (C-15, C-21).
func TestGrantOfAnotherSubject(t *testing.T) {
	w := ledger(t)
	_, id := w.Grant(ledgerGrant)
	var document []byte
	w.Update(func(tx store.Tx) error {
		granted, err := tx.Grant(w.Subject, id)
		if err != nil {
			return err
		}
		g, err := grant.ParseDocument(granted.Document, granted.ConnectorKey)
		if err != nil {
			return err
		}
		g.ID = "grt_other"
		document = grant.Document(g)
		return nil
	})
	token := mintForDocument(w.As(w.Owner("other")), "grt_other", document)
	expectError(t, w.Get(token, entriesPath), 403, pdpp.CodeGrantInvalid)
}
