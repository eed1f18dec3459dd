package mcphttp_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"pdpp"
	"pdpp/internal/rs"
	"pdpp/internal/rs/resttest"
	"pdpp/internal/secret"
	"pdpp/internal/store"
)

// raw is a request to the endpoint, of which everything can be wrong.
type raw struct {
	method, host, body string
	header             http.Header
}

func (h *house) raw(r raw) resttest.Answer {
	h.T.Helper()
	req, err := http.NewRequestWithContext(h.T.Context(), r.method, h.URL+"/mcp", strings.NewReader(r.body))
	if err != nil {
		h.T.Fatal(err)
	}
	req.Header, req.Host = r.header.Clone(), r.host
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		h.T.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		h.T.Fatal(err)
	}
	return resttest.Answer{T: h.T, Status: res.StatusCode, Header: res.Header, Body: body}
}

// fresh is a token of the client's grant that was never used.
func (h *house) fresh(audience ...string) string {
	h.T.Helper()
	return h.tokenOf(h.grant, audience...)
}

func (h *house) tokenOf(id pdpp.GrantID, audience ...string) string {
	h.T.Helper()
	return h.Token(store.Token{Kind: pdpp.TokenClient, Client: h.clientOf(id), Grant: id, Audience: audience})
}

// The first failing step answers (H-41): a request with everything wrong is mended
// step by step, and each time the next step answers.
func TestOrderOfChecks(t *testing.T) {
	h := newHouse(t)
	h.open(func(c *rs.Config) { c.Rate = 1 }, nil) // one request for each token
	_, revoked := h.Grant(memberSpecs[0])
	atRest, ended, spent := h.tokenOf(revoked, "rest"), h.tokenOf(revoked, "mcp"), h.fresh("mcp")
	h.Revoke(revoked)
	h.post(spent, "{}")

	set := func(name, value string) func(*raw) {
		return func(r *raw) { r.header.Set(name, value) }
	}
	token := func(value string) func(*raw) { return set("Authorization", "Bearer "+value) }
	steps := []struct {
		mend   func(*raw)
		status int
		code   string
	}{
		{func(*raw) {}, 421, "misdirected_request"},
		{func(r *raw) { r.host = "" }, 403, "origin_not_allowed"},
		{set("Origin", "http://localhost:5173"), 400, "unsupported_version"},
		{func(r *raw) { r.header.Del("PDPP-Version") }, 400, "invalid_request"},
		{func(r *raw) { r.header.Del("Authorization") }, 401, "authentication_error"},
		{token("pdpp_at_unknown"), 401, "invalid_token"},
		{token(h.OwnerToken()), 403, "permission_error"},
		{token(atRest), 401, "invalid_token"},
		{token(ended), 403, "grant_revoked"},
		{token(spent), 405, "method_not_allowed"},
		{func(r *raw) { r.method = "POST" }, 429, "rate_limit_exceeded"},
		{token(h.fresh("mcp")), 415, "unsupported_media_type"},
		{func(r *raw) {
			set("Content-Type", "application/json; charset=utf-8")(r)
			token(h.fresh("mcp"))(r)
		}, 406, "not_acceptable"},
		{func(r *raw) {
			set("Accept", "text/event-stream, application/json;q=0.5")(r)
			token(h.fresh("mcp"))(r)
		}, 413, "resource_limit"},
	}
	r := raw{
		method: "PATCH", host: "evil.example", body: strings.Repeat("[", 1<<20+1), header: http.Header{
			"Origin": {"https://evil.example"}, "Pdpp-Version": {"1999-01-01"}, "Authorization": {"Bearer a", "Bearer b"},
			"Content-Type": {"text/plain"}, "Accept": {"text/event-stream"}, "Mcp-Protocol-Version": {"1999-01-01"},
		},
	}
	for _, s := range steps {
		s.mend(&r)
		a := h.raw(r)
		expect(t, a, s.status, s.code)
		wants(t, a, map[string]any{"error.request_id": a.Header.Get("Request-Id")})
	}
	// Step 9 answers with JSON-RPC errors, and looks at the body before the version.
	framing := []struct {
		body         string
		status, code int
	}{
		{strings.Repeat("[", 1<<20), 400, -32700},
		{`{"id":1,"method":"tools/list"}`, 400, -32600},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, 400, -32022},
	}
	for _, f := range framing {
		r.body = f.body
		token(h.fresh("mcp"))(&r)
		expectRPC(t, h.raw(r), f.status, f.code)
	}
	set("Mcp-Protocol-Version", handshake)(&r)
	token(h.fresh("mcp"))(&r)
	if a := h.raw(r).OK(); a.At("result.tools") == nil {
		t.Errorf("the mended request: %s", a.Body)
	}
}

