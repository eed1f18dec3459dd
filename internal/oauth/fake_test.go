package oauth

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"pdpp"
)

// fake is a provider with an authorization server. Tests change its documents and answers.
type fake struct {
	*httptest.Server
	t testing.TB

	mu       sync.Mutex
	answers  map[string]any // of paths: a document, a refusal with "error", or an http.HandlerFunc
	requests []request
}

// request is a request that the fake received.
type request struct {
	path string
	form url.Values
	body string
}

func newFake(t testing.TB) *fake {
	t.Helper()
	f := &fake{t: t, answers: map[string]any{}}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	f.answers["/.well-known/oauth-protected-resource"] = map[string]any{"resource": f.URL, "authorization_servers": []string{f.URL}}
	f.answers["/.well-known/oauth-authorization-server"] = map[string]any{
		"issuer": f.URL, "authorization_endpoint": f.URL + "/authorize", "token_endpoint": f.URL + "/token", "registration_endpoint": f.URL + "/register",
		"device_authorization_endpoint": f.URL + "/device", "revocation_endpoint": f.URL + "/revoke",
		"code_challenge_methods_supported": []string{"S256"}, "grant_types_supported": []string{grantCode, grantExchange},
		"authorization_response_iss_parameter_supported": true,
		"pdpp_pre_registered_public_clients":             []any{map[string]string{"client_id": "pdpp_cli"}},
	}
	f.answers["/token"] = map[string]any{"access_token": "at", "token_type": "Bearer", "expires_in": 3600, "refresh_token": "rt", "grant_id": "grt_1"}
	f.answers["/register"] = map[string]any{"client_id": "cli_1", "token_endpoint_auth_method": "none"}
	return f
}

// change changes a document; a nil value removes the member.
func (f *fake) change(path, name string, value any) {
	doc := f.answers[path].(map[string]any)
	if doc[name] = value; value == nil {
		delete(doc, name)
	}
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		f.t.Error(err)
	}
	form, _ := url.ParseQuery(string(body)) // a registration is JSON
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests = append(f.requests, request{r.URL.Path, form, string(body)})
	switch doc := f.answers[r.URL.Path].(type) {
	case nil:
		http.NotFound(w, r)
	case func(http.ResponseWriter, url.Values):
		doc(w, form)
	case string:
		io.WriteString(w, doc)
	case map[string]any:
		w.Header().Set("Content-Type", "application/json")
		if doc["error"] != nil {
			w.WriteHeader(http.StatusBadRequest)
		}
		if err := json.NewEncoder(w).Encode(doc); err != nil {
			f.t.Error(err)
		}
	}
}

// last returns the last request to a path.
func (f *fake) last(path string) request {
	f.t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := len(f.requests) - 1; i >= 0; i-- {
		if f.requests[i].path == path {
			return f.requests[i]
		}
	}
	f.t.Fatalf("no request to %s", path)
	return request{}
}

func (f *fake) discover() *Server {
	f.t.Helper()
	s, err := new(Client).Discover(f.t.Context(), f.URL)
	if err != nil {
		f.t.Fatal(err)
	}
	return s
}

func wantCode(t testing.TB, err error, want pdpp.Code) {
	t.Helper()
	if got := pdpp.CodeOf(err); got != want {
		t.Errorf("code %q (%v), want %q", got, err, want)
	}
	if err != nil && strings.ContainsAny(err.Error(), "\n\x1b") {
		t.Errorf("the error has control characters: %q", err)
	}
}
