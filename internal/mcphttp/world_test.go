package mcphttp_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"pdpp"
	"pdpp/internal/auth"
	"pdpp/internal/mcphttp"
	"pdpp/internal/mcptest"
	"pdpp/internal/rs/resttest"
	"pdpp/internal/server"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// eras are one revision without a handshake and one with it.
var eras = []string{modern, handshake}

const (
	modern    = "2026-07-28"
	handshake = "2025-11-25"
	batches   = "2025-03-26"
)

// fixture is a real server with the endpoint: two accounts and one mailbox, which a
// package may read in part, and an account outside of the package.
type fixture struct {
	*resttest.World
	spy spy

	pkg       string // the token of the package
	packageID pdpp.PackageID
	grants    []pdpp.GrantID // of cin_a1, cin_b2, cin_m3
	client    string         // a token of one grant: that of cin_a1
	grant     pdpp.GrantID
}

// outside is a word in all data that no grant of the fixture covers.
const outside = resttest.Outside

var memberSpecs = []string{
	`{"source":{"connector_key":"ledgerly"},"streams":[{"name":"entries","connections":["cin_a1"],"fields":["id","memo","posted_at"]},{"name":"receipts","connections":["cin_a1"]}]}`,
	`{"source":{"connector_key":"ledgerly"},"streams":[{"name":"entries","connections":["cin_b2"]}]}`,
	`{"source":{"connector_key":"post"},"streams":[{"name":"messages","connections":["cin_m3"],"fields":["id","subject","body","sent_at"]}]}`,
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	h := &fixture{World: resttest.House(t)}
	h.pkg, h.packageID, h.grants = h.Package(memberSpecs...)
	h.client, h.grant = h.Grant(memberSpecs[0])
	h.open(nil, nil)
	return h
}

type configuration = mcphttp.Config

// open serves the endpoint with changed settings.
func (h *fixture) open(edit func(*server.Config), endpoint func(*configuration)) {
	h.T.Helper()
	h.URL = newServer(h.T, h.handler(edit, endpoint)).URL
}

// handler returns a server like that of the world, with the endpoint.
func (h *fixture) handler(edit func(*server.Config), endpoint func(*configuration)) http.Handler {
	h.T.Helper()
	cfg := h.Server.Config
	cfg.MCP = func(s *server.Server) http.Handler {
		c := mcphttp.Config{
			Auth: s.Auth, Limiter: s.Limiter, Edge: s.Edge, Cursors: s.Cursors, Version: "1.2.3", Clock: h.Now,
			Transport: h.spy.around(mcphttp.InMemory(s.Inside())), Log: slog.New(slog.NewTextHandler(h.Log, nil)),
		}
		if endpoint != nil {
			endpoint(&c)
		}
		return mcphttp.New(c)
	}
	if edit != nil {
		edit(&cfg)
	}
	var err error
	if h.Server, err = server.New(cfg); err != nil {
		h.T.Fatal(err)
	}
	return h.Server.Handler()
}

// spy records the reads of tools at /v1.
type spy struct {
	mu    sync.Mutex
	list  []seen
	watch func(*http.Request) // called before each read, when not nil
}

// seen is one read: the request and its answer.
type seen struct{ method, target, prefer, authorization, requestID, body string }

// around returns transports that record and pass on.
func (s *spy) around(next func(*auth.Caller) http.RoundTripper) func(*auth.Caller) http.RoundTripper {
	return func(c *auth.Caller) http.RoundTripper { return s.record(next(c)) }
}

func (s *spy) record(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		s.mu.Lock()
		watch := s.watch
		s.mu.Unlock()
		if watch != nil {
			watch(r)
		}
		res, err := next.RoundTrip(r)
		one := seen{method: r.Method, target: r.URL.RequestURI(), prefer: r.Header.Get("Prefer"), authorization: r.Header.Get("Authorization")}
		if err == nil {
			one.requestID = res.Header.Get("Request-Id")
			one.body = string(res.Body.(interface{ Bytes() []byte }).Bytes())
		}
		s.mu.Lock()
		s.list = append(s.list, one)
		s.mu.Unlock()
		return res, err
	})
}

// take returns and clears the recorded reads, in the order of their targets.
func (s *spy) take() []seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.list
	s.list = nil
	slices.SortFunc(list, func(a, b seen) int { return strings.Compare(a.target, b.target) })
	return list
}

// targets returns and clears the targets of the recorded reads.
func (s *spy) targets() []string {
	list := []string{}
	for _, one := range s.take() {
		list = append(list, one.target)
	}
	return list
}

