package rs_test

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pdpp"
	"pdpp/internal/httpx"
	"pdpp/internal/rs/resttest"
	"pdpp/internal/server"
)

const (
	rootDocument = "/.well-known/oauth-protected-resource"
	mcpDocument  = rootDocument + "/mcp"
)

// atR replaces the base URL R in the text of a document.
func atR(base, document string) string { return strings.ReplaceAll(document, "R/", base+"/") }

func TestDiscovery(t *testing.T) {
	w := resttest.New(t)
	t.Run("META-1 the root document names the MCP endpoint and /v1", func(t *testing.T) {
		a := w.Get("", rootDocument).OK()
		if a.At("resource") != w.URL || a.At("pdpp_core_query_base") != w.URL+"/v1" {
			t.Errorf("resource = %v, pdpp_core_query_base = %v", a.At("resource"), a.At("pdpp_core_query_base"))
		}
		sameValue(t, a, "pdpp_discovery_hints.mcp_endpoint", w.URL+"/mcp")
		sameJSON(t, a.At("pdpp_agent_discovery"), atR(w.URL, `{"advisory": true, "recommended_flow": "pdpp connect",
			"cli": {"bin_name": "pdpp", "connect_command": "pdpp connect `+w.URL+`", "no_owner_token": true},
			"mcp": {"endpoint": "R/mcp", "adapter_over": "R/v1", "transport": "streamable_http",
			"setup_intent": "grant_scoped_read", "no_owner_token": true, "resource_metadata": "R/.well-known/oauth-protected-resource/mcp"}}`))
	})
	t.Run("META-2 the document of the MCP endpoint excludes owner tokens", func(t *testing.T) {
		sameJSON(t, w.Get("", mcpDocument).OK().JSON(), atR(w.URL, `{"resource": "R/mcp", "resource_name": "Test data (MCP)",
			"authorization_servers": ["`+w.URL+`"], "authorization_details_types_supported": ["https://pdpp.dev/data-access"], "resource_documentation": "R/setup",
			"bearer_methods_supported": ["header"], "scopes_supported": ["pdpp:read"],
			"pdpp_core_query_base": "R/v1", "pdpp_token_kinds_supported": ["client", "mcp_package"],
			"pdpp_agent_discovery": {"advisory": true, "mcp": {"endpoint": "R/mcp", "adapter_over": "R/v1", "transport": "streamable_http",
				"setup_intent": "grant_scoped_read", "no_owner_token": true}}}`))
	})
	t.Run("ICON-3 only standard and PDPP members", func(t *testing.T) {
		standard := strings.Fields("resource resource_name authorization_servers authorization_details_types_supported " +
			"resource_documentation bearer_methods_supported scopes_supported capabilities")
		for _, path := range []string{rootDocument, mcpDocument} {
			a := w.Get("", path).OK()
			for name := range a.JSON().(map[string]any) {
				if !slices.Contains(standard, name) && !strings.HasPrefix(name, "pdpp_") {
					t.Errorf("%s has the member %s", path, name)
				}
			}
			if strings.Contains(string(a.Body), "logo_uri") {
				t.Errorf("%s has a logo_uri: %s", path, a.Body)
			}
		}
	})
	t.Run("H-134 the index document", func(t *testing.T) {
		sameJSON(t, w.Get("", "/").OK().JSON(), atR(w.URL, `{"object": "pdpp_discovery_index", "resource_name": "Test data", "links": {
			"well_known": "R/.well-known/oauth-protected-resource", "well_known_authorization_server": "R/.well-known/oauth-authorization-server", "schema": "R/v1/schema", "core_query_base": "R/v1", "mcp": "R/mcp"}}`))
	})
	t.Run("H-131 other paths are not found", func(t *testing.T) {
		for _, path := range []string{
			rootDocument + "/", rootDocument + "/v1", mcpDocument + "/developer", "/.well-known/", "/icon.png",
		} {
			expectError(t, w.Get("", path), 404, pdpp.CodeNotFound)
		}
	})
}

