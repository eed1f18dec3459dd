package mcphttp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pdpp"
	"pdpp/internal/httpx"
	"pdpp/internal/server"
	"pdpp/internal/store"
)

// faulty is a store that fails or blocks at chosen steps.
type faulty struct {
	store.Store
	mu    sync.Mutex
	fault func(ctx context.Context, where string) error
}

var errDisk = errors.New("disk I/O error: /secret/place")

// at is called before a step of a read.
func (f *faulty) at(ctx context.Context, where string) error {
	f.mu.Lock()
	fault := f.fault
	f.mu.Unlock()
	if fault == nil {
		return nil
	}
	return fault(ctx, where)
}

func (f *faulty) set(fault func(ctx context.Context, where string) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault = fault
}

// failAt makes one step fail.
func (f *faulty) failAt(step string) {
	f.set(func(_ context.Context, where string) error {
		if where == step {
			return errDisk
		}
		return nil
	})
}

func (f *faulty) View(ctx context.Context, fn func(store.View) error) error {
	if err := f.at(ctx, "view"); err != nil {
		return err
	}
	return f.Store.View(ctx, func(v store.View) error { return fn(&faultyView{v, f, ctx}) })
}

type faultyView struct {
	store.View
	store *faulty
	ctx   context.Context
}

func (v *faultyView) Token(h store.TokenHash) (store.Principal, error) {
	if err := v.store.at(v.ctx, "token"); err != nil {
		return store.Principal{}, err
	}
	return v.View.Token(h)
}

func (v *faultyView) Members(s pdpp.SubjectID, id pdpp.PackageID) ([]store.Member, error) {
	if err := v.store.at(v.ctx, "members"); err != nil {
		return nil, err
	}
	return v.View.Members(s, id)
}

func (v *faultyView) Grant(s pdpp.SubjectID, id pdpp.GrantID) (store.Grant, error) {
	if err := v.store.at(v.ctx, "grant"); err != nil {
		return store.Grant{}, err
	}
	return v.View.Grant(s, id)
}

func (v *faultyView) Catalog(s pdpp.SubjectID) (*pdpp.Catalog, error) {
	if err := v.store.at(v.ctx, "catalog"); err != nil {
		return nil, err
	}
	return v.View.Catalog(s)
}

// onFaulty serves the fixture again on a store that can fail, with empty caches.
func (h *fixture) onFaulty() *faulty {
	h.T.Helper()
	f := &faulty{Store: h.Store}
	h.open(func(c *server.Config) { c.Store = f }, nil)
	return f
}

// A store that fails says nothing about a token: it is neither valid nor invalid (H-44).
func TestFailingStore(t *testing.T) {
	h := newFixture(t)
	_, revoked := h.Grant(memberSpecs[0])
	gone := h.tokenOf(revoked, "mcp")
	h.Revoke(revoked)
	call := callOf(modern, "query_records", `{"stream":"entries","connection_id":"cin_a1"}`)
	for _, c := range []struct {
		step   string
		tokens []string
	}{
		{"view", []string{h.client, h.pkg, "unknown", gone, h.OwnerToken()}},
		{"token", []string{h.client, h.pkg, "unknown", gone, h.OwnerToken()}},
		{"members", []string{h.pkg}},
		{"grant", []string{h.client, h.pkg}},
		{"catalog", []string{h.client, h.pkg}},
	} {
		for _, token := range c.tokens {
			before := h.send(token, rpc{era: handshake, method: "nothing"}).Status
			f := h.onFaulty()
			f.failAt(c.step)
			a := h.send(token, call)
			expect(t, a, 503, "temporarily_unavailable")
			h.always(t, c.step, a)
			if a.Header.Get("Retry-After") != "1" || a.Header.Get("WWW-Authenticate") != "" || strings.Contains(string(a.Body), "secret") {
				t.Errorf("%s: %v %s", c.step, a.Header, a.Body)
			}
			f.set(nil)
			if after := h.send(token, rpc{era: handshake, method: "nothing"}).Status; after != before {
				t.Errorf("%s: %d before the fault, %d after it", c.step, before, after)
			}
		}
	}
	if reads := h.spy.targets(); len(reads) != 0 {
		t.Errorf("while rights were unknown it read %q", reads)
	}
}

