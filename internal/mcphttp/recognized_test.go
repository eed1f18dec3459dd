package mcphttp_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pdpp/internal/mcpserve"
	"pdpp/internal/rs"
	"pdpp/internal/store"
)

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

// many are callers that may read one connection each.
func many(t *testing.T, n int) (h *house, tokens []string) {
	h = newHouse(t)
	h.open(func(c *rs.Config) { c.Rate = 0 }, nil)
	for i := range n {
		c := fmt.Sprintf("cin_many%d", i)
		h.Connect("ledgerly", c, "Account "+word(i))
		for k := range 12 {
			h.Ingest(c, "entries", fmt.Sprintf(`{"key":"%s_%d","data":{"id":"%s_%d","memo":"rent %s \u00e9 %d","note":"%s","amount_minor":%d,"posted_at":"2026-04-0%dT09:00:00Z"}}`,
				c, k, c, k, word(i), k, strings.Repeat(word(i)+" ", 10+k*(i+1)*20), k, k%9+1))
		}
		token, _ := h.Grant(fmt.Sprintf(`{"source":{"connector_key":"ledgerly"},"streams":[{"name":"entries","connections":["%s"]}]}`, c))
		tokens = append(tokens, token)
	}
	return h, tokens
}

func word(i int) string { return strings.Repeat(string(rune('A'+i)), 7) + "wort" }

func callsOf(i int) []rpc {
	c := fmt.Sprintf("cin_many%d", i)
	return []rpc{
		callOf(handshake, "search", `{"q":"rent"}`),
		callOf(handshake, "query_records", `{"stream":"entries"}`),
		callOf(handshake, "query_records", `{"stream":"entries","limit":3,"fields":["memo"]}`),
		callOf(handshake, "fetch", fmt.Sprintf(`{"id":"%s/entries:%s_3"}`, c, c)),
		callOf(handshake, "fetch", fmt.Sprintf(`{"id":"%s/entries:nothing"}`, c)),
		callOf(handshake, "read_record_field", fmt.Sprintf(`{"id":"%s/entries:%s_11","field_path":"note","limit_chars":700}`, c, c)),
		callOf(handshake, "aggregate", `{"stream":"entries","metric":"count"}`),
		callOf(handshake, "schema", `{}`),
		{era: handshake, method: "tools/list"},
		{era: handshake, method: "resources/read", params: `"uri":"pdpp://record/x"`},
	}
}

// Answers of many callers at once are what each gets alone, over both versions of HTTP,
// while some hang up in the middle.
func TestManyCallers(t *testing.T) {
	const n = 6
	for _, version := range []string{"HTTP/1.1", "HTTP/2"} {
		for _, spied := range []bool{true, false} {
			t.Run(fmt.Sprint(version, " spied ", spied), func(t *testing.T) {
				h, tokens := many(t, n)
				srv := httptest.NewUnstartedServer(h.handler(func(c *rs.Config) { c.Rate = 0 }, func(c *configuration) {
					if !spied {
						c.Around = nil
					}
				}))
				srv.EnableHTTP2 = version == "HTTP/2"
				srv.StartTLS()
				defer srv.Close()
				client := srv.Client()
				ask := func(ctx context.Context, token string, c rpc, part bool) (string, error) {
					req, err := http.NewRequestWithContext(ctx, "POST", srv.URL+"/mcp", strings.NewReader(c.body()))
					if err != nil {
						return "", err
					}
					for _, line := range c.headers() {
						name, value, _ := strings.Cut(line, ": ")
						req.Header.Set(name, value)
					}
					req.Header.Set("Authorization", "Bearer "+token)
					req.Header.Set("Request-Id", "same")
					res, err := client.Do(req)
					if err != nil {
						return "", err
					}
					defer res.Body.Close()
					if part {
						var some [600]byte
						_, err := io.ReadFull(res.Body, some[:])
						return string(some[:]), err
					}
					b, err := io.ReadAll(res.Body)
					return fmt.Sprint(res.StatusCode, " ", string(b)), err
				}
				alone := make([][]string, n)
				for i := range n {
					for _, c := range callsOf(i) {
						a, err := ask(t.Context(), tokens[i], c, false)
						if err != nil {
							t.Fatal(err)
						}
						for k := range n {
							if k != i && strings.Contains(a, word(k)) {
								t.Fatalf("caller %d sees %d: %.300s", i, k, a)
							}
						}
						alone[i] = append(alone[i], a)
					}
				}
				if !strings.Contains(alone[0][1], word(0)) || !strings.HasPrefix(alone[0][1], "200") {
					t.Fatalf("alone: %.300s", alone[0][1])
				}
				end := time.Now().Add(2 * time.Second)
				var wg sync.WaitGroup
				var asked, differ atomic.Int64
				for i := range n {
					for g := range 3 {
						wg.Go(func() {
							for k := g; time.Now().Before(end); k++ {
								list := callsOf(i)
								at := k % len(list)
								if k%7 == 3 {
									ctx, cancel := context.WithTimeout(t.Context(), time.Duration(k%40)*100*time.Microsecond)
									_, _ = ask(ctx, tokens[i], list[at], true)
									cancel()
									continue
								}
								got, err := ask(t.Context(), tokens[i], list[at], false)
								asked.Add(1)
								if err != nil || got != alone[i][at] {
									if differ.Add(1) < 4 {
										t.Errorf("caller %d, call %d: %v\n%.400s\nwant\n%.400s", i, at, err, got, alone[i][at])
									}
								}
							}
						})
					}
				}
				wg.Wait()
				t.Logf("%d answers, %d differ", asked.Load(), differ.Load())
			})
		}
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
					if after && a.Status != 403 {
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
