package mcphttp_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pdpp"
	"pdpp/internal/mcpserve"
	"pdpp/internal/rs"
	"pdpp/internal/rs/resttest"
	"pdpp/internal/store"
)

// A token that was good a moment ago and is not any more is refused for that, whatever
// else is wrong with the request, and nothing is read with it: it was only recognized.
func TestRecognizedToken(t *testing.T) {
	ends := map[string]func(*house, pdpp.GrantID){
		"revoked": func(h *house, id pdpp.GrantID) { h.Revoke(id) },
		"expired": func(h *house, _ pdpp.GrantID) { h.Advance(2 * 365 * 24 * time.Hour) },
	}
	read := callOf(handshake, "query_records", `{"stream":"entries","connection_id":"cin_a1"}`)
	for what, request := range map[string]func(h *house, token string) resttest.Answer{
		"a read": func(h *house, token string) resttest.Answer { return h.send(token, read) },
		"a list": func(h *house, token string) resttest.Answer {
			return h.send(token, rpc{era: handshake, method: "tools/list"})
		},
		"a notification": func(h *house, token string) resttest.Answer {
			return h.post(token, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		},
		"bad arguments": func(h *house, token string) resttest.Answer {
			return h.send(token, callOf(handshake, "fetch", `{"id":7}`))
		},
		"an unknown method": func(h *house, token string) resttest.Answer {
			return h.send(token, rpc{era: handshake, method: "nothing"})
		},
		"no JSON": func(h *house, token string) resttest.Answer { return h.post(token, `{`) },
		"a batch": func(h *house, token string) resttest.Answer {
			return h.post(token, `[`+read.body()+`]`, "MCP-Protocol-Version: 2025-03-26")
		},
		"another media type": func(h *house, token string) resttest.Answer {
			return h.Do("POST", token, "/mcp", `{}`, "Content-Type: text/plain")
		},
		"another method": func(h *house, token string) resttest.Answer {
			return h.raw(raw{method: "GET", header: http.Header{"Authorization": {"Bearer " + token}}})
		},
	} {
		for how, end := range ends {
			h := newHouse(t)
			_, grant := h.Grant(memberSpecs[0])
			token := h.tokenOf(grant, "mcp")
			h.send(token, read).OK()
			h.send(token, read).OK() // recognized
			h.spy.take()
			end(h, grant)
			for range 2 {
				a := request(h, token)
				if a.Status != 401 || a.Header.Get("WWW-Authenticate") == "" || strings.Contains(string(a.Body), "result") {
					t.Errorf("%s with a token that has %s: %d %s", what, how, a.Status, a.Body)
				}
			}
			for _, one := range h.spy.take() {
				if strings.Contains(one.body, `"data"`) {
					t.Errorf("%s with a token that has %s read %s: %s", what, how, one.target, one.body)
				}
			}
		}
	}
}

// A refusal of a token that was good a moment ago is the one of a token that nobody
// recognizes: with the same headers, and no more in the log.
func TestRefusalOfRecognizedToken(t *testing.T) {
	ask := func(recognized bool, method, body string) (http.Header, string) {
		h := newHouse(t)
		_, grant := h.Grant(memberSpecs[0])
		token := h.tokenOf(grant, "mcp")
		if recognized {
			h.send(token, rpc{era: handshake, method: "ping"}).OK()
		}
		h.Update(func(tx store.Tx) error {
			list, err := tx.Tokens(h.Subject, grant)
			if err != nil {
				return err
			}
			for _, one := range list {
				if _, _, err = tx.RevokeToken(h.Subject, one.ID, h.Now()); err != nil {
					return err
				}
			}
			return nil
		})
		before := len(h.Log.String())
		a := h.raw(raw{method: method, body: body, header: http.Header{
			"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}, "Mcp-Protocol-Version": {batches},
		}})
		if a.Status != 401 {
			t.Errorf("answer %d %s", a.Status, a.Body)
		}
		return a.Header, h.Log.String()[before:]
	}
	read := callOf(batches, "query_records", `{"stream":"entries","connection_id":"cin_a1"}`).body()
	for what, c := range map[string]struct{ method, body string }{
		"another method": {"GET", ""}, "a read": {"POST", read}, "a batch": {"POST", "[" + read + "," + strings.Replace(read, `"id":1`, `"id":2`, 1) + "]"},
	} {
		t.Run(what, func(t *testing.T) {
			fresh, freshLog := ask(false, c.method, c.body)
			known, knownLog := ask(true, c.method, c.body)
			for name := range known {
				if _, ok := fresh[name]; !ok {
					t.Errorf("only the recognized one has the header %s: %s", name, known[name])
				}
			}
			t.Logf("log, not recognized:\n%s", freshLog)
			t.Logf("log, recognized:\n%s", knownLog)
			if strings.Contains(knownLog, "tool") {
				t.Error("the log tells of a call of a refused token")
			}
		})
	}
}

// As many requests of a token as are allowed at once are at work, whoever answers them
// (H-67).
func TestAtOnceOfOtherSurfaces(t *testing.T) {
	h := newHouse(t)
	release := make(chan struct{})
	var at atomic.Int32
	h.open(func(c *rs.Config) { c.Rate = 600 }, func(c *configuration) {
		c.Instead = func(*mcpserve.Message) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				at.Add(1)
				<-release
				w.WriteHeader(200)
			})
		}
	})
	var wg sync.WaitGroup
	var refused atomic.Int32
	for range 12 {
		wg.Go(func() {
			if a := h.send(h.client, rpc{era: handshake, method: "ping"}); a.Status == 429 {
				refused.Add(1)
			}
		})
	}
	time.Sleep(2 * time.Second)
	close(release)
	wg.Wait()
	if at.Load() > 8 || refused.Load() == 0 {
		t.Errorf("%d requests were at work at once, %d refused; 8 are allowed", at.Load(), refused.Load())
	}
}