// A store that fails during a tool call makes the tool fail, and nothing else: the token
// stays valid, and no member counts as lost (H-94).
func TestFailingReads(t *testing.T) {
	h := newFixture(t)
	f := h.onFaulty()
	for _, token := range []string{h.client, h.pkg} {
		for _, step := range []string{"view", "token", "grant"} {
			h.send(token, callOf(modern, "schema", `{}`)).OK() // caches the reach
			h.spy.watched(func(*http.Request) { f.failAt(step) })
			a := h.send(token, callOf(modern, "query_records", `{"stream":"entries","connection_id":"cin_a1"}`))
			switch {
			case step == "grant" && token == h.client: // its reach is cached
				wants(t, a.OK(), map[string]any{"result.isError": nil})
			default:
				wants(t, a.OK(), map[string]any{"result.isError": true, "result.structuredContent.http_status": 503, "result.structuredContent.error.code": "temporarily_unavailable"})
			}
			if strings.Contains(string(a.Body), "secret") {
				t.Errorf("the cause is told: %s", a.Body)
			}
			f.set(nil)
			h.spy.watched(nil)
			a = h.send(token, callOf(modern, "search", `{"q":"rent"}`)).OK()
			if a.At("result.isError") != nil || strings.Contains(string(a.Body), "unavailable_connections") || strings.Contains(string(a.Body), "source_unavailable") {
				t.Errorf("after %s failed: %s", step, a.Body)
			}
		}
	}
}

// A panic during a tool call is an error of that call. The error does not show its cause,
// and the server continues.
func TestPanics(t *testing.T) {
	h := newFixture(t)
	for _, token := range []string{h.client, h.pkg} {
		for _, c := range []rpc{callOf(modern, "search", `{"q":"rent"}`), callOf(modern, "query_records", `{"stream":"entries","connection_id":"cin_a1"}`)} {
			h.spy.watched(func(*http.Request) { panic("out of " + outside) })
			a := h.send(token, c).OK()
			wants(t, a, map[string]any{"result.isError": true, "result.structuredContent.error.code": "internal_error"})
			if strings.Contains(string(a.Body), outside) || strings.Contains(string(a.Body), "goroutine") {
				t.Errorf("%s", a.Body)
			}
			h.spy.watched(nil)
			wants(t, h.send(token, c).OK(), map[string]any{"result.isError": nil})
		}
	}
}

// A client that disconnects cancels its reads, those of all members of a package too.
func TestDisconnect(t *testing.T) {
	h := newFixture(t)
	search := callOf(modern, "search", `{"q":"rent"}`)
	for name, token := range map[string]string{"client": h.client, "package": h.pkg} {
		members := map[string]int{"client": 1, "package": 3}[name]
		t.Run(name+", at /v1", func(t *testing.T) {
			began, ended := make(chan struct{}, 9), make(chan error, 9)
			h.spy.watched(func(r *http.Request) {
				began <- struct{}{}
				ended <- waited(r.Context())
			})
			defer h.spy.watched(nil)
			h.leave(t, token, search, began, members)
			h.stopped(t, ended, members)
		})
		t.Run(name+", in the store", func(t *testing.T) {
			f := h.onFaulty()
			began, ended := make(chan struct{}, 9), make(chan error, 9)
			h.spy.watched(func(*http.Request) { // after authentication
				f.set(func(ctx context.Context, where string) error {
					if where == "view" {
						began <- struct{}{}
						err := waited(ctx)
						ended <- err
						return err
					}
					return nil
				})
			})
			defer h.spy.watched(nil)
			h.leave(t, token, search, began, members)
			h.stopped(t, ended, members)
			f.set(nil)
			h.spy.watched(nil)
			wants(t, h.send(token, search).OK(), map[string]any{"result.isError": nil})
		})
	}
}

// waited waits for the end of a context. Without a cancellation its deadline ends it.
func waited(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// leave sends a request, and disconnects when it has begun.
func (h *fixture) leave(t *testing.T, token string, c rpc, began chan struct{}, times int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "POST", h.URL+"/mcp", strings.NewReader(c.body()))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range append(c.headers(), "Authorization: Bearer "+token) {
		name, value, _ := strings.Cut(line, ": ")
		req.Header.Set(name, value)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if res, err := http.DefaultClient.Do(req); err == nil {
			res.Body.Close()
			t.Errorf("there was an answer: %d", res.StatusCode)
		}
	}()
	for range times {
		<-began
	}
	cancel()
	<-done
}

func (h *fixture) stopped(t *testing.T, ended chan error, times int) {
	t.Helper()
	for range times {
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("a read ended with %v", err)
		}
	}
}