// The limit of the whole server comes before everything else.
func TestOverload(t *testing.T) {
	h := newHouse(t)
	hold, arrived := make(chan struct{}), make(chan struct{}, 256)
	h.spy.watched(func(*http.Request) {
		arrived <- struct{}{}
		<-hold
	})
	var open sync.WaitGroup
	for range 256 {
		open.Go(func() {
			if a := h.send(h.client, callOf(modern, "query_records", `{"stream":"entries"}`)); a.Status != 200 {
				t.Errorf("an open request ended with %d %s", a.Status, a.Body)
			}
		})
	}
	for range 256 {
		<-arrived
	}
	a := h.raw(raw{method: "POST", host: "evil.example", header: http.Header{"Origin": {"null"}}})
	expect(t, a, 503, "overloaded")
	if a.Header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After %q", a.Header.Get("Retry-After"))
	}
	h.spy.watched(nil)
	close(hold)
	open.Wait()
	h.send(h.client, callOf(modern, "query_records", `{"stream":"entries"}`)).OK()
}

// always checks what every answer of the endpoint carries (H-63, H-64).
func (h *house) always(t testing.TB, what string, a resttest.Answer) {
	t.Helper()
	for name, want := range map[string]string{
		"Link": "<" + h.URL + `/icon.svg>; rel="icon"; type="image/svg+xml"`, "Cache-Control": "no-store", "PDPP-Version": "2026-04-06",
	} {
		if got := a.Header.Get(name); got != want {
			t.Errorf("%s: %s is %q, want %q", what, name, got, want)
		}
	}
	if a.Header.Get("Request-Id") == "" || a.Header.Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("%s: headers %v", what, a.Header)
	}
}

func TestMethods(t *testing.T) {
	h := newHouse(t)
	for _, method := range []string{"POST", "GET", "HEAD", "DELETE", "PUT", "PATCH", "TRACE", "BREW"} {
		a := h.Do(method, "", "/mcp", "")
		h.always(t, "anonymous "+method, a)
		if a.Status != 401 || a.Header.Get("WWW-Authenticate") == "" {
			t.Errorf("anonymous %s: %d", method, a.Status)
		}
		for _, token := range []string{h.client, h.pkg} {
			a = h.Do(method, token, "/mcp", "{}", "Content-Type: application/json", "Accept: text/event-stream, application/json")
			h.always(t, method, a)
			switch {
			case method == "POST":
				expectRPC(t, a, 400, -32600)
			case a.Status != 405 || a.Header.Get("Allow") != "POST, OPTIONS":
				t.Errorf("%s: %d, Allow %q", method, a.Status, a.Header.Get("Allow"))
			}
		}
	}
	for _, path := range []string{"/mcp/", "/mcp//", "/MCP", "/mcp/x", "//mcp", "/mcp%2f"} {
		for _, method := range []string{"POST", "GET", "OPTIONS"} {
			if a := h.Do(method, h.client, path, "{}"); a.Status != 404 && (method != "OPTIONS" || a.Status != 204) {
				t.Errorf("%s %s: %d %s", method, path, a.Status, a.Body)
			}
		}
	}
	// The path is what counts, and a query says nothing: a token in it is none.
	expect(t, h.Do("POST", "", "/mcp?access_token="+h.client, "{}"), 401, "authentication_error")
	expect(t, h.post("", `{"access_token":"`+h.client+`"}`), 401, "authentication_error")
}