func (s *spy) watched(fn func(*http.Request)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watch = fn
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// rpc is a JSON-RPC request of a revision.
type rpc struct {
	era, method string
	params      string // members of params; "" for none
	id          string // "" for 1
}

func (c rpc) body() string {
	id, params := c.id, c.params
	if id == "" {
		id = "1"
	}
	if c.era == modern {
		meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + modern + `","io.modelcontextprotocol/clientCapabilities":{}}`
		params = strings.TrimSuffix(meta+","+params, ",")
	}
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + c.method + `","params":{` + params + `}}`
}

// headers returns the headers that the request needs.
func (c rpc) headers() []string {
	list := []string{"Content-Type: application/json", "MCP-Protocol-Version: " + c.era}
	if c.era != modern {
		return list
	}
	var p struct{ Name, URI string }
	_ = json.Unmarshal([]byte("{"+c.params+"}"), &p) // missing members have no header
	list = append(list, "Mcp-Method: "+c.method)
	if c.method == "tools/call" || c.method == "resources/read" {
		list = append(list, "Mcp-Name: "+p.Name+p.URI)
	}
	return list
}

// send sends a request with a token.
func (h *fixture) send(token string, c rpc, more ...string) resttest.Answer {
	h.T.Helper()
	return h.Do("POST", token, "/mcp", c.body(), append(c.headers(), more...)...)
}

// post sends any body, as JSON.
func (h *fixture) post(token, body string, headers ...string) resttest.Answer {
	h.T.Helper()
	return h.Do("POST", token, "/mcp", body, append(headers, "Content-Type: application/json")...)
}

// callOf returns a tool call.
func callOf(era, tool, args string) rpc {
	return rpc{era: era, method: "tools/call", params: fmt.Sprintf(`"name":%q,"arguments":%s`, tool, args)}
}

// connect opens a session of the official client.
func (h *fixture) connect(token, era string) *sdk.ClientSession {
	h.T.Helper()
	s := mcptest.HTTP(h.T, era, h.URL+"/mcp", token)
	h.spy.take()
	return s
}

// result is a tool result as the official client received it.
type result struct {
	failed bool
	text   string
	sc     resttest.Answer // structured output
	reads  []string        // of /v1
}

// call calls a tool.
func (h *fixture) call(s *sdk.ClientSession, tool, args string) result {
	h.T.Helper()
	res, err := s.CallTool(h.T.Context(), &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	if err != nil {
		h.T.Fatalf("%s %s: %v", tool, args, err)
	}
	raw, err := json.Marshal(res.StructuredContent)
	if err != nil {
		h.T.Fatal(err)
	}
	out := result{failed: res.IsError, sc: resttest.Answer{T: h.T, Body: raw}, reads: h.spy.targets()}
	for _, c := range res.Content {
		if c, ok := c.(*sdk.TextContent); ok {
			out.text += c.Text + "\n"
		}
	}
	return out
}

// do calls a tool that must succeed.
func (h *fixture) do(s *sdk.ClientSession, tool, args string) result {
	h.T.Helper()
	r := h.call(s, tool, args)
	if r.failed {
		h.T.Fatalf("%s %s: %s", tool, args, r.text)
	}
	return r
}

// refused calls a tool that must fail with a code.
func (h *fixture) refused(s *sdk.ClientSession, tool, args, code string) result {
	h.T.Helper()
	r := h.call(s, tool, args)
	if !r.failed || r.sc.Code() != code {
		h.T.Fatalf("%s %s: want the error %s, got %.600s", tool, args, code, r.text)
	}
	return r
}

// wants compares values of an answer, by path, as text.
func wants(t testing.TB, a resttest.Answer, values map[string]any) {
	t.Helper()
	for path, want := range values {
		if got := a.At(path); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s = %.300v, want %.300v in %.900s", path, got, want, a.Body)
		}
	}
}

// expect checks the status and the code of an error envelope.
func expect(t testing.TB, a resttest.Answer, status int, code string) {
	t.Helper()
	if a.Status != status || a.Code() != code {
		t.Errorf("answer %d %s, want %d %s: %.400s", a.Status, a.Code(), status, code, a.Body)
	}
}

// expectRPC checks the status and the code of a JSON-RPC error.
func expectRPC(t testing.TB, a resttest.Answer, status, code int) {
	t.Helper()
	if a.Status != status || fmt.Sprint(a.At("error.code")) != fmt.Sprint(code) || a.At("jsonrpc") != "2.0" {
		t.Errorf("answer %d, want %d with code %d: %.400s", a.Status, status, code, a.Body)
	}
}

func jsonText(s string) json.RawMessage { return json.RawMessage(s) }