// TestAuthorizationServerDocument: clients that know only a resource find the endpoints of
// its authorization server, which exist.
func TestAuthorizationServerDocument(t *testing.T) {
	w := resttest.New(t)
	t.Run("H-132 the document is also at the path of /mcp", func(t *testing.T) {
		document := w.Get("", "/.well-known/oauth-authorization-server").OK()
		sameValue(t, document, "issuer", w.URL)
		if other := w.Get("", "/.well-known/oauth-authorization-server/mcp").OK(); string(other.Body) != string(document.Body) {
			t.Errorf("the document for /mcp differs: %s", other.Body)
		}
		for _, path := range []string{"/.well-known/openid-configuration", "/.well-known/openid-configuration/mcp"} {
			expectError(t, w.Get("", path), 404, pdpp.CodeNotFound)
		}
		for member, value := range document.JSON().(map[string]any) {
			path, isURL := strings.CutPrefix(fmt.Sprint(value), w.URL)
			if !isURL || !strings.HasSuffix(member, "_endpoint") {
				continue
			}
			if a := w.Do(http.MethodPost, "", path, ""); a.Status == http.StatusNotFound {
				t.Errorf("%s is %s, where there is nothing", member, path)
			}
		}
	})
	t.Run("H-134 browsers get a page", func(t *testing.T) {
		a := w.Get("", "/", "Accept: text/html,application/xhtml+xml,*/*;q=0.8")
		if a.Status != 200 || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") {
			t.Errorf("status %d, Content-Type %q, want a page", a.Status, a.Header.Get("Content-Type"))
		}
		if a := w.Get("", "/", "Accept: application/json, text/html").OK(); a.At("object") != "pdpp_discovery_index" {
			t.Errorf("a client that prefers JSON got %s", a.Body)
		}
	})
}

func TestDiscoveryHeaders(t *testing.T) {
	w := resttest.New(t)
	for _, path := range []string{"/", rootDocument, mcpDocument, "/icon.svg"} {
		get, head := w.Get("", path, "Origin: https://anyone.example").OK(), w.Do(http.MethodHead, "", path, "", "Origin: https://anyone.example")
		sameHeader(t, get, "Access-Control-Allow-Origin", "*")
		if head.Status != 200 || len(head.Body) > 0 || head.Header.Get("Content-Length") != get.Header.Get("Content-Length") {
			t.Errorf("HEAD %s: status %d, %d bytes, headers %v, want those of GET", path, head.Status, len(head.Body), head.Header)
		}
		if a := w.Do(http.MethodPost, "", path, "{}"); a.Status != 405 || a.Header.Get("Allow") != "GET, HEAD" {
			t.Errorf("POST %s: status %d, Allow %q, want 405 and GET, HEAD", path, a.Status, a.Header.Get("Allow"))
		}
		if get.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s has no X-Content-Type-Options: nosniff", path)
		}
		if path != "/icon.svg" && (get.Header.Get("Cache-Control") != "public, max-age=60" || get.Header.Get("Vary") != "Host") {
			t.Errorf("%s: Cache-Control %q, Vary %q, want public, max-age=60 and Host", path, get.Header.Get("Cache-Control"), get.Header.Values("Vary"))
		}
	}
	missing := w.Get("", "/.well-known/openid-configuration", "Origin: https://anyone.example")
	sameHeader(t, missing, "Access-Control-Allow-Origin", "*")
}

