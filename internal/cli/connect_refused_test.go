package cli

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// otherProvider is a server of another implementation. Its answers are documents by path.
type otherProvider struct {
	*httptest.Server
	answers map[string]any
}

func newOtherProvider(t *testing.T) *otherProvider {
	t.Helper()
	p := &otherProvider{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/authorize" {
			q := r.URL.Query()
			back := url.Values{"code": {"c"}, "state": {q.Get("state")}, "iss": {p.URL}}
			http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
			return
		}
		answer, ok := p.answers[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if status, ok := answer.(int); ok {
			w.WriteHeader(status)
			answer = map[string]any{"error": map[string]string{"code": "invalid_token", "message": "No."}}
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(p.Close)
	p.answers = map[string]any{
		"/.well-known/oauth-protected-resource": map[string]any{"resource": p.URL, "authorization_servers": []string{p.URL}},
		"/.well-known/oauth-authorization-server": map[string]any{
			"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token", "registration_endpoint": p.URL + "/register",
			"code_challenge_methods_supported": []string{"S256"},
		},
		"/register":  map[string]string{"client_id": "c"},
		"/token":     map[string]any{"access_token": "at", "token_type": "Bearer", "expires_in": 60},
		"/v1/schema": map[string]any{"bearer": map[string]string{"token_kind": "client"}, "connectors": []any{}},
	}
	return p
}

// follow opens an address as a browser does.
func follow(t *testing.T) func(string) {
	return func(address string) {
		resp, err := http.Get(address) //nolint:noctx // a test
		if err != nil {
			t.Error(err)
			return
		}
		resp.Body.Close()
	}
}

func TestH201Codes(t *testing.T) {
	pkg := map[string]any{
		"access_token": "pt", "token_type": "Bearer", "grant_package_id": "gpkg_1",
		"authorization_details": []any{map[string]any{"grant_id": "g", "streams": []any{map[string]any{"name": "s", "instance_ids": []string{"cin_1"}}}}},
	}
	for _, c := range []struct {
		name   string
		path   string
		answer any
		exit   int
		code   string
	}{
		{"a provider without authorization", "/.well-known/oauth-protected-resource", nil, exitUnreachable, "connect_not_supported"},
		{"metadata that is not valid", "/.well-known/oauth-authorization-server", "text", exitUnreachable, "metadata_failure"},
		{"metadata of another server", "/.well-known/oauth-authorization-server", map[string]string{"issuer": "https://elsewhere.example"}, exitUnreachable, "issuer_mismatch"},
		{"no registration", "/register", map[string]string{}, exitUnreachable, "registration_failed"},
		{"no token", "/token", map[string]string{"token_type": "Bearer"}, exitUnreachable, "token_request_failed"},
		{"a token with invalid characters", "/token", map[string]string{"access_token": "a b", "token_type": "Bearer"}, exitUnreachable, "token_request_failed"},
		{"STDIO-3 an owner token by its prefix", "/token", map[string]string{"access_token": "pdpp_ot_1", "token_type": "Bearer"}, exitPermission, "owner_credential"},
		{"STDIO-3 an owner token by its kind", "/token", map[string]string{"access_token": "a", "token_type": "Bearer", "token_kind": "owner"}, exitPermission, "owner_credential"},
		{"STDIO-3 an owner token by its use", "/v1/schema", map[string]any{"bearer": map[string]string{"token_kind": "owner"}, "connectors": []any{}}, exitPermission, "owner_credential"},
		{"a token that is not accepted", "/v1/schema", 401, exitUnreachable, "token_verification_failed"},
		{"a package without exchange", "/token", pkg, exitUnreachable, "package_not_readable"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newOtherProvider(t)
			if p.answers[c.path] = c.answer; c.answer == nil {
				delete(p.answers, c.path)
			}
			root := filepath.Join(t.TempDir(), "cache")
			r := runConnect(t, time.Now, follow(t), p.URL, "--no-browser", "--json", "--cache-root", root)
			if r.code != c.exit || !strings.Contains(r.stdout, `"code":"`+c.code+`"`) {
				t.Errorf("exit %d, want %d %s\n%s%s", r.code, c.exit, c.code, r.stdout, r.stderr)
			}
			if strings.Contains(r.stdout+r.stderr, "pdpp_ot_") {
				t.Errorf("the token is shown:\n%s%s", r.stdout, r.stderr)
			}
			if files, _ := filepath.Glob(filepath.Join(root, "clients", "*", "*.json")); len(files) != 0 {
				t.Errorf("saved %v", files)
			}
		})
	}
}

func TestH201OtherProviders(t *testing.T) {
	p := newOtherProvider(t)
	root := filepath.Join(t.TempDir(), "cache")
	if r := runConnect(t, time.Now, follow(t), p.URL, "--no-browser", "--json", "--cache-root", root); r.code != 0 || !strings.Contains(r.stdout, `"grant_id":"connected_`) || !strings.Contains(r.stdout, `"renewable":false`) {
		t.Errorf("STDIO-1 a server without grant ids: %+v", r)
	}
	for _, address := range []string{"http://data.example", "ftp://data.example", "https://me@data.example", "https://data.example?x=1", ""} {
		r := runConnect(t, time.Now, follow(t), address, "--json")
		if r.code != exitUsage || !strings.Contains(r.stdout, `"code":"invalid_provider_url"`) {
			t.Errorf("%q: %+v", address, r)
		}
	}
	blocked := filepath.Join(t.TempDir(), "cache")
	lock := filepath.Join(blocked, "clients", strings.ReplaceAll(strings.TrimPrefix(p.URL, "http://"), ":", "_"), ".lock")
	if err := os.MkdirAll(lock, 0o700); err != nil { // a folder where a file belongs
		t.Fatal(err)
	}
	if r := runConnect(t, time.Now, follow(t), p.URL, "--no-browser", "--json", "--cache-root", blocked); r.code != exitCreate || !strings.Contains(r.stdout, `"code":"cache_write_failed"`) {
		t.Errorf("a cache that cannot be written: %+v", r)
	}
	delete(p.answers, "/.well-known/oauth-protected-resource")
	if r := runConnect(t, time.Now, follow(t), p.URL, "--cache-root", root); r.code != exitUnreachable || !strings.Contains(r.stderr, "run: pdpp credentials import "+p.URL) {
		t.Errorf("no advice for a server without a flow: %+v", r)
	}
}