// What the endpoint always answers is in every kind of answer.
func TestEveryAnswer(t *testing.T) {
	h := newHouse(t)
	call := callOf(modern, "query_records", `{"stream":"entries"}`)
	for what, a := range map[string]resttest.Answer{
		"result":       h.send(h.client, call),
		"tool error":   h.send(h.client, callOf(modern, "query_records", `{}`)),
		"rpc error":    h.post(h.client, "{"),
		"notification": h.post(h.client, `{"jsonrpc":"2.0","method":"notifications/initialized"}`),
		"bad bearer":   h.post("x", "{}"),
		"owner":        h.post(h.OwnerToken(), "{}"),
		"media":        h.Do("POST", h.client, "/mcp", "{}", "Content-Type: text/plain"),
		"version":      h.post(h.client, "{}", "PDPP-Version: 1"),
		"origin":       h.post(h.client, "{}", "Origin: null"),
		"preflight":    h.Do("OPTIONS", "", "/mcp", "", "Origin: http://localhost:1"),
		"options":      h.Do("OPTIONS", "", "/mcp", ""),
	} {
		h.always(t, what, a)
		if isJSON := strings.HasPrefix(a.Header.Get("Content-Type"), "application/json"); isJSON != (len(a.Body) > 0) {
			t.Errorf("%s: %d bytes of %q", what, len(a.Body), a.Header.Get("Content-Type"))
		}
	}
}

func TestRequestIDs(t *testing.T) {
	h := newHouse(t)
	const id = "Request-Id: my-own.id:7"
	a := h.send(h.client, callOf(modern, "query_records", `{"stream":"nothing"}`), id)
	if a.Header.Get("Request-Id") != "my-own.id:7" || a.At("result.structuredContent.error.request_id") != "my-own.id:7" {
		t.Errorf("the id was not kept: %v %s", a.Header, a.Body)
	}
	for _, r := range h.spy.take() {
		if r.requestID != "my-own.id:7" {
			t.Errorf("a read has the id %q", r.requestID)
		}
	}
	a = h.send(h.pkg, callOf(modern, "query_records", `{"stream":"entries"}`), id)
	wants(t, a, map[string]any{"result.structuredContent.error.code": "ambiguous_connection", "result.structuredContent.error.request_id": "my-own.id:7"})
	for _, bad := range []string{strings.Repeat("x", 129), "a b", "é"} {
		if got := h.post(h.client, "{", "Request-Id: "+bad).Header.Get("Request-Id"); !strings.HasPrefix(got, "req_") || len(got) != 36 {
			t.Errorf("Request-Id %q was answered with %q", bad, got)
		}
	}
}

func TestBearerForms(t *testing.T) {
	h := newHouse(t)
	long := strings.Repeat("a", 513)
	for _, c := range []struct {
		values []string
		status int
		code   string
	}{
		{[]string{"Bearer " + h.client}, 200, ""}, {[]string{"bEARER " + h.client}, 200, ""}, {[]string{"Bearer   " + h.client}, 200, ""},
		{nil, 401, "authentication_error"}, {[]string{""}, 401, "authentication_error"}, {[]string{"Bearer"}, 401, "authentication_error"},
		{[]string{"Bearer "}, 401, "authentication_error"}, {[]string{"Basic " + h.client}, 401, "authentication_error"}, {[]string{h.client}, 401, "authentication_error"},
		{[]string{"Bearer " + h.client + " " + h.client}, 401, "invalid_token"}, {[]string{"Bearer " + h.client + "," + h.client}, 401, "invalid_token"},
		{[]string{"Bearer " + h.client + "x"}, 401, "invalid_token"}, {[]string{"Bearer " + long}, 401, "invalid_token"}, {[]string{`Bearer "` + h.client + `"`}, 401, "invalid_token"},
		{[]string{"Bearer " + strings.ToUpper(h.client)}, 401, "invalid_token"}, {[]string{"Bearer é"}, 401, "invalid_token"},
		{[]string{"Bearer " + h.client, "Bearer " + h.client}, 400, "invalid_request"},
	} {
		body := rpc{era: handshake, method: "ping"}.body()
		a := h.raw(raw{method: "POST", body: body, header: http.Header{"Authorization": c.values, "Content-Type": {"application/json"}}})
		if a.Status != c.status || a.Status != 200 && a.Code() != c.code {
			t.Errorf("Authorization %.60q: %d %s, want %d %s", c.values, a.Status, a.Body, c.status, c.code)
		}
	}
}

