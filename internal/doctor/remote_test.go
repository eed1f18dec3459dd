package doctor

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hosted returns a server with all features (H-50, H-57, H-130 to H-132) and the public
// origin base.
func hosted(base string) *http.ServeMux {
	mux := http.NewServeMux()
	document := func(path, body string) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, strings.ReplaceAll(body, "R", base))
		})
	}
	document("/healthz", `{"status":"ok"}`)
	document("/.well-known/oauth-protected-resource", `{"resource":"R","authorization_servers":["R"],"pdpp_core_query_base":"R/v1"}`)
	document("/.well-known/oauth-protected-resource/mcp", `{"resource":"R/mcp","authorization_servers":["R"]}`)
	document("/.well-known/oauth-authorization-server", serverDocument)
	for method, paths := range map[string][]string{"GET": {"authorize"}, "POST": {"token", "revoke", "par", "device_authorization"}} {
		for _, path := range paths {
			mux.HandleFunc(method+" /oauth/"+path, func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(http.StatusBadRequest)
				io.WriteString(w, `{"error":"invalid_request"}`)
			})
		}
	}
	mux.HandleFunc("POST /oauth/register", func(http.ResponseWriter, *http.Request) { panic("the doctor registers a client") })
	mux.HandleFunc("GET /icon.svg", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "image/svg+xml")
	})
	mux.HandleFunc("POST /mcp", func(w http.ResponseWriter, r *http.Request) {
		metadata := base + "/.well-known/oauth-protected-resource/mcp"
		w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer resource_metadata="%s", scope="pdpp:read"`, metadata))
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"error":{"code":"authentication_error","resource_metadata":%q}}`, metadata)
	})
	mux.HandleFunc("OPTIONS /mcp", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
		w.Header().Set("Access-Control-Allow-Methods", "POST, OPTIONS")
		w.Header().Set("Access-Control-Allow-Headers", "Authorization, Content-Type")
		w.WriteHeader(http.StatusNoContent)
	})
	return mux
}

const serverDocument = `{"issuer":"R","authorization_endpoint":"R/oauth/authorize","token_endpoint":"R/oauth/token","registration_endpoint":"R/oauth/register",` +
	`"revocation_endpoint":"R/oauth/revoke","device_authorization_endpoint":"R/oauth/device_authorization","pushed_authorization_request_endpoint":"R/oauth/par",` +
	`"response_types_supported":["code"],"grant_types_supported":["authorization_code"],"code_challenge_methods_supported":["S256"],` +
	`"token_endpoint_auth_methods_supported":["none"],"client_id_metadata_document_supported":true,"protected_resources":["R","R/mcp"]}`

// changed returns a proxy that changes the document of the authorization server.
func changed(old, replacement string) proxy {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != serverMetadata {
			return false
		}
		io.WriteString(w, strings.ReplaceAll(strings.Replace(serverDocument, old, replacement, 1), "R", "http://"+r.Host))
		return true
	}
}

// proxy is between the server and the doctor. It may answer in place of the server.
type proxy func(w http.ResponseWriter, r *http.Request) (answered bool)

// check runs the doctor on a hosted server behind a proxy and returns the checks by id.
func check(t *testing.T, p proxy) map[string]Check {
	t.Helper()
	var server http.Handler
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" || r.Header.Get("Cookie") != "" {
			t.Error("the doctor sent a credential")
		}
		if p == nil || !p(w, r) {
			server.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(srv.Close)
	server = hosted(srv.URL)
	found := map[string]Check{}
	for _, c := range Remote(t.Context(), srv.URL) {
		found[c.ID] = c
	}
	return found
}

// at returns a proxy that answers one request in place of the server.
func at(method, path string, status int, headers map[string]string, body string) proxy {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != method || r.URL.Path != path {
			return false
		}
		for name, value := range headers {
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
		return true
	}
}

func TestHealthyServer(t *testing.T) {
	found := check(t, nil)
	if len(found) != 9 {
		t.Errorf("%d checks: %v", len(found), found)
	}
	for id, c := range found {
		if c.Status != Pass || c.Fix != "" {
			t.Errorf("%s: %+v", id, c)
		}
	}
}

