package httpx

import (
	"net/http"
	"strings"
	"testing"

	"pdpp"
)

const methodsPost = "POST, OPTIONS"

const exposed = "WWW-Authenticate, Link, Request-Id, X-Request-Id, Retry-After, Preference-Applied, ETag, Content-Range, MCP-Protocol-Version, PDPP-Version"

func corsEdge(t *testing.T, origins ...string) *Edge {
	t.Helper()
	return &Edge{
		PublicURL:      must(ParsePublicURL("https://data.example")),
		AllowedOrigins: must(ParseAllowedOrigins(origins)),
	}
}

func TestOrigins(t *testing.T) {
	listed := []string{"https://app.example,https://*.apps.example", "http://plain.example:8080"}
	tests := []struct {
		origin  string
		allowed []string
		want    bool
	}{
		{"https://data.example", nil, true},
		{"https://DATA.example:443", nil, true},
		{"http://data.example", nil, false},
		{"https://data.example:8443", nil, false},
		{"http://localhost", nil, true},
		{"http://localhost:3000", nil, true},
		{"https://127.0.0.1:1", nil, true},
		{"http://[::1]:5173", nil, true},
		{"http://127.0.0.2", nil, false},
		{"http://a.localhost", nil, false},
		{"http://localhost.evil.example", nil, false},
		{"ftp://localhost", nil, false},
		{"https://evil.example", listed, false},
		{"https://app.example", listed, true},
		{"http://app.example", listed, false},
		{"https://app.example:444", listed, false},
		{"https://a.apps.example", listed, true},
		{"https://a.b.apps.example", listed, true},
		{"https://apps.example", listed, false},
		{"https://evilapps.example", listed, false},
		{"https://a.apps.example:444", listed, false},
		{"http://plain.example:8080", listed, true},
		{"http://plain.example", listed, false},
		{"https://evil.example", []string{"*"}, true},
		{"chrome-extension://abcdef", []string{"*"}, true},
		{"chrome-extension://abcdef", listed, false},
		{"null", nil, false},
		{"null", []string{"*"}, false},
		{"", []string{"*"}, false},
		{"https://data.example/", nil, false},
		{"https://data.example https://evil.example", nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.origin+" "+strings.Join(tt.allowed, ","), func(t *testing.T) {
			e := corsEdge(t, tt.allowed...)
			srv := serve(t, Chain(ok, WithRequestID, e.StrictCORS(methodsPost)))
			got := send(t, srv, request{method: "POST", header: http.Header{"Origin": {tt.origin}}})
			if tt.want != (got.status == 200) {
				t.Fatalf("status = %d, want allowed %v", got.status, tt.want)
			}
			if echo := got.header.Get("Access-Control-Allow-Origin"); tt.want && echo != tt.origin || !tt.want && echo != "" {
				t.Errorf("Access-Control-Allow-Origin = %q", echo)
			}
		})
	}
}

// R derived from the request is an allowed origin as well.
func TestOriginDerived(t *testing.T) {
	e := &Edge{TrustedHosts: must(ParseTrustedHosts([]string{"box"}))}
	srv := serve(t, Chain(ok, WithRequestID, e.Gate, e.StrictCORS(methodsPost)))
	for origin, want := range map[string]int{"http://box:7663": 200, "http://box": 403, "https://box:7663": 403} {
		if got := send(t, srv, request{host: "box:7663", header: headers("Origin", origin)}); got.status != want {
			t.Errorf("%s: status = %d, want %d", origin, got.status, want)
		}
	}
}

func TestTwoOriginsAreRefused(t *testing.T) {
	srv := serve(t, Chain(ok, WithRequestID, corsEdge(t, "*").StrictCORS(methodsPost)))
	if got := send(t, srv, request{header: headers("Origin", "https://a.example", "Origin", "https://b.example")}); got.status != 403 {
		t.Errorf("status = %d, want 403", got.status)
	}
}