// What stands behind a token decides, not its prefix, and it is read for each request.
func TestTokenStates(t *testing.T) {
	h := newHouse(t)
	ask := func(token string) resttest.Answer { return h.send(token, callOf(modern, "search", `{"q":"rent"}`)) }
	mint := func(tok store.Token) string {
		tok.Audience = append(tok.Audience, "mcp")
		return h.Token(tok)
	}
	short := mint(store.Token{Kind: pdpp.TokenClient, Client: h.clientOf(h.grant), Grant: h.grant, ExpiresAt: h.Now().Add(time.Hour)}) // in a grant that goes on
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
	expect(t, ask(broken), 403, "grant_invalid")
	expect(t, ask(mint(store.Token{Kind: pdpp.TokenOwner})), 403, "permission_error") // with the prefix of a client's

	h.Revoke(withdrawnID)
	a := ask(withdrawn)
	expect(t, a, 403, "grant_revoked")
	if got := a.Header.Get("WWW-Authenticate"); !strings.Contains(got, `error="insufficient_scope"`) || !strings.Contains(got, "error_description=") {
		t.Errorf("the challenge of a 403: %s", got)
	}
	h.Advance(time.Hour)
	expect(t, ask(short), 401, "invalid_token")
	ask(h.client).OK() // the grant of short lives on
	ask(ending).OK()
	if a := ask(endingPkg).OK(); strings.Contains(string(a.Body), `"connection_id":"cin_b2","connector_key":"ledgerly","stream"`) {
		t.Errorf("an expired member answered: %s", a.Body)
	}
	h.Advance(time.Hour)
	expect(t, ask(ending), 403, "grant_expired")
	expect(t, ask(endingPkg), 403, "grant_expired")
	h.Revoke(endingID) // revoked counts more than expired
	expect(t, ask(ending), 403, "grant_revoked")

	for i, id := range h.grants {
		ask(h.pkg).OK()
		h.Revoke(id)
		if i == len(h.grants)-1 {
			expect(t, ask(h.pkg), 403, "grant_revoked")
		}
	}
	h.Advance(31 * 24 * time.Hour)
	expect(t, ask(withdrawn), 401, "invalid_token") // now the token has ended, too

	pkg, id, grants := h.Package(memberSpecs...)
	ask(pkg).OK()
	h.Update(func(tx store.Tx) error {
		_, _, _, err := tx.RevokePackage(h.Subject, id, h.Now())
		return err
	})
	expect(t, ask(pkg), 403, "grant_revoked")
	expect(t, ask(h.tokenOf(grants[0], "mcp")), 403, "grant_revoked")
}