func TestServerIcon(t *testing.T) { // H-62
	w := resttest.New(t)
	a := w.Get("", "/icon.svg").OK()
	want := map[string]string{
		"Content-Type": "image/svg+xml", "Cache-Control": "public, max-age=86400", "X-Content-Type-Options": "nosniff",
		"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",
	}
	got := map[string]string{}
	for name := range want {
		got[name] = a.Header.Get(name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("headers differ (-want +got):\n%s", diff)
	}
	var image struct {
		XMLName xml.Name
		ViewBox string `xml:"viewBox,attr"`
	}
	err := xml.Unmarshal(a.Body, &image)
	if err != nil || image.XMLName.Space != "http://www.w3.org/2000/svg" || image.ViewBox == "" {
		t.Errorf("not a scalable SVG image: %+v, %v", image, err)
	}
	for _, bad := range []string{"<script", "href", "url(http"} {
		if strings.Contains(string(a.Body), bad) {
			t.Errorf("the icon contains %q", bad)
		}
	}
}

func TestChallengeLinks(t *testing.T) {
	w := resttest.New(t)
	for name, token := range map[string]string{"CHAL-1 no bearer at /v1": "", "CHAL-1 invalid bearer at /v1": "pdpp_at_unknown"} {
		t.Run(name, func(t *testing.T) {
			a := w.Get(token, "/v1/schema")
			metadata, _ := a.At("error.resource_metadata").(string)
			if a.Status != 401 || challengeOf(a)["resource_metadata"] != metadata || metadata != w.URL+rootDocument {
				t.Fatalf("status %d, challenge %v, want 401 and the root document: %s", a.Status, challengeOf(a), a.Body)
			}
			sameValue(t, w.Get("", strings.TrimPrefix(metadata, w.URL)).OK(), "resource", w.URL)
		})
	}
	t.Run("CHAL-2 the document of the MCP endpoint", func(t *testing.T) {
		root := w.Get("", rootDocument).OK()
		metadata, _ := root.At("pdpp_agent_discovery.mcp.resource_metadata").(string)
		a := w.Get("", strings.TrimPrefix(metadata, w.URL)).OK()
		if a.At("pdpp_agent_discovery.mcp.endpoint") != w.URL+"/mcp" || a.At("resource") != w.URL+"/mcp" {
			t.Errorf("%s is not about the MCP endpoint: %s", metadata, a.Body)
		}
		sameJSON(t, a.At("pdpp_token_kinds_supported"), `["client", "mcp_package"]`)
		sameJSON(t, root.At("pdpp_token_kinds_supported"), `["owner", "client"]`)
	})
	t.Run("ICON-2 a 401 links to the icon", func(t *testing.T) {
		a := w.Get("", "/v1/schema")
		if got, want := a.Header.Get("Link"), `<`+w.URL+`/icon.svg>; rel="icon"; type="image/svg+xml"`; a.Status != 401 || got != want {
			t.Errorf("status %d, Link %q, want 401 and %q", a.Status, got, want)
		}
	})
}

// TestForwardedOrigin sends the forwarded headers as a proxy does, to a server that trusts
// the proxy and to one that does not.
func TestForwardedOrigin(t *testing.T) {
	forwarded := []string{"X-Forwarded-Host: evil.example, data.example", "X-Forwarded-Proto: https"}
	hosts, err := httpx.ParseTrustedHosts([]string{"data.example"})
	if err != nil {
		t.Fatal(err)
	}
	proxies, err := httpx.ParseTrustedProxies([]string{"127.0.0.0/8"})
	if err != nil {
		t.Fatal(err)
	}
	serve := func(edge *httpx.Edge) *resttest.World {
		return secondServer(resttest.New(t), func(c *server.Config) { c.Edge = edge })
	}
	behindProxy := serve(&httpx.Edge{TrustedHosts: hosts, TrustedProxies: proxies})
	direct := serve(&httpx.Edge{TrustedHosts: hosts})
	for _, tt := range []struct {
		name       string
		w          *resttest.World
		base, vary string
	}{
		{"META-3 forwarded headers of a trusted proxy", behindProxy, "https://data.example", "Host, X-Forwarded-Host, X-Forwarded-Proto"},
		{"META-3 forwarded headers of any other client", direct, direct.URL, "Host"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, path := range []string{"/", rootDocument, mcpDocument} {
				a := tt.w.Get("", path, forwarded...).OK()
				for _, url := range urlsIn(t, a.JSON()) {
					if url != tt.base && !strings.HasPrefix(url, tt.base+"/") {
						t.Errorf("%s names %s, want a URL below %s", path, url, tt.base)
					}
				}
				sameHeader(t, a, "Vary", tt.vary)
			}
			a := tt.w.Get("", "/v1/schema", forwarded...)
			want := `Bearer resource_metadata="` + tt.base + rootDocument + `", scope="pdpp:read"`
			if got := a.Header.Get("WWW-Authenticate"); a.Status != 401 || got != want {
				t.Errorf("status %d, challenge %q, want 401 and %q", a.Status, got, want)
			}
		})
	}
}

// urlsIn returns the absolute URLs in a JSON document.
func urlsIn(t *testing.T, document any) (urls []string) {
	t.Helper()
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			v = strings.TrimPrefix(v, "pdpp connect ")
			if strings.Contains(v, "://") && v != "https://pdpp.dev/data-access" { // a name, not an address
				urls = append(urls, v)
			}
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(document)
	if len(urls) < 3 {
		t.Errorf("only %d URLs in %v", len(urls), document)
	}
	return urls
}
