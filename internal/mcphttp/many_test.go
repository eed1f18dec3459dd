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

	"pdpp/internal/mcphttp"
	"pdpp/internal/server"
)

// many returns clients that may read one connection each.
func many(t *testing.T, n int) (h *fixture, tokens []string) {
	h = newFixture(t)
	h.open(func(c *server.Config) { c.Rate = 0 }, nil)
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

// Many clients at once get the same answers as each of them alone, over both versions of
// HTTP, while some disconnect.
func TestManyCallers(t *testing.T) {
	const n = 6
	for _, version := range []string{"HTTP/1.1", "HTTP/2"} {
		for _, spied := range []bool{true, false} {
			t.Run(fmt.Sprint(version, " spied ", spied), func(t *testing.T) {
				h, tokens := many(t, n)
				srv := httptest.NewUnstartedServer(h.handler(func(c *server.Config) { c.Rate = 0 }, func(c *configuration) {
					if !spied {
						c.Transport = mcphttp.InMemory(h.Server.Inside())
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
								t.Fatalf("client %d sees %d: %.300s", i, k, a)
							}
						}
						alone[i] = append(alone[i], a)
					}
				}
				if !strings.Contains(alone[0][1], word(0)) || !strings.HasPrefix(alone[0][1], "200") {
					t.Fatalf("alone: %.300s", alone[0][1])
				}
				var wg sync.WaitGroup
				var asked, differ atomic.Int64
				for i := range n {
					for g := range 3 {
						wg.Go(func() {
							for k := g; k < g+80; k++ {
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
										t.Errorf("client %d, call %d: %v\n%.400s\nwant\n%.400s", i, at, err, got, alone[i][at])
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
