package pkgreader_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pdpp"
	"pdpp/internal/mcp"
	"pdpp/internal/pkgreader"
	"pdpp/internal/query"
	"pdpp/internal/rs/resttest"
	"pdpp/internal/rsclient"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// house is a real server with a package of grants for three of its connections. The
// fourth, cin_x9, is outside of the package.
type house struct {
	*resttest.World
	pkg   *pkgreader.Package
	calls calls
}

func newHouse(t testing.TB) *house {
	t.Helper()
	h := &house{World: resttest.House(t)}
	h.pkg = newPackage(t, h.World.Now)
	h.pkg.URL = h.URL
	h.join("cin_a1", "ledgerly", "Joint account", "entries", "receipts")
	h.join("cin_b2", "ledgerly", "", "entries")
	h.join("cin_m3", "post", "Work mail", "messages")
	return h
}

func newPackage(t testing.TB, clock func() time.Time) *pkgreader.Package {
	t.Helper()
	sealer, err := query.NewSealer([]byte(strings.Repeat("k", 32)))
	if err != nil {
		t.Fatal(err)
	}
	return &pkgreader.Package{ID: "gpkg_1", Sealer: sealer, Memory: new(pkgreader.Memory), Clock: clock}
}

// join makes a grant for some streams of a connection a member of the package.
func (h *house) join(connection, connector, label string, streams ...string) {
	h.T.Helper()
	var entries []string
	for _, s := range streams {
		entries = append(entries, fmt.Sprintf(`{"name":%q,"connections":[%q]}`, s, strings.ToLower(connection)))
	}
	h.joinGrant(connection, connector, label, strings.Join(entries, ","), streams...)
}

// joinGrant makes a grant of some entries a member of the package.
func (h *house) joinGrant(connection, connector, label, entries string, streams ...string) {
	h.T.Helper()
	token, id := h.Grant(fmt.Sprintf(`{"source":{"connector_key":%q},"streams":[%s],"access_mode":"continuous"}`, connector, entries))
	h.pkg.Members = append(h.pkg.Members, pkgreader.Member{
		GrantID: string(id), Connection: connection, ConnectorKey: connector, DisplayName: label, Streams: streams,
		Reader: h.calls.client(h.T, connection, h.URL, token, http.DefaultTransport),
	})
}

func (h *house) revoke(connection string) {
	h.T.Helper()
	h.Revoke(pdpp.GrantID(h.member(connection).GrantID))
}

func (h *house) member(connection string) *pkgreader.Member { return memberOf(h.pkg, connection) }

func memberOf(p *pkgreader.Package, connection string) *pkgreader.Member {
	return &p.Members[slices.IndexFunc(p.Members, func(m pkgreader.Member) bool { return m.Connection == connection })]
}

// calls are the requests that members got.
type calls struct {
	mu   sync.Mutex
	list []string
}

// take gives the calls since the last time, as connection and target, sorted.
func (c *calls) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.list
	c.list = nil
	slices.Sort(list)
	return list
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (c *calls) client(t testing.TB, connection, provider, token string, base http.RoundTripper) *rsclient.Client {
	t.Helper()
	client, err := rsclient.New(rsclient.Config{
		Provider: provider, Version: "test",
		Token: func(context.Context) (string, error) { return token, nil },
		Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			c.mu.Lock()
			c.list = append(c.list, connection+" "+r.URL.RequestURI())
			c.mu.Unlock()
			return base.RoundTrip(r)
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// served returns a transport that passes requests to a handler, without a network.
func served(h http.HandlerFunc) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		h(w, r)
		return w.Result(), nil
	})
}

func answer(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	io.WriteString(w, body)
}

// scripted adds members cin_1, cin_2 … with servers that give prepared answers.
func scripted(t testing.TB, c *calls, handlers ...http.HandlerFunc) *pkgreader.Package {
	t.Helper()
	p := newPackage(t, func() time.Time { return resttest.Start })
	p.URL = "http://provider.test"
	for i, h := range handlers {
		id := fmt.Sprint("cin_", i+1)
		p.Members = append(p.Members, pkgreader.Member{
			GrantID: fmt.Sprint("grt_", i+1), Connection: id, ConnectorKey: "mail", Streams: []string{"messages"},
			Reader: c.client(t, id, p.URL, "token-of-"+id, served(h)),
		})
	}
	return p
}

// says gives one answer to everything.
func says(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { answer(w, status, body) }
}

func params(pairs ...string) rsclient.Query {
	var q rsclient.Query
	for i := 0; i < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	return q
}

// at decodes a value by a dotted path; nil when it is not there.
func at(t testing.TB, body []byte, path string) any {
	t.Helper()
	return resttest.Answer{T: t, Body: body}.At(path)
}

func tool(p *pkgreader.Package, name, args string) *mcp.Result {
	s := &mcp.Surface{RS: p, Log: slog.New(slog.DiscardHandler)}
	return s.Call(context.Background(), mcp.Tools().Lookup(name), []byte(args))
}

// ids returns the handles of the results of a search.
func ids(t testing.TB, res *mcp.Result) []string {
	t.Helper()
	var sc struct{ Results []struct{ ID string } }
	if err := json.Unmarshal(res.Structured, &sc); err != nil {
		t.Fatal(err)
	}
	list := []string{}
	for _, r := range sc.Results {
		list = append(list, r.ID)
	}
	return list
}

func failure(t testing.TB, err error) *rsclient.Error {
	t.Helper()
	e, ok := err.(*rsclient.Error)
	if !ok {
		t.Fatalf("err = %v, want an *rsclient.Error", err)
	}
	return e
}
