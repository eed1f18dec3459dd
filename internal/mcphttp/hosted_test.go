package mcphttp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pdpp/internal/auth"
	"pdpp/internal/httpx"
	"pdpp/internal/mcp"
	"pdpp/internal/mcphttp"
	"pdpp/internal/mcpserve"
	"pdpp/internal/store"
)

// newServer serves a handler like `pdpp serve` does, on a free port.
func newServer(t testing.TB, handler http.Handler) *httptest.Server {
	t.Helper()
	srv := httptest.NewUnstartedServer(handler)
	srv.Config = httpx.NewServer(handler)
	srv.Start()
	t.Cleanup(srv.Close)
	return srv
}

func TestHosted(t *testing.T) {
	h := newFixture(t)
	for _, token := range []string{h.client, h.pkg} {
		for _, era := range eras {
			t.Run("HOSTED-1 the endpoint answers a scoped bearer, "+era, func(t *testing.T) {
				a := h.send(token, rpc{
					era: handshake, method: "initialize",
					params: `"protocolVersion":"` + handshake + `","capabilities":{},"clientInfo":{"name":"t","version":"1"}`,
				}).OK()
				wants(t, a, map[string]any{"result.protocolVersion": handshake, "result.serverInfo.name": "pdpp", "result.serverInfo.version": "1.2.3"})
				s := h.connect(token, era)
				if got := s.InitializeResult().ProtocolVersion; got != era {
					t.Errorf("revision %s, want %s", got, era)
				}
				if id := s.ID(); id != "" {
					t.Errorf("a session %q was begun", id)
				}
				list, err := s.ListTools(t.Context(), nil)
				if err != nil || len(list.Tools) != 6 {
					t.Fatalf("tools: %v, %v", list, err)
				}
				h.do(s, "search", `{"q":"rent"}`)
			})
		}
	}
	t.Run("HOSTED-1 a lone call needs no handshake", func(t *testing.T) {
		for _, era := range []string{modern, handshake, "2025-06-18", batches} {
			a := h.send(h.client, callOf(era, "query_records", `{"stream":"entries"}`), "Mcp-Session-Id: nobody", "Last-Event-ID: 7").OK()
			if a.At("result.isError") != nil || a.Header.Get("Mcp-Session-Id") != "" {
				t.Errorf("%s: %s", era, a.Body)
			}
		}
	})
	t.Run("HOSTED-3 without a bearer the answer says where to get one", func(t *testing.T) {
		a := h.post("", `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		expect(t, a, 401, "authentication_error")
		metadata, _ := a.At("error.resource_metadata").(string)
		h.isMetadata(t, metadata)
	})
	t.Run("HOSTED-4 an owner is not served", func(t *testing.T) {
		h.spy.take()
		a := h.send(h.OwnerToken(), callOf(modern, "search", `{"q":"rent"}`))
		expect(t, a, 403, "permission_error")
		if text := string(a.Body); !strings.Contains(text, "grant-scoped client or MCP package token") || !strings.Contains(text, "Connect again without this token") {
			t.Errorf("the refusal does not say what is needed: %s", text)
		}
		if got := a.Header.Get("WWW-Authenticate"); !strings.Contains(got, `error="insufficient_scope"`) {
			t.Errorf("challenge %q", got)
		}
		if reads := h.spy.take(); len(reads) != 0 {
			t.Errorf("it read %v", reads)
		}
	})
	t.Run("ICON-1 initialize and discover show the icon", func(t *testing.T) {
		icon := map[string]string{"src": h.URL + "/icon.svg", "mimeType": "image/svg+xml", "sizes.0": "any"}
		old := h.send(h.client, rpc{era: handshake, method: "initialize", params: `"protocolVersion":"` + handshake + `"`})
		for member, want := range icon {
			wants(t, old, map[string]any{"result.serverInfo.icons.0." + member: want})
		}
		for _, c := range []rpc{{era: modern, method: "server/discover"}, {era: modern, method: "tools/list"}} {
			text := string(h.send(h.client, c).OK().Body)
			if !strings.Contains(text, `"_meta":{"io.modelcontextprotocol/serverInfo":{`) || !strings.Contains(text, `"icons":[{"src":"`+icon["src"]+`"`) {
				t.Errorf("%s does not show the icon: %.300s", c.method, text)
			}
		}
		s := h.connect(h.client, handshake)
		if icons := s.InitializeResult().ServerInfo.Icons; len(icons) != 1 || icons[0].Source != icon["src"] || icons[0].MIMEType != icon["mimeType"] || !slices.Equal(icons[0].Sizes, []string{"any"}) {
			t.Errorf("icons %+v", icons)
		}
		a := h.Get("", "/icon.svg").OK()
		if a.Header.Get("Content-Type") != "image/svg+xml" || a.Header.Get("X-Content-Type-Options") != "nosniff" ||
			a.Header.Get("Cache-Control") != "public, max-age=86400" || a.Header.Get("Content-Security-Policy") != "default-src 'none'; style-src 'unsafe-inline'" {
			t.Errorf("headers of the icon: %v", a.Header)
		}
	})
	t.Run("ICON-2 the challenge links the icon", func(t *testing.T) {
		for _, token := range []string{"", "wrong"} {
			a := h.post(token, "{}")
			if got, want := a.Header.Get("Link"), "<"+h.URL+`/icon.svg>; rel="icon"; type="image/svg+xml"`; a.Status != 401 || got != want {
				t.Errorf("Link %q, want %q", got, want)
			}
		}
	})
	t.Run("CHAL-1 header and body of a 401 agree", func(t *testing.T) {
		metadata := h.URL + "/.well-known/oauth-protected-resource/mcp"
		rest := `resource_metadata="` + metadata + `", scope="pdpp:read"`
		a := h.post("", "{}")
		expect(t, a, 401, "authentication_error")
		if got := a.Header.Get("WWW-Authenticate"); got != "Bearer "+rest {
			t.Errorf("challenge without a bearer: %s", got)
		}
		wants(t, a, map[string]any{"error.resource_metadata": metadata, "error.type": "authentication_error"})
		expired := h.Token(store.Token{Kind: "client", Client: h.ClientOf(h.grant), Grant: h.grant, Audience: []string{"mcp"}, ExpiresAt: h.Now()})
		for _, token := range []string{"wrong", expired} {
			a = h.post(token, "{}")
			expect(t, a, 401, "invalid_token")
			wants(t, a, map[string]any{"error.resource_metadata": metadata, "error.type": "authentication_error"})
			if got := a.Header.Get("WWW-Authenticate"); !strings.HasPrefix(got, `Bearer error="invalid_token", error_description="`) || !strings.HasSuffix(got, ", "+rest) {
				t.Errorf("challenge of a bad bearer: %s", got)
			}
			if next, _ := a.At("error.next_step").(string); next == "" {
				t.Errorf("there is no next step: %s", a.Body)
			}
		}
	})
	t.Run("CHAL-2 the document of the endpoint is beside that of the root", func(t *testing.T) {
		h.isMetadata(t, h.URL+"/.well-known/oauth-protected-resource/mcp")
		root := h.Get("", "/.well-known/oauth-protected-resource").OK()
		wants(t, root, map[string]any{"resource": h.URL})
	})
}

// isMetadata checks that a URL is the metadata document of the endpoint.
func (h *fixture) isMetadata(t testing.TB, url string) {
	t.Helper()
	path, ok := strings.CutPrefix(url, h.URL)
	if !ok {
		t.Fatalf("metadata is at %q", url)
	}
	a := h.Get("", path).OK()
	wants(t, a, map[string]any{"resource": h.URL + "/mcp"})
	for _, kind := range []string{"client", "mcp_package"} {
		if !strings.Contains(string(a.Body), `"`+kind+`"`) {
			t.Errorf("the document does not name the token kind %s: %s", kind, a.Body)
		}
	}
	if strings.Contains(string(a.Body), `"owner"`) {
		t.Errorf("the document offers owner tokens: %s", a.Body)
	}
}

// Both transports answer from one implementation: the same request has the same
// answer, byte for byte, except for ids and the icon of the hosted endpoint.
func TestSameOnBothTransports(t *testing.T) {
	h := newFixture(t)
	record := mcp.Handle{Connection: "cin_a1", Stream: "entries", Record: "cin_a1_1"}.URI()
	for _, era := range []string{modern, handshake, "2025-06-18", batches} {
		t.Run("HOSTED-2 every answer of stdio is that of the endpoint, "+era, func(t *testing.T) {
			local := h.stdio(t, era)
			for _, c := range []rpc{
				{method: "tools/list"},
				{method: "resources/list"},
				{method: "resources/templates/list"},
				{method: "tools/list", params: `"cursor":"x"`},
				callOf(era, "schema", `{}`), callOf(era, "schema", `{"stream":"entries"}`), callOf(era, "schema", `{"stream":"entries","detail":"full"}`),
				callOf(era, "query_records", `{"stream":"entries","limit":2,"count":"exact"}`), callOf(era, "query_records", `{"stream":"receipts"}`),
				callOf(era, "query_records", `{"stream":"messages"}`), callOf(era, "query_records", `{"stream":"entries","filter":{"note":"x"}}`),
				callOf(era, "aggregate", `{"stream":"entries","metric":"count"}`), callOf(era, "search", `{"q":"rent","limit":3}`),
				callOf(era, "fetch", `{"id":"cin_a1/entries:cin_a1_2"}`), callOf(era, "fetch", `{"id":"cin_x9/entries:cin_x9_2"}`), callOf(era, "fetch", `{}`),
				callOf(era, "read_record_field", `{"id":"cin_a1/entries:cin_a1_2","field_path":"memo"}`), callOf(era, "nothing", `{}`),
				{method: "resources/read", params: `"uri":"` + record + `"`},
				{method: "resources/read", params: `"uri":"pdpp://record/x"`},
			} {
				c.era, c.id = era, `"same"`
				hosted := string(h.send(h.client, c).Body)
				if got, want := alike(h.URL, local(c.body())), alike(h.URL, hosted); got != want {
					t.Errorf("%s %s:\nstdio  %.900s\nhosted %.900s", c.method, c.params, got, want)
				}
			}
		})
	}
}

var changing = regexp.MustCompile(`req_[0-9a-f]{16,32}|(pc|ps|cs)1\.[A-Za-z0-9_.-]+`)

// alike removes from an answer what differs each time.
func alike(url, answer string) string {
	answer = strings.TrimSpace(strings.ReplaceAll(answer, `,"icons":[{"src":"`+url+`/icon.svg","mimeType":"image/svg+xml","sizes":["any"]}]`, ""))
	return changing.ReplaceAllString(answer, "(id)")
}

// stdio serves the surface of `pdpp mcp` with the client's token, and returns a function
// that sends a line and reads the answer.
func (h *fixture) stdio(t *testing.T, era string) func(line string) string {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	server := mcpserve.New(mcpserve.Config{
		Surface: &mcp.Surface{RS: h.Client(h.client, http.DefaultTransport), Log: log}, Identity: mcpserve.NewIdentity(h.URL, "1.2.3", ""), Log: log, Now: h.Now,
	})
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- mcpserve.Serve(context.Background(), server, in, out)
		out.Close()
	}()
	t.Cleanup(func() {
		toServer.Close()
		if err := <-ended; err != nil {
			t.Errorf("stdio: %v", err)
		}
	})
	lines := bufio.NewReader(fromServer)
	ask := func(line string) string {
		t.Helper()
		if _, err := io.WriteString(toServer, line+"\n"); err != nil {
			t.Fatal(err)
		}
		answer, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	if era != modern {
		ask(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + era + `","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
		if _, err := io.WriteString(toServer, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	return ask
}

// Every read of a tool passes the /v1 router with the rights of the caller: a result
// contains only what the router answered, and a client with the same grant gets the same
// answer over the network.
func TestReadsAreGrantEnforced(t *testing.T) {
	h := newFixture(t)
	before := h.fingerprint()
	uri := func(connection, stream, record string) string {
		return mcp.Handle{Connection: connection, Stream: stream, Record: record}.URI()
	}
	for _, era := range eras {
		t.Run("HOSTED-5 a client's tools read /v1 and nothing else, "+era, func(t *testing.T) {
			s := h.connect(h.client, era)
			for _, c := range []struct{ tool, args string }{
				{"schema", `{}`},
				{"schema", `{"stream":"entries","detail":"full"}`},
				{"query_records", `{"stream":"entries"}`},
				{"aggregate", `{"stream":"entries","metric":"count"}`},
				{"search", `{"q":"rent"}`},
				{"fetch", `{"id":"cin_a1/entries:cin_a1_1"}`},
				{"read_record_field", `{"id":"cin_a1/entries:cin_a1_1","field_path":"memo"}`},
			} {
				res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: c.tool, Arguments: json.RawMessage(c.args)})
				if err != nil || res.IsError {
					t.Fatalf("%s: %v %v", c.tool, err, res)
				}
				h.sameFromOutside(t, c.tool)
			}
			if _, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri("cin_a1", "entries", "cin_a1_1")}); err != nil {
				t.Fatal(err)
			}
			h.sameFromOutside(t, "resources/read")
			for _, forbidden := range []string{uri("cin_x9", "entries", "cin_x9_1"), uri("cin_b2", "entries", "cin_b2_1"), uri("cin_m3", "messages", "m1")} {
				if res, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: forbidden}); err == nil {
					t.Errorf("%s was read: %v", forbidden, res)
				}
				h.sameFromOutside(t, forbidden)
			}
		})
	}
	t.Run("HOSTED-5 no owner route can be reached", func(t *testing.T) {
		h.ownerRoutesAreShut(t, h.client)
		h.ownerRoutesAreShut(t, h.pkg)
	})
	t.Run("HOSTED-5 nothing is changed by reads", func(t *testing.T) {
		if after := h.fingerprint(); before != after {
			t.Errorf("before %.300s, after %.300s", before, after)
		}
	})
}

// sameFromOutside repeats the reads of a tool over the network with the client's token:
// the answers must be the same.
func (h *fixture) sameFromOutside(t *testing.T, what string) {
	t.Helper()
	reads := h.spy.take()
	if len(reads) == 0 {
		t.Errorf("%s read nothing", what)
	}
	for _, r := range reads {
		if r.method != "GET" || !strings.HasPrefix(r.target, "/v1/") || r.authorization != "" {
			t.Errorf("%s sent %+v", what, r)
		}
		out := h.Get(h.client, r.target, "Prefer: "+r.prefer)
		if got, want := changing.ReplaceAllString(r.body, ""), changing.ReplaceAllString(string(out.Body), ""); got != want {
			t.Errorf("%s: inside %.600s\noutside %.600s", r.target, got, want)
		}
	}
}

// ownerRoutesAreShut sends requests to the owner routes over the transport of the tools.
func (h *fixture) ownerRoutesAreShut(t *testing.T, token string) {
	t.Helper()
	var transport http.RoundTripper
	h.open(nil, func(c *configuration) {
		c.Transport = func(caller *auth.Caller) http.RoundTripper {
			transport = mcphttp.InMemory(h.Server.Inside())(caller)
			return transport
		}
	})
	h.send(token, callOf(modern, "search", `{"q":"rent"}`)).OK()
	try := func(method, path string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), method, h.URL+path, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+h.OwnerToken()) // must be ignored
		res, err := transport.RoundTrip(r)
		if err != nil {
			return 0, ""
		}
		defer res.Body.Close()
		body, _ := io.ReadAll(res.Body)
		return res.StatusCode, string(body)
	}
	if status, body := try("GET", "/v1/state/ledgerly?connection_id=cin_a1"); status != 403 {
		t.Errorf("state: %d %s", status, body)
	}
	if status, body := try("GET", "/v1/streams/entries/records?connection_id=cin_x9"); status != 404 && status != 403 || strings.Contains(body, outside) {
		t.Errorf("records of a connection outside the grant: %d %s", status, body)
	}
	for _, c := range []struct{ method, path string }{
		{"POST", "/v1/ingest/entries?connection_id=cin_a1"},
		{"PUT", "/v1/state/ledgerly?connection_id=cin_a1"},
		{"POST", "/v1/blobs?connection_id=cin_a1"},
		{"DELETE", "/v1/streams/entries/records?connection_id=cin_a1"},
		{"DELETE", "/v1/streams/entries/records/cin_a1_1?connection_id=cin_a1"},
	} {
		if status, body := try(c.method, c.path); status != 0 {
			t.Errorf("%s %s: %d %s", c.method, c.path, status, body)
		}
	}
}

// fingerprint returns a text that changes with the data of the owner.
func (h *fixture) fingerprint() string {
	h.T.Helper()
	owner := h.OwnerToken()
	var b strings.Builder
	for _, c := range []string{"cin_a1", "cin_b2", "cin_x9"} {
		b.Write(changing.ReplaceAll(h.Get(owner, "/v1/streams/entries/records?connection_id="+c+"&changes_since=beginning").OK().Body, nil))
	}
	return b.String()
}

// A package token reads through its members alone. Its own caller has no grant, and that
// must not make it an owner.
func TestPackageItselfReadsNothing(t *testing.T) {
	h := newFixture(t)
	r, err := http.NewRequestWithContext(t.Context(), "POST", h.URL+"/mcp", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+h.pkg)
	id, err := h.Server.Auth.AuthenticateRequest(r, auth.MCP)
	if err != nil {
		t.Fatal(err)
	}
	ctx := auth.WithCaller(t.Context(), id.Caller)
	w := httptest.NewRecorder()
	h.Server.Inside().ServeHTTP(w, httptest.NewRequestWithContext(ctx, "GET", "/v1/streams/entries/records?connection_id=cin_x9", nil))
	if w.Code != 403 || strings.Contains(w.Body.String(), outside) {
		t.Errorf("the package read %d %.300s", w.Code, w.Body)
	}
}