// A proxy in front of a server can break it in many ways. Each has its own message.
func TestBrokenServer(t *testing.T) {
	const notFound = `{"error":{"code":"not_found"}}`
	for name, c := range map[string]struct {
		proxy
		id     string
		status Status
		text   string // in detail or fix
	}{
		"another program":       {at("GET", "/healthz", 200, nil, "<html>"), "healthz", Fail, "belongs to pdpp"},
		"a redirect":            {at("GET", "/healthz", 301, map[string]string{"Location": "https://x.example/"}, ""), "healthz", Fail, `301 to "https://x.example/"`},
		"an unknown host":       {at("GET", "/.well-known/oauth-protected-resource", 421, nil, ""), "resource_metadata", Fail, "--public-url http://127.0.0.1"},
		"a page for a document": {at("GET", "/.well-known/oauth-protected-resource", 200, nil, "<html>"), "resource_metadata", Fail, "has no resource"},
		"another origin": {
			at("GET", "/.well-known/oauth-protected-resource", 200, nil, `{"resource":"http://inner:7663"}`),
			"resource_metadata", Fail, "resource is http://inner:7663; you used http://127.0.0.1",
		},
		"another issuer":              {at("GET", "/.well-known/oauth-authorization-server", 200, nil, `{"issuer":"http://inner"}`), "authorization_server", Fail, "issuer is http://inner"},
		"no document, from pdpp":      {at("GET", "/.well-known/oauth-authorization-server", 404, nil, notFound), "authorization_server", Skip, "grants create"},
		"no document, from the proxy": {at("GET", "/.well-known/oauth-authorization-server", 404, nil, "nginx"), "authorization_server", Fail, "forwards every path"},
		"no /mcp":                     {at("POST", "/mcp", 404, nil, notFound), "mcp_challenge", Skip, "newer version"},
		"no token endpoint":           {changed(`"token_endpoint"`, `"other"`), "authorization_server", Fail, "no token_endpoint"},
		"no PKCE":                     {changed(`["S256"]`, `["plain"]`), "authorization_server", Fail, "S256 in code_challenge_methods_supported"},
		"an endpoint elsewhere":       {changed("R/oauth/token", "http://inner/oauth/token"), "authorization_server", Fail, "token_endpoint is http://inner/oauth/token"},
		"a blocked token endpoint":    {at("POST", "/oauth/token", 403, nil, "nginx"), "oauth_endpoints", Fail, "POST /oauth/token (token_endpoint) returned 403"},
		"a missing endpoint":          {at("POST", "/oauth/par", 404, nil, notFound), "oauth_endpoints", Fail, "POST /oauth/par"},
		"a page at an endpoint":       {at("POST", "/oauth/revoke", 400, nil, "<html>"), "oauth_endpoints", Fail, "without an OAuth error"},
		"a sign-in of the proxy":      {at("GET", "/oauth/authorize", 302, map[string]string{"Location": "https://sso.example/"}, ""), "oauth_endpoints", Fail, `302 to "https://sso.example/"`},
		"registration is blocked":     {at("GET", "/oauth/register", 403, nil, ""), "oauth_endpoints", Fail, "registration_endpoint"},
		"another authorization server": {
			at("GET", "/.well-known/oauth-protected-resource/mcp", 200, nil, `{"resource":"https://a/mcp"}`), "oauth_discovery", Fail, `a document about "https://a/mcp"`,
		},
		"a missing header": {at("POST", "/mcp", 401, nil, `{"error":{"code":"authentication_error"}}`), "mcp_challenge", Fail, "no WWW-Authenticate"},
		"header and body differ": {
			at("POST", "/mcp", 401, map[string]string{"WWW-Authenticate": `Bearer resource_metadata="https://a/x"`}, `{"error":{"resource_metadata":"https://b/x"}}`),
			"mcp_challenge", Fail, `"https://a/x", its body "https://b/x"`,
		},
		"a challenge for another origin": {
			at("POST", "/mcp", 401, map[string]string{"WWW-Authenticate": `Bearer resource_metadata="https://a/x"`}, `{"error":{"resource_metadata":"https://a/x"}}`),
			"mcp_challenge", Fail, "resource_metadata is https://a/x",
		},
		"a password of the proxy": {at("POST", "/mcp", 403, nil, ""), "mcp_challenge", Fail, "/mcp returned 403"},
		"a preflight refused":     {at("OPTIONS", "/mcp", 405, nil, ""), "cors_preflight", Fail, "405"},
		"a preflight for all":     {at("OPTIONS", "/mcp", 204, map[string]string{"Access-Control-Allow-Origin": "*"}, ""), "cors_preflight", Fail, `allowed for "*"`},
		"another icon":            {at("GET", "/icon.svg", 200, map[string]string{"Content-Type": "text/html"}, ""), "icon", Fail, `"text/html"`},
		"control characters":      {at("GET", "/icon.svg", 200, map[string]string{"Content-Type": "x\x1b[2J"}, ""), "icon", Fail, `x\x1b[2J`},
		"an endless redirect":     {at("GET", "/icon.svg", 302, map[string]string{"Location": "/icon.svg"}, ""), "icon", Fail, "302"},
		"a large response":        {at("GET", "/icon.svg", 500, nil, strings.Repeat("x", 2*maxBody)), "icon", Fail, "500"},
	} {
		t.Run(name, func(t *testing.T) {
			got := check(t, c.proxy)[c.id]
			if got.Status != c.status || !strings.Contains(got.Detail+" "+got.Fix, c.text) || got.Fix == "" {
				t.Errorf("%+v, want %s with %q and a fix", got, c.status, c.text)
			}
		})
	}
}

func TestUnreachableServer(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	srv.Close()
	checks := Remote(t.Context(), srv.URL)
	if checks[0].Status != Fail || NewReport(checks).OK {
		t.Errorf("%+v", checks[0])
	}
	for _, c := range checks[1:] {
		if c.Status != Skip {
			t.Errorf("%+v", c)
		}
	}
}

// An invalid certificate is reported.
func TestInvalidCertificate(t *testing.T) {
	srv := httptest.NewTLSServer(hosted("https://x"))
	defer srv.Close()
	if got := Remote(t.Context(), srv.URL)[0]; got.Status != Fail || !strings.Contains(got.Detail, "certificate") {
		t.Errorf("%+v", got)
	}
}

// A feature that is off is not a fault, and the answer names it (H-25, H-133).
func TestH25RegistrationAndDocuments(t *testing.T) {
	for name, c := range map[string]struct {
		proxy
		text string
	}{
		"both":            {nil, "Clients may register; client documents are accepted."},
		"no registration": {changed(`"registration_endpoint":"R/oauth/register",`, ""), "Registration is off; client documents are accepted."},
		"no documents":    {changed(`"client_id_metadata_document_supported":true,`, ""), "Clients may register; client documents are off."},
	} {
		found := check(t, c.proxy)
		if got := found["authorization_server"]; got.Status != Pass || !strings.Contains(got.Detail, c.text) {
			t.Errorf("%s: %+v, want %q", name, got, c.text)
		}
		if got := found["oauth_endpoints"]; got.Status != Pass {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
