package mcphttp_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pdpp/internal/rs/resttest"
	"pdpp/internal/server"
)

func TestOrigins(t *testing.T) {
	h := newFixture(t)
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
	h := newFixture(t)
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
		nil,
		{""},
		{"*/*"},
		{"application/*"},
		{"application/json"},
		{"application/json, text/event-stream"},
		{"text/event-stream, application/json"},
		{"text/event-stream", "application/json"},
		{"text/html,*/*;q=0.1"},
		{"APPLICATION/JSON"},
		{"application/json;q=0.001"},
	} {
		try(jsonType, good).OK()
	}
	for _, bad := range [][]string{{"text/event-stream"}, {"text/html"}, {"application/json;q=0"}, {"application/xml"}, {"*/*;q=0"}, {"application/json; q=0.000, text/event-stream"}, {"application/json;q=0, */*"}} {
		expect(t, try(jsonType, bad), 406, "not_acceptable")
	}
}

func TestRateLimits(t *testing.T) {
	h := newFixture(t)
	h.open(func(c *server.Config) { c.Rate = 600 }, nil)
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
	// Each message of a batch counts.
	h.Advance(time.Second)
	pings := strings.TrimSuffix(strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"ping"},`, 10), ",")
	h.post(h.client, "["+pings+"]").OK()
	expect(t, h.post(h.client, "["+pings+"]"), 429, "rate_limit_exceeded")
	// The reads of a tool are not counted.
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

// The body of a throttled call says what happened and when to try again, for clients that
// show it. The official Go client shows the name of the status for any body, and its
// session continues afterwards (H-42).
func TestThrottledCall(t *testing.T) {
	h := newFixture(t)
	h.open(func(c *server.Config) { c.Rate = 6 }, nil)
	s := h.connect(h.client, modern)
	var err error
	for i := 0; i < 6 && err == nil; i++ {
		_, err = s.CallTool(t.Context(), &sdk.CallToolParams{Name: "schema"})
	}
	if err == nil || !strings.Contains(err.Error(), "Too Many Requests") {
		t.Errorf("the Go client says %v", err)
	}
	a := h.send(h.client, callOf(modern, "schema", `{}`))
	expect(t, a, 429, "rate_limit_exceeded")
	wants(t, a, map[string]any{"error.message": "This token made too many requests. Try again in 10 seconds.", "error.retry_after_s": 10})
	h.Advance(10 * time.Second)
	h.do(s, "schema", `{}`)
}

// Invalid tokens from one address are throttled; valid tokens from there are served.
func TestFailedBearers(t *testing.T) {
	h := newFixture(t)
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
	expect(t, h.Get("guess", "/v1/streams"), 429, "rate_limit_exceeded") // /v1 and /mcp share the throttle
	h.Advance(time.Minute)
	expect(t, h.send("guess", ping), 401, "invalid_token")
}

// The log contains no token, no body and no text of a record.
func TestLogIsDiscreet(t *testing.T) {
	h := newFixture(t)
	for _, token := range []string{h.client, h.pkg, h.OwnerToken(), "pdpp_at_guessed", ""} {
		for _, era := range eras {
			h.send(token, callOf(era, "search", `{"q":"rent of month"}`))
			h.send(token, callOf(era, "fetch", `{"id":"cin_a1/entries:cin_a1_3"}`))
			h.send(token, callOf(era, "query_records", `{"stream":"entries","filter":{"memo":"peppercorn"}}`))
		}
		h.post(token, `{"peppercorn":`)
	}
	log := h.Log.String()
	if !regexp.MustCompile(`route"?[=:]"?/mcp"?.*request_id"?[=:]"?req_.*tool"?[=:]"?search`).MatchString(log) || !strings.Contains(log, "/mcp") {
		t.Fatalf("the log is not of this test: %.500s", log)
	}
	for _, secret := range []string{h.client, h.pkg, "pdpp_at_guessed", "rent", "month", "cin_a1_3", "peppercorn", outside} {
		if strings.Contains(log, secret) {
			t.Errorf("%q is in the log", secret)
		}
	}
}