// Clients that send their headers slowly are disconnected, and do not delay others.
func TestSlowHeaders(t *testing.T) {
	h := newFixture(t)
	handler := h.handler(nil, nil)
	srv := httptest.NewUnstartedServer(handler)
	srv.Config = httpx.NewServer(handler)
	srv.Config.ReadHeaderTimeout = 2 * time.Second // 10 s would make the test long
	srv.Start()
	t.Cleanup(srv.Close)
	h.URL = srv.URL
	var slow sync.WaitGroup
	for range 300 { // more than the limit of requests at once
		conn := h.dial(t)
		slow.Go(func() {
			for _, drop := range []string{"POST /mcp HT", "TP/1.1\r\nHo", "st: " + h.host() + "\r\nX: ", "y"} {
				if _, err := io.WriteString(conn, drop); err != nil {
					break
				}
			}
			if status, body := response(conn); status != 0 && status != 408 {
				t.Errorf("a request without an end was answered: %d %s", status, body)
			}
		})
	}
	h.send(h.client, callOf(modern, "search", `{"q":"rent"}`)).OK()
	slow.Wait()
	h.send(h.client, callOf(modern, "search", `{"q":"rent"}`)).OK()
}

// Clients that begin a body and do not continue are disconnected. A request that is refused for
// another reason is answered without waiting for its body.
func TestSlowBodies(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for the deadline of a body")
	}
	t.Parallel()
	h := newFixture(t)
	head := func(token string, length int) string {
		return "POST /mcp HTTP/1.1\r\nHost: " + h.host() + "\r\nAuthorization: Bearer " + token + "\r\nContent-Type: application/json\r\nContent-Length: " + fmt.Sprint(length) + "\r\n\r\n"
	}
	ask := func(text string, want int) {
		conn := h.dial(t)
		_ = conn.SetDeadline(time.Time{}) // the server ends it
		_, _ = io.WriteString(conn, text)
		if status, body := response(conn); status != want {
			t.Errorf("slow body of %.300q: %d %s, want %d", text, status, body, want)
		}
	}
	var slow sync.WaitGroup
	var ended atomic.Int32
	for _, text := range []string{head(h.client, 100) + `{"jsonrpc":`, head(h.client, 1<<20) + "{"} {
		slow.Go(func() {
			ask(text, 400)
			ended.Add(1)
		})
	}
	ask(head("wrong", 100)+"{", 401)
	ask(head(h.client, 1<<20+1)+"{", 413)
	h.send(h.client, callOf(modern, "search", `{"q":"rent"}`)).OK()
	if ended.Load() != 0 {
		t.Error("a refused request was answered only after the deadline of a body")
	}
	slow.Wait()
}

// A client that closes its half of the connection before its request is complete gets no
// data. One that closes it afterwards gets a complete answer or none.
func TestHalfClosed(t *testing.T) {
	h := newFixture(t)
	c := callOf(modern, "query_records", `{"stream":"entries"}`)
	head := "POST /mcp HTTP/1.1\r\nHost: " + h.host() + "\r\nAuthorization: Bearer " + h.client + "\r\n" + strings.Join(c.headers(), "\r\n") +
		fmt.Sprintf("\r\nContent-Length: %d\r\n\r\n", len(c.body()))
	for _, sent := range []string{"", "POST", head, head + c.body()[:20]} {
		conn := h.dial(t)
		if _, err := io.WriteString(conn, sent); err != nil {
			t.Fatal(err)
		}
		if err := conn.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if status, body := response(conn); status == 200 || strings.Contains(body, "rent") {
			t.Errorf("after %q: %d %s", sent, status, body)
		}
	}
	if reads := h.spy.targets(); len(reads) != 0 {
		t.Errorf("half a request read %q", reads)
	}
	for range 20 {
		conn := h.dial(t)
		if _, err := io.WriteString(conn, head+c.body()); err != nil {
			t.Fatal(err)
		}
		if err := conn.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if status, body := response(conn); status == 200 && !strings.HasSuffix(body, "}") || status != 200 && strings.Contains(body, "rent of month") {
			t.Errorf("%d %s", status, body)
		}
	}
}

// No call leaves a goroutine running.
func TestNothingIsLeftRunning(t *testing.T) {
	h := newFixture(t)
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	before := goleak.IgnoreCurrent()
	for _, token := range []string{h.client, h.pkg} {
		for _, era := range eras {
			for _, c := range []rpc{
				callOf(era, "schema", `{}`), callOf(era, "search", `{"q":"rent"}`), callOf(era, "query_records", `{"stream":"entries"}`), callOf(era, "nothing", `{}`),
				{era: era, method: "nothing"},
				{era: era, method: "resources/read", params: `"uri":"pdpp://record/x"`},
			} {
				h.send(token, c)
			}
		}
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	if err := goleak.Find(before); err != nil {
		t.Error(err)
	}
}