// A request that begins after a grant was revoked is refused, while many others go on
// and the store is written to.
func TestRevokedMeanwhile(t *testing.T) {
	h, tokens := many(t, 2)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for _, token := range tokens {
		for range 2 {
			wg.Go(func() {
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
	}
	end := time.Now().Add(3 * time.Second)
	rounds := 0
	for ; time.Now().Before(end); rounds++ {
		token, grant := h.Grant(memberSpecs[0])
		var revoked atomic.Bool
		var late sync.WaitGroup
		for k := range 4 {
			late.Go(func() {
				for range 6 {
					after := revoked.Load()
					c := callOf(handshake, "query_records", `{"stream":"entries","connection_id":"cin_a1"}`)
					if k == 3 {
						c = rpc{era: handshake, method: "tools/list"}
					}
					a := h.send(token, c)
					if after && a.Status != 401 {
						t.Errorf("after the end: %d %.200s", a.Status, a.Body)
					}
				}
			})
		}
		time.Sleep(time.Duration(rounds%8) * time.Millisecond)
		h.Revoke(grant)
		revoked.Store(true)
		late.Wait()
	}
	close(stop)
	wg.Wait()
	t.Logf("%d rounds", rounds)
}

// Whatever waits for the store in a request waits no longer than a request may take
// (H-66), and not for a client that has gone.
func TestConfirmationEnds(t *testing.T) {
	for _, recognized := range []bool{false, true} {
		for what, c := range map[string]rpc{
			"a list": {era: handshake, method: "tools/list"}, "a read": callOf(handshake, "query_records", `{"stream":"entries","connection_id":"cin_a1"}`),
		} {
			t.Run(fmt.Sprint(what, ", recognized ", recognized), func(t *testing.T) {
				h := newHouse(t)
				f := h.onFaulty()
				if recognized {
					h.send(h.client, c).OK()
				}
				var mu sync.Mutex
				f.set(func(ctx context.Context, where string) error {
					mu.Lock()
					defer mu.Unlock()
					if _, ends := ctx.Deadline(); where == "view" && !ends {
						t.Errorf("a view without a time limit; it can end before: %v", ctx.Done() != nil)
					}
					return nil
				})
				h.send(h.client, c).OK()
				if c.method == "tools/call" { // its only read fails: the confirmation is a view of its own
					h.spy.watched(func(r *http.Request) { panic("x") })
					h.send(h.client, c)
				}
			})
		}
	}
}