// brokenGrant is a token of a grant whose document nobody can interpret.
func (h *house) brokenGrant() string {
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

// A member that cannot be interpreted is unusable by itself; the others answer.
func TestBrokenMember(t *testing.T) {
	h := newHouse(t)
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
	expect(t, h.send(token, callOf(modern, "schema", `{}`)), 403, "grant_invalid")
}

func TestOrigins(t *testing.T) {
	h := newHouse(t)
	ping := rpc{era: handshake, method: "ping"}
	for _, origin := range []string{h.URL, "http://localhost", "http://localhost:5173", "https://127.0.0.1:1", "http://[::1]:9"} {
		a := h.send(h.client, ping, "Origin: "+origin).OK()
		if a.Header.Get("Access-Control-Allow-Origin") != origin || !strings.Contains(a.Header.Get("Vary"), "Origin") ||
			!strings.Contains(a.Header.Get("Access-Control-Expose-Headers"), "WWW-Authenticate") {
			t.Errorf("%s: %v", origin, a.Header)
		}
		a = h.post("wrong", "{}", "Origin: "+origin)
		if a.Status != 401 || a.Header.Get("Access-Control-Allow-Origin") != origin || a.Header.Get("Access-Control-Expose-Headers") == "" {
			t.Errorf("%s, refused: %d %v", origin, a.Status, a.Header)
		}
		a = h.Do("OPTIONS", "", "/mcp", "", "Origin: "+origin, "Access-Control-Request-Method: POST")
		for name, want := range map[string]string{
			"Access-Control-Allow-Origin": origin, "Access-Control-Allow-Methods": "POST, OPTIONS", "Access-Control-Max-Age": "600",
			"Access-Control-Allow-Headers": "Authorization, Content-Type, Accept, Prefer, Range, If-Range, If-None-Match, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Last-Event-ID, Request-Id, PDPP-Version",
		} {
			if a.Status != 204 || a.Header.Get(name) != want {
				t.Errorf("preflight of %s: %d, %s %q", origin, a.Status, name, a.Header.Get(name))
			}
		}
	}
	for _, origin := range []string{"null", "https://evil.example", "http://localhost.evil.example", "http://127.0.0.1.evil.example", "file://", "http://127.0.0.2", "https://data.example", ""} {
		for _, method := range []string{"POST", "GET", "OPTIONS"} {
			a := h.raw(raw{method: method, body: ping.body(), header: http.Header{"Origin": {origin}, "Authorization": {"Bearer " + h.client}, "Content-Type": {"application/json"}}})
			expect(t, a, 403, "origin_not_allowed")
			for name := range a.Header {
				if strings.HasPrefix(name, "Access-Control") || name == "Www-Authenticate" {
					t.Errorf("%s from %q: %s: %v", method, origin, name, a.Header[name])
				}
			}
		}
	}
	if a := h.send(h.client, ping).OK(); a.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("without an origin: %v", a.Header)
	}
}

func TestMediaTypes(t *testing.T) {
	h := newHouse(t)
	body := rpc{era: handshake, method: "ping"}.body()
	try := func(contentType, accept []string) resttest.Answer {
		return h.raw(raw{method: "POST", body: body, header: http.Header{"Authorization": {"Bearer " + h.client}, "Content-Type": contentType, "Accept": accept}})
	}
	jsonType := []string{"application/json"}
	for _, good := range []string{"application/json", "application/json; charset=utf-8", "Application/JSON", "application/json;charset=UTF-8;x=y"} {
		try([]string{good}, nil).OK()
	}
	for _, bad := range [][]string{nil, {""}, {"text/plain"}, {"application/jsonx"}, {"application/json, text/plain"}, {"application/x-www-form-urlencoded"}, {"application/json", "application/json"}, {"application/*"}} {
		expect(t, try(bad, nil), 415, "unsupported_media_type")
	}
	for _, good := range [][]string{
		nil, {""}, {"*/*"}, {"application/*"}, {"application/json"}, {"application/json, text/event-stream"}, {"text/event-stream, application/json"},
		{"text/event-stream", "application/json"}, {"text/html,*/*;q=0.1"}, {"APPLICATION/JSON"}, {"application/json;q=0.001"},
	} {
		try(jsonType, good).OK()
	}
	for _, bad := range [][]string{{"text/event-stream"}, {"text/html"}, {"application/json;q=0"}, {"application/xml"}, {"*/*;q=0"}, {"application/json; q=0.000, text/event-stream"}} {
		expect(t, try(jsonType, bad), 406, "not_acceptable")
	}
}

