package oauth

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pdpp"
)

const (
	resourcePath = "/.well-known/oauth-protected-resource"
	serverPath   = "/.well-known/oauth-authorization-server"
)

func TestH200Discovery(t *testing.T) {
	f := newFake(t)
	want := &Server{
		Provider: f.URL, Resource: f.URL, Issuer: f.URL, Authorization: f.URL + "/authorize", Token: f.URL + "/token", Registration: f.URL + "/register",
		Device: f.URL + "/device", Revocation: f.URL + "/revoke", SendsIssuer: true, CanExchange: true, PreRegistered: []string{"pdpp_cli"},
	}
	if diff := cmp.Diff(want, f.discover()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	t.Run("a provider with a path, by its own document", func(t *testing.T) {
		f.answers[resourcePath+"/data"] = map[string]any{"resource": f.URL + "/data", "authorization_servers": []string{f.URL + "/as"}}
		f.answers[serverPath+"/as"] = map[string]any{"issuer": f.URL + "/as", "token_endpoint": f.URL + "/token", "code_challenge_methods_supported": []string{"S256"}}
		s, err := new(Client).Discover(t.Context(), f.URL+"/data")
		if err != nil || s.Resource != f.URL+"/data" || s.Issuer != f.URL+"/as" {
			t.Errorf("%+v, %v", s, err)
		}
	})
	t.Run("a provider with a path, by the document of its origin", func(t *testing.T) {
		s, err := new(Client).Discover(t.Context(), f.URL+"/other")
		if err != nil || s.Resource != f.URL || s.Provider != f.URL+"/other" {
			t.Errorf("%+v, %v", s, err)
		}
	})
}

func TestH200MetadataThatIsRefused(t *testing.T) {
	const metadata, unsupported = pdpp.CodeMetadata, pdpp.CodeConnectUnsupported
	for _, c := range []struct {
		name  string
		path  string
		key   string // "": the whole answer
		value any
		code  pdpp.Code
	}{
		{"another resource", resourcePath, "resource", "https://elsewhere.example", metadata},
		{"no authorization server", resourcePath, "authorization_servers", nil, unsupported},
		{"an authorization server without TLS", resourcePath, "authorization_servers", []string{"http://as.example"}, metadata},
		{"an authorization server with a query", resourcePath, "authorization_servers", []string{"https://as.example?x=1"}, metadata},
		{"no document of the resource", resourcePath, "", nil, unsupported},
		{"no JSON", resourcePath, "", "<html>", metadata},
		{"a document without end", resourcePath, "", strings.Repeat(" ", responseMax+1), metadata},
		{"the issuer of another server", serverPath, "issuer", "https://elsewhere.example", pdpp.CodeIssuerMismatch},
		{"no issuer", serverPath, "issuer", nil, pdpp.CodeIssuerMismatch},
		{"no document of the server", serverPath, "", nil, unsupported},
		{"a token endpoint without TLS", serverPath, "token_endpoint", "http://elsewhere.example/token", metadata},
		{"an authorization endpoint that is no page", serverPath, "authorization_endpoint", "file:///etc/passwd", metadata},
		{"a device endpoint with a user", serverPath, "device_authorization_endpoint", "https://me@elsewhere.example/", metadata},
		{"no token endpoint", serverPath, "token_endpoint", nil, unsupported},
		{"no S256", serverPath, "code_challenge_methods_supported", []string{"plain"}, unsupported},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t)
			if c.key == "" {
				f.answers[c.path] = c.value
			} else {
				f.change(c.path, c.key, c.value)
			}
			_, err := new(Client).Discover(t.Context(), f.URL)
			wantCode(t, err, c.code)
		})
	}
	t.Run("a redirect is not followed", func(t *testing.T) {
		f := newFake(t)
		f.answers["/moved"] = f.answers[resourcePath]
		f.answers[resourcePath] = func(w http.ResponseWriter, _ url.Values) { w.Header().Set("Location", "/moved"); w.WriteHeader(302) }
		_, err := new(Client).Discover(t.Context(), f.URL)
		wantCode(t, err, metadata)
	})
	t.Run("a server that is away", func(t *testing.T) {
		f := newFake(t)
		f.Close()
		_, err := new(Client).Discover(t.Context(), f.URL)
		wantCode(t, err, metadata)
	})
	t.Run("a remote provider that names programs of this machine", func(t *testing.T) {
		for address, want := range map[string]bool{"https://as.example": true, "http://127.0.0.1:1": false, "http://localhost:1": false} {
			if got := isAllowed("https://data.example", address); got != want {
				t.Errorf("%s: %v", address, got)
			}
		}
	})
}

func TestH200Registration(t *testing.T) {
	f := newFake(t)
	s := f.discover()
	id, err := new(Client).Register(t.Context(), s, "PDPP CLI (laptop)")
	if err != nil || id != "cli_1" {
		t.Fatalf("%q, %v", id, err)
	}
	body := f.last("/register").body
	for _, want := range []string{`"client_name":"PDPP CLI (laptop)"`, `["http://127.0.0.1/callback"]`, `"refresh_token"`, grantDevice} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
	for name, answer := range map[string]any{
		"refused":          map[string]any{"error": "invalid_client_metadata", "error_description": "no\x1b[31m\nred"},
		"no id":            map[string]any{"client_id": ""},
		"an id with lines": map[string]any{"client_id": "a\nb"},
		"a secret needed":  map[string]any{"client_id": "c", "token_endpoint_auth_method": "client_secret_basic"},
		"no JSON":          "hello",
	} {
		t.Run(name, func(t *testing.T) {
			f.answers["/register"] = answer
			_, err := new(Client).Register(t.Context(), s, "x")
			wantCode(t, err, pdpp.CodeRegistration)
		})
	}
	s.Registration = ""
	_, err = new(Client).Register(t.Context(), s, "x")
	wantCode(t, err, pdpp.CodeConnectUnsupported)
}
