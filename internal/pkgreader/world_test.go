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
	"pdpp/internal/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const mailManifest = `{"protocol_version":"0.1.0","declaration_version":"2026-02-01","source":{"kind":"connector","id":"mail"},"display":{"name":"Mail"},
 "streams":[{"name":"messages","semantics":"append_only","primary_key":["id"],"cursor_field":"sent_at","consent_time_field":"sent_at",
  "selection":{"fields":true,"resources":false},
  "schema":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"subject":{"type":"string","x_pdpp_role":"primary-title"},
   "body":{"type":"string"},"sent_at":{"type":"string","format":"date-time"}}},
  "query":{"search":{"lexical_fields":["subject","body"]},"aggregations":{"count":true}}}]}`

// house is a real server with sources of two kinds, and a package of grants for
// three of its connections. A fourth connection is outside of the package.
type house struct {
	*resttest.World
	pkg   *pkgreader.Package
	calls calls
}

const outside = "Zebrafink" // a word of the source outside

func newHouse(t testing.TB) *house {
	t.Helper()
	h := &house{World: resttest.New(t)}
	h.ManifestFile("../manifest/testdata/ledgerly.json")
	h.Manifest(mailManifest)
	h.Connect("ledgerly", "cin_a1", "Joint account")
	h.Connect("ledgerly", "cin_b2", "")
	h.Connect("mail", "cin_m3", "Work mail")
	h.Connect("ledgerly", "cin_x9", "Secret account")
	for _, c := range []string{"cin_a1", "cin_b2", "cin_x9"} {
		for i := range 7 {
			word := ""
			if c == "cin_x9" {
				word = outside
			}
			h.Ingest(c, "entries", fmt.Sprintf(`{"key":"%s_%d","data":{"id":"%s_%d","memo":"rent %s%s","amount_minor":%d,"posted_at":"2026-04-0%dT09:00:00Z"}}`,
				c, i, c, i, strings.Repeat("and more ", i), word, i, i+1))
		}
	}
	h.Ingest("cin_a1", "receipts", `{"key":"rc_1","data":{"id":"rc_1","entry_id":"cin_a1_1"}}`)
	for i := range 3 {
		h.Ingest("cin_m3", "messages", fmt.Sprintf(`{"key":"m%d","data":{"id":"m%d","subject":"The rent","body":"due %d","sent_at":"2026-04-0%dT09:00:00Z"}}`, i, i, i, i+1))
	}
	h.pkg = newPackage(t, h.World.Now)
	h.pkg.URL = h.URL
	h.join("cin_a1", "ledgerly", "Joint account", "entries", "receipts")
	h.join("cin_b2", "ledgerly", "", "entries")
	h.join("cin_m3", "mail", "Work mail", "messages")
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
	h.Update(func(tx store.Tx) error {
		_, _, err := tx.RevokeGrant(h.Subject, pdpp.GrantID(h.member(connection).GrantID), h.Now())
		return err
	})
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