func TestRateLimits(t *testing.T) {
	h := newHouse(t)
	h.open(func(c *rs.Config) { c.Rate = 600 }, nil)
	ping := rpc{era: handshake, method: "ping"}
	for i := range 60 {
		if a := h.send(h.client, ping); a.Status != 200 {
			t.Fatalf("request %d: %d", i, a.Status)
		}
	}
	a := h.send(h.client, ping)
	expect(t, a, 429, "rate_limit_exceeded")
	h.always(t, "429", a)
	if a.Header.Get("Retry-After") != "1" || a.Header.Get("WWW-Authenticate") != "" {
		t.Errorf("headers %v", a.Header)
	}
	h.send(h.pkg, ping).OK() // another token
	h.Advance(time.Second)
	for range 10 {
		h.send(h.client, ping).OK()
	}
	expect(t, h.send(h.client, ping), 429, "rate_limit_exceeded")
	// The reads of a tool do not count by themselves.
	h.Advance(100 * time.Millisecond)
	if a := h.send(h.client, callOf(modern, "search", `{"q":"rent"}`)).OK(); a.At("result.isError") != nil {
		t.Errorf("the tool failed: %s", a.Body)
	}
	h.Advance(time.Minute)

	hold, arrived := make(chan struct{}), make(chan struct{}, 16)
	h.spy.watched(func(*http.Request) {
		arrived <- struct{}{}
		<-hold
	})
	var open sync.WaitGroup
	for range 8 {
		open.Go(func() { h.send(h.client, callOf(modern, "query_records", `{"stream":"entries"}`)).OK() })
	}
	for range 8 {
		<-arrived
	}
	a = h.send(h.client, ping)
	expect(t, a, 429, "rate_limit_exceeded")
	h.send(h.pkg, ping).OK()
	close(hold)
	open.Wait()
	h.send(h.client, ping).OK()
}

// Bad tokens of one address are slowed down; good ones from there are served.
func TestFailedBearers(t *testing.T) {
	h := newHouse(t)
	ping := rpc{era: handshake, method: "ping"}
	for i := range 60 {
		expect(t, h.send(fmt.Sprint("guess", i), ping), 401, "invalid_token")
	}
	a := h.send("guess", ping)
	expect(t, a, 429, "rate_limit_exceeded")
	h.always(t, "429", a)
	if a.Header.Get("Retry-After") != "60" {
		t.Errorf("Retry-After %q", a.Header.Get("Retry-After"))
	}
	h.send(h.client, ping).OK()
	expect(t, h.post("", "{}"), 401, "authentication_error")
	expect(t, h.Get("guess", "/v1/streams"), 429, "rate_limit_exceeded") // it is one throttle
	h.Advance(time.Minute)
	expect(t, h.send("guess", ping), 401, "invalid_token")
}

// No token, no body and no word of a record is in the log.
func TestLogIsDiscreet(t *testing.T) {
	h := newHouse(t)
	for _, token := range []string{h.client, h.pkg, h.OwnerToken(), "pdpp_at_guessed", ""} {
		for _, era := range eras {
			h.send(token, callOf(era, "search", `{"q":"rent of month"}`))
			h.send(token, callOf(era, "fetch", `{"id":"cin_a1/entries:cin_a1_3"}`))
			h.send(token, callOf(era, "query_records", `{"stream":"entries","filter":{"memo":"peppercorn"}}`))
		}
		h.post(token, `{"peppercorn":`)
	}
	log := h.Log.String()
	if !strings.Contains(log, "tool call") || !strings.Contains(log, "/mcp") {
		t.Fatalf("the log is not of this test: %.500s", log)
	}
	for _, secret := range []string{h.client, h.pkg, "pdpp_at_guessed", "rent", "month", "cin_a1_3", "peppercorn", outside} {
		if strings.Contains(log, secret) {
			t.Errorf("%q is in the log", secret)
		}
	}
}
