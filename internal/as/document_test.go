package as

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestH154ClientIDs(t *testing.T) {
	for id, want := range map[string]bool{
		"https://app.example/client.json":      true,
		"https://app.example:8443/a/b?v=1":     true,
		"https://127.0.0.1/client":             true, // the outbound policy decides on hosts
		"https://app.example/...":              true,
		"https://app.example":                  false,
		"https://app.example/":                 false,
		"https://app.example?x=/a":             false,
		"http://app.example/client":            false,
		"HTTPS://app.example/client":           false,
		"https://u@app.example/client":         false,
		"https://u:p@app.example/client":       false,
		"https://app.example/client#f":         false,
		"https://app.example/client#":          false,
		"https://app.example/./client":         false,
		"https://app.example/a/../client":      false,
		"https://app.example/a/%2e%2E/client":  false,
		"https://app.example/a%2f..%2fclient":  false,
		"https://app.example/..":               false,
		"https:///client":                      false,
		"https:app.example/client":             false,
		"https://app.example/cli ent":          false,
		"https://app.example/clïent":           false,
		"https://%D0%B0pp.example/client":      false,
		"https://app.example;x/client":         false,
		"https://app.example\\@evil.example/x": false,
		"cli_1":                                false,
		"":                                     false,

		"https://app.example/" + strings.Repeat("a", 2048-len("https://app.example/")): true,
		"https://app.example/" + strings.Repeat("a", 2049-len("https://app.example/")): false,
	} {
		if got := isDocumentID(id); got != want {
			t.Errorf("isDocumentID(%.60q) = %v, want %v", id, got, want)
		}
	}
}

func TestH154Documents(t *testing.T) {
	const id = "https://app.example/client"
	const rest = `,"redirect_uris":["https://app.example/cb"]`
	for _, tt := range []struct {
		name, body, reason string
		changed            bool
	}{
		{"not JSON", `<html>`, "not a JSON object", false},
		{"not an object", `["` + id + `"]`, "not a JSON object", false},
		{"duplicate key", `{"client_id":"` + id + `","client_id":"` + id + `"` + rest + `}`, "not a JSON object", false},
		{"no client_id", `{"client_name":"x"` + rest + `}`, "client_id", true},
		{"another client_id", `{"client_id":"https://app.example/other"` + rest + `}`, "client_id", true},
		{"client_id in another case", `{"client_id":"https://APP.example/client"` + rest + `}`, "client_id", true},
		{"client_id with a slash more", `{"client_id":"` + id + `/"` + rest + `}`, "client_id", true},
		{"client_id of another type", `{"client_id":["` + id + `"]` + rest + `}`, "client_id", true},
		{"a secret", `{"client_id":"` + id + `","client_secret":"s"` + rest + `}`, "client_secret", false},
		{"the end of a secret", `{"client_id":"` + id + `","client_secret_expires_at":0` + rest + `}`, "client_secret_expires_at", false},
		{"authentication", `{"client_id":"` + id + `","token_endpoint_auth_method":"client_secret_basic"` + rest + `}`, "must be none", false},
		{"no redirect", `{"client_id":"` + id + `"}`, "redirect_uris", false},
		{"redirect of a script", `{"client_id":"` + id + `","redirect_uris":["javascript:alert(1)"]}`, "redirect_uris[0]", false},
		{"redirect without TLS", `{"client_id":"` + id + `","redirect_uris":["http://app.example/cb"]}`, "redirect_uris[0]", false},
		{"redirects of another type", `{"client_id":"` + id + `","redirect_uris":"https://app.example/cb"}`, "types", false},
		{"a long name", `{"client_id":"` + id + `","client_name":"` + strings.Repeat("x", 101) + `"` + rest + `}`, "client_name", false},
	} {
		_, err := parseDocument(id, []byte(tt.body))
		var fault *documentFault
		if !errors.As(err, &fault) || !strings.Contains(fault.reason, tt.reason) || fault.changed != tt.changed {
			t.Errorf("%s: %+v, want a fault with %q, changed = %v", tt.name, err, tt.reason, tt.changed)
		}
	}
	m, err := parseDocument(id, []byte(`{"client_id":"`+id+`","client_name":"App\u202e","token_endpoint_auth_method":"none","grant_types":["authorization_code"],"jwks":{}`+rest+`}`))
	if err != nil || m.Name != "App" || len(m.GrantTypes) != 1 {
		t.Errorf("a valid document = %+v, %v", m, err)
	}
	m, err = parseDocument(id, []byte(`{"client_id":"`+id+`"`+rest+`}`))
	if err != nil || m.Name != "Unnamed client" || len(m.GrantTypes) != 2 {
		t.Errorf("a short document = %+v, %v", m, err)
	}
}

func TestH155Freshness(t *testing.T) {
	for header, want := range map[string]time.Duration{
		"":                          5 * time.Minute,
		"max-age=0":                 5 * time.Minute,
		"max-age=299":               5 * time.Minute,
		"public, max-age=3600":      time.Hour,
		`Max-Age="3600"`:            time.Hour,
		"max-age=86401":             24 * time.Hour,
		"max-age=2147483647":        24 * time.Hour,
		"max-age=99999999999999999": 5 * time.Minute,
		"max-age=-1":                5 * time.Minute,
		"max-age=x":                 5 * time.Minute,
		"s-maxage=3600":             5 * time.Minute,
		"no-store, max-age=3600":    5 * time.Minute,
		"max-age=3600, no-cache":    5 * time.Minute,
	} {
		if got := freshness(http.Header{"Cache-Control": {header}}); got != want {
			t.Errorf("freshness(%q) = %v, want %v", header, got, want)
		}
	}
}