func TestCORSMatrix(t *testing.T) {
	e := corsEdge(t)
	const allowed, refused = "http://localhost:3000", "https://evil.example"
	rest, strict := e.CORS(MethodsREST), e.StrictCORS(methodsPost)
	denied := failing(pdpp.Errorf(pdpp.CodeNotFound, "no"))
	tests := []struct {
		name    string
		mw      Middleware
		h       http.Handler
		method  string
		origin  string
		status  int
		echo    string
		expose  bool
		methods string
	}{
		{"rest, no origin", rest, ok, "GET", "", 200, "", false, ""},
		{"rest, allowed", rest, ok, "GET", allowed, 200, allowed, true, ""},
		{"rest, error is readable", rest, denied, "GET", allowed, 404, allowed, true, ""},
		{"rest, refused origin is served without headers", rest, ok, "GET", refused, 200, "", false, ""},
		{"rest, preflight", rest, denied, "OPTIONS", allowed, 204, allowed, false, MethodsREST},
		{"rest, refused preflight", rest, denied, "OPTIONS", refused, 403, "", false, ""},
		{"rest, OPTIONS without origin", rest, denied, "OPTIONS", "", 204, "", false, MethodsREST},
		{"mcp, no origin", strict, ok, "POST", "", 200, "", false, ""},
		{"mcp, allowed", strict, ok, "POST", allowed, 200, allowed, true, ""},
		{"mcp, refused POST", strict, ok, "POST", refused, 403, "", false, ""},
		{"mcp, refused GET", strict, ok, "GET", refused, 403, "", false, ""},
		{"mcp, preflight", strict, denied, "OPTIONS", allowed, 204, allowed, false, methodsPost},
		{"mcp, refused preflight", strict, denied, "OPTIONS", refused, 403, "", false, ""},
		{"public, no origin", PublicCORS, ok, "GET", "", 200, "*", true, ""},
		{"public, any", PublicCORS, ok, "GET", refused, 200, "*", true, ""},
		{"public, preflight", PublicCORS, denied, "OPTIONS", refused, 204, "*", false, "GET, HEAD, OPTIONS"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv := serve(t, Chain(tt.h, WithRequestID, tt.mw, e.Challenge("")))
			rq := request{method: tt.method, header: http.Header{}}
			if tt.origin != "" {
				rq.header.Set("Origin", tt.origin)
			}
			got := send(t, srv, rq)
			if got.status != tt.status {
				t.Fatalf("status = %d, want %d", got.status, tt.status)
			}
			if v := got.header.Get("Access-Control-Allow-Origin"); v != tt.echo {
				t.Errorf("allowed origin = %q, want %q", v, tt.echo)
			}
			if v := got.header.Get("Access-Control-Expose-Headers"); (v == exposed) != tt.expose || !tt.expose && v != "" {
				t.Errorf("exposed = %q, want %v", v, tt.expose)
			}
			if v := got.header.Get("Access-Control-Allow-Methods"); v != tt.methods {
				t.Errorf("methods = %q, want %q", v, tt.methods)
			}
			if v := strings.Join(got.header.Values("Vary"), ", "); tt.echo != "*" && !strings.Contains(v, "Origin") {
				t.Errorf("Vary = %q, want it to contain Origin", v)
			}
			if got.header.Get("Access-Control-Allow-Credentials") != "" {
				t.Error("credentials are allowed")
			}
			if tt.status == 403 && (got.header.Get("WWW-Authenticate") != "" || !strings.Contains(got.body, `"code":"origin_not_allowed"`)) {
				t.Errorf("refused request: header %v, body %s", got.header, got.body)
			}
		})
	}
}

func TestPreflightHeaders(t *testing.T) {
	srv := serve(t, Chain(ok, WithRequestID, corsEdge(t).CORS(MethodsREST)))
	got := send(t, srv, request{method: "OPTIONS", header: headers("Origin", "http://localhost")})
	const want = "Authorization, Content-Type, Accept, Prefer, Range, If-Range, If-None-Match, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Last-Event-ID, Request-Id, PDPP-Version"
	if v := got.header.Get("Access-Control-Allow-Headers"); v != want {
		t.Errorf("headers = %q", v)
	}
	if v := got.header.Get("Access-Control-Max-Age"); v != "600" {
		t.Errorf("max age = %q", v)
	}
	if got.body != "" || got.header.Get("Request-Id") == "" {
		t.Errorf("body %q, header %v", got.body, got.header)
	}
}

// C-12 and H-56 both add to Vary: neither overwrites the other, and shared values are
// not modified.
func TestVaryIsMerged(t *testing.T) {
	srv := serve(t, Chain(Handler(func(w http.ResponseWriter, r *http.Request) error {
		SetJSON(w.Header())
		w.Header().Add("Vary", "Accept")
		return pdpp.Errorf(pdpp.CodeNotFound, "no")
	}), WithRequestID, corsEdge(t).CORS(MethodsREST)))
	for range 2 {
		got := send(t, srv, request{})
		if v := strings.Join(got.header.Values("Vary"), "|"); v != "Origin|Authorization, Prefer|Accept" {
			t.Errorf("Vary = %q", v)
		}
	}
}
