package mcphttp_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pdpp"
	"pdpp/internal/rs/resttest"
	"pdpp/internal/server"
)

// A token that was valid in the request before and whose grant has ended is refused for
// that, whatever else is wrong with the request, and nothing is read with it.
func TestEndedToken(t *testing.T) {
	ends := map[string]func(*fixture, pdpp.GrantID){
		"revoked": func(h *fixture, id pdpp.GrantID) { h.Revoke(id) },
		"expired": func(h *fixture, _ pdpp.GrantID) { h.Advance(2 * 365 * 24 * time.Hour) },
	}
	read := callOf(handshake, "query_records", `{"stream":"entries","connection_id":"cin_a1"}`)
	for what, request := range map[string]func(h *fixture, token string) resttest.Answer{
		"a read": func(h *fixture, token string) resttest.Answer { return h.send(token, read) },
		"a list": func(h *fixture, token string) resttest.Answer {
			return h.send(token, rpc{era: handshake, method: "tools/list"})
		},
		"a notification": func(h *fixture, token string) resttest.Answer {
			return h.post(token, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		},
		"bad arguments": func(h *fixture, token string) resttest.Answer {
			return h.send(token, callOf(handshake, "fetch", `{"id":7}`))
		},
		"an unknown method": func(h *fixture, token string) resttest.Answer {
			return h.send(token, rpc{era: handshake, method: "nothing"})
		},
		"no JSON": func(h *fixture, token string) resttest.Answer { return h.post(token, `{`) },
		"a batch": func(h *fixture, token string) resttest.Answer {
			return h.post(token, `[`+read.body()+`,`+strings.Replace(read.body(), `"id":1`, `"id":2`, 1)+`]`, "MCP-Protocol-Version: 2025-03-26")
		},
		"another media type": func(h *fixture, token string) resttest.Answer {
			return h.Do("POST", token, "/mcp", `{}`, "Content-Type: text/plain")
		},
		"another method": func(h *fixture, token string) resttest.Answer {
			return h.raw(raw{method: "GET", header: http.Header{"Authorization": {"Bearer " + token}}})
		},
	} {
		for how, end := range ends {
			h := newFixture(t)
			_, grant := h.Grant(memberSpecs[0])
			token := h.tokenOf(grant, "mcp")
			h.send(token, read).OK()
			h.spy.take()
			end(h, grant)
			before := len(h.Log.String())
			for range 2 {
				a := request(h, token)
				if a.Status != 401 || a.Header.Get("WWW-Authenticate") == "" || a.Header.Get("Allow") != "" || strings.Contains(string(a.Body), "result") {
					t.Errorf("%s with a token that has %s: %d %v %s", what, how, a.Status, a.Header, a.Body)
				}
			}
			if reads := h.spy.targets(); len(reads) != 0 {
				t.Errorf("%s with a token that has %s read %q", what, how, reads)
			}
			if log := h.Log.String()[before:]; strings.Contains(log, "tool") {
				t.Errorf("%s with a token that has %s: the log mentions a tool: %s", what, how, log)
			}
		}
	}
}

// A grant that is revoked after its token was authenticated reads nothing: every read
// checks the grant again in its own snapshot.
func TestRevokedBeforeRead(t *testing.T) {
	for _, tool := range []rpc{
		callOf(handshake, "query_records", `{"stream":"entries","connection_id":"cin_a1"}`),
		callOf(handshake, "search", `{"q":"rent"}`),
		callOf(handshake, "schema", `{}`),
	} {
		h := newFixture(t)
		token, grant := h.Grant(memberSpecs[0])
		var once sync.Once
		h.spy.watched(func(*http.Request) { once.Do(func() { h.Revoke(grant) }) })
		a := h.send(token, tool).OK()
		wants(t, a, map[string]any{"result.isError": true, "result.structuredContent.error.code": "grant_revoked"})
		for _, read := range h.spy.take() {
			if strings.Contains(read.body, `"data"`) {
				t.Errorf("%s after the grant was revoked: %s", read.target, read.body)
			}
		}
	}
}

// The limit of requests at once counts a request until its answer is complete (H-67).
func TestAtOnce(t *testing.T) {
	h := newFixture(t)
	h.open(func(c *server.Config) { c.Rate = 600 }, nil)
	release, events := make(chan struct{}), make(chan struct{}, 12)
	var running, refused atomic.Int32
	h.spy.watched(func(*http.Request) {
		running.Add(1)
		events <- struct{}{}
		<-release
	})
	var wg sync.WaitGroup
	for range 12 {
		wg.Go(func() {
			if a := h.send(h.client, callOf(handshake, "query_records", `{"stream":"entries","connection_id":"cin_a1"}`)); a.Status == 429 {
				refused.Add(1)
				events <- struct{}{}
			}
		})
	}
	for range 12 {
		<-events
	}
	close(release)
	wg.Wait()
	if running.Load() != 8 || refused.Load() != 4 {
		t.Errorf("%d requests ran at once, %d were refused; 8 are allowed", running.Load(), refused.Load())
	}
}

// A request that begins after a grant was revoked is refused, while other requests of the
// grant are under way and the store is written to.
func TestRevokedMeanwhile(t *testing.T) {
	h, tokens := many(t, 2)
	stop := make(chan struct{})
	var others sync.WaitGroup
	for _, token := range tokens {
		others.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					h.send(token, callOf(handshake, "query_records", `{"stream":"entries"}`))
				}
			}
		})
	}
	for round := range 24 {
		revokeAmong(t, h, round)
	}
	close(stop)
	others.Wait()
}

// revokeAmong revokes a grant after some of the 24 requests with its token.
func revokeAmong(t *testing.T, h *fixture, after int) {
	token, grant := h.Grant(memberSpecs[0])
	var revoked atomic.Bool
	answered := make(chan struct{}, 24)
	var late sync.WaitGroup
	for k := range 4 {
		late.Go(func() {
			c := callOf(handshake, "query_records", `{"stream":"entries","connection_id":"cin_a1"}`)
			if k == 3 {
				c = rpc{era: handshake, method: "tools/list"}
			}
			for range 6 {
				isLate := revoked.Load()
				a := h.send(token, c)
				if isLate && a.Status != 401 {
					t.Errorf("after the grant was revoked: %d %.200s", a.Status, a.Body)
				}
				answered <- struct{}{}
			}
		})
	}
	for range after {
		<-answered
	}
	h.Revoke(grant)
	revoked.Store(true)
	late.Wait()
}

// Every snapshot of a request has a deadline (H-66).
func TestSnapshotsHaveDeadlines(t *testing.T) {
	for what, c := range map[string]rpc{
		"a list": {era: handshake, method: "tools/list"}, "a read": callOf(handshake, "query_records", `{"stream":"entries","connection_id":"cin_a1"}`),
	} {
		h := newFixture(t)
		f := h.onFaulty()
		var views atomic.Int32
		f.set(func(ctx context.Context, where string) error {
			if _, ok := ctx.Deadline(); where == "view" && !ok {
				t.Errorf("%s: a snapshot without a deadline", what)
			}
			views.Add(1)
			return nil
		})
		h.send(h.client, c).OK()
		if views.Load() == 0 {
			t.Errorf("%s: the request was answered without a snapshot", what)
		}
	}
}
