package mcphttp_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"pdpp"
	"pdpp/internal/rs/resttest"
	"pdpp/internal/server"
	"pdpp/internal/store"
)

// raw is a request to the endpoint in which everything can be wrong.
type raw struct {
	method, host, body string
	header             http.Header
}

func (h *fixture) raw(r raw) resttest.Answer {
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

// fresh returns a token of the client's grant that was never used.
func (h *fixture) fresh(audience ...string) string {
	h.T.Helper()
	return h.tokenOf(h.grant, audience...)
}

func (h *fixture) tokenOf(id pdpp.GrantID, audience ...string) string {
	h.T.Helper()
	return h.Token(store.Token{Kind: pdpp.TokenClient, Client: h.ClientOf(id), Grant: id, Audience: audience})
}

// The first failing step answers (H-41): a request with everything wrong is corrected
// step by step, and each time the next step answers.
func TestOrderOfChecks(t *testing.T) {
	h := newFixture(t)
	h.open(func(c *server.Config) { c.Rate = 1 }, nil) // one request for each token
	_, revoked := h.Grant(memberSpecs[0])
	atRest, ended, spent := h.tokenOf(revoked, "rest"), h.tokenOf(revoked, "mcp"), h.fresh("mcp")
	h.Revoke(revoked)
	h.post(spent, "{}")

	set := func(name, value string) func(*raw) {
		return func(r *raw) { r.header.Set(name, value) }
	}
	token := func(value string) func(*raw) { return set("Authorization", "Bearer "+value) }
	steps := []struct {
		correct func(*raw)
		status  int
		code    string
	}{
		{func(*raw) {}, 421, "misdirected_request"},
		{func(r *raw) { r.host = "" }, 403, "origin_not_allowed"},
		{set("Origin", "http://localhost:5173"), 400, "unsupported_version"},
		{func(r *raw) { r.header.Del("PDPP-Version") }, 400, "invalid_request"},
		{func(r *raw) { r.header.Del("Authorization") }, 401, "authentication_error"},
		{token("pdpp_at_unknown"), 401, "invalid_token"},
		{token(h.OwnerToken()), 403, "permission_error"},
		{token(atRest), 401, "invalid_token"},
		{token(ended), 401, "invalid_token"},
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
		s.correct(&r)
		a := h.raw(r)
		expect(t, a, s.status, s.code)
		wants(t, a, map[string]any{"error.request_id": a.Header.Get("Request-Id")})
	}
	// Step 9 answers with JSON-RPC errors, and checks the body before the version.
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
		t.Errorf("the corrected request: %s", a.Body)
	}
}

// The limit of the whole server is checked before everything else.
func TestOverload(t *testing.T) {
	h := newFixture(t)
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

// always checks the headers of every answer of the endpoint (H-63, H-64).
func (h *fixture) always(t testing.TB, what string, a resttest.Answer) {
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
	h := newFixture(t)
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
	// A token in the query string is ignored.
	expect(t, h.Do("POST", "", "/mcp?access_token="+h.client, "{}"), 401, "authentication_error")
	expect(t, h.post("", `{"access_token":"`+h.client+`"}`), 401, "authentication_error")
}

// Every kind of answer has the headers of the endpoint.
func TestEveryAnswer(t *testing.T) {
	h := newFixture(t)
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
	h := newFixture(t)
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
