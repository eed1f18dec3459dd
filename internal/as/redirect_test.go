package as

import (
	"net/url"
	"slices"
	"strings"
	"testing"
)

func TestH152RedirectURIs(t *testing.T) {
	for _, uri := range []string{
		"https://app.example/cb", "https://app.example:8443/cb?x=1", "https://app.example", "HTTPS://app.example/cb",
		"http://localhost/cb", "http://127.0.0.1:33418/cb", "http://[::1]:1/", "http://localhost",
		"cursor://anysphere.cursor-retrieval/oauth/callback", "com.example.app:/cb", "vscode://vscode.github-authentication",
		"https://xn--clude-6ed.example/cb", "https://[2001:db8::1]:8443/cb", "https://app_1.example/cb",
	} {
		if why := checkRedirect(uri); why != "" {
			t.Errorf("checkRedirect(%q) = %q, want it accepted", uri, why)
		}
	}
	for _, uri := range []string{
		"", "/cb", "app.example/cb", "https://", "https:///cb", "https:app.example", "https://app.example/cb#f", "https://app.example/cb#",
		"https://user@app.example/cb", "https://user:pw@app.example/cb", "http://app.example/cb", "http://127.0.0.1.evil.example/cb",
		"http://localhost.evil.example/cb", "http://localhost@evil.example/cb", "http://127.0.0.1:80@evil.example/cb", "http://127.0.0.2/cb",
		"http://127.1/cb", "http://2130706433/cb", "http://0x7f.1/cb", "http://LOCALHOST/cb", "http://localhost:/cb", "http://localhost:123456/cb",
		"http://[::ffff:127.0.0.1]/cb", "http://[::1%25lo]/cb", "http://localhost\\@evil.example/", "javascript:alert(1)", "JavaScript:alert(1)",
		"https://cl%D0%B0ude.example/cb", "https://%E2%80%AEapp.example/cb", "https://app.example;script-src/cb", "https://app.example,x/cb", "https://*/cb",
		"https://app'example/cb", "https://[fe80::1%25eth0]/cb", "cursor://%D0%B0pp/cb", "cursor://*;sandbox/cb", "view-source:https://app.example/cb",
		"data:text/html,x", "file:///etc/passwd", "blob:https://app.example/1", "about:blank", "vbscript:x", "x:",
		"https://app.example/\r\nSet-Cookie: a=b", "https://app.example/ü", " https://app.example/cb", "https://app.example/" + strings.Repeat("a", 2048),
	} {
		if checkRedirect(uri) == "" {
			t.Errorf("checkRedirect(%q) accepts it", uri)
		}
	}
}

func TestH145RedirectMatch(t *testing.T) {
	const web = "https://app.example/cb?x=1"
	for _, test := range []struct {
		registered, sent string
		want             bool
	}{
		{web, web, true},
		{web, "https://app.example/cb", false},
		{web, "https://app.example/cb?x=1&y=2", false},
		{web, "https://APP.example/cb?x=1", false},
		{web, "HTTPS://app.example/cb?x=1", false},
		{web, "https://app.example/CB?x=1", false},
		{web, "https://app.example:443/cb?x=1", false},
		{web, "https://app.example/cb?x=1#f", false},
		{web, "https://u@app.example/cb?x=1", false},
		{web, "https://app.example/./cb?x=1", false},
		{web, "https://app.example/%63b?x=1", false},
		{web, "http://app.example/cb?x=1", false},
		{"http://127.0.0.1/cb", "http://127.0.0.1:33418/cb", true},
		{"http://127.0.0.1:1/cb", "http://127.0.0.1:2/cb", true},
		{"http://127.0.0.1:1/cb", "http://127.0.0.1/cb", true},
		{"http://localhost/cb", "http://localhost:80/cb", true},
		{"http://[::1]/cb", "http://[::1]:9999/cb", true},
		{"http://127.0.0.1/cb", "http://localhost:33418/cb", false},
		{"http://127.0.0.1/cb", "http://[::1]:33418/cb", false},
		{"http://127.0.0.1/cb", "http://127.0.0.1:33418/cb/", false},
		{"http://127.0.0.1/cb", "http://127.0.0.1:33418/CB", false},
		{"http://127.0.0.1/cb", "http://127.0.0.1:33418/cb?x", false},
		{"http://127.0.0.1/cb", "http://127.0.0.1:33418/cb#f", false},
		{"http://127.0.0.1/cb", "http://127.0.0.1:33418@evil.example/cb", false},
		{"http://127.0.0.1/cb", "http://127.0.0.1.evil.example/cb", false},
		{"http://127.0.0.1/cb", "https://127.0.0.1:33418/cb", false},
		{"http://127.0.0.1/cb", "http://127.0.0.1:/cb", false},
		{"http://127.0.0.1/cb", "http://127.0.0.1:1a/cb", false},
		{"http://127.0.0.1/cb", "http://127.0.0.1:\u0661/cb", false},
		{"com.example.app:/cb", "com.example.app:/cb", true},
		{"com.example.app:/cb", "com.example.app:/cb2", false},
	} {
		if got := matchRedirect([]string{"https://first.example/", test.registered}, test.sent); got != test.want {
			t.Errorf("registered %s, sent %s: match = %v", test.registered, test.sent, got)
		}
	}
}

func TestH144RedirectKeepsItsQuery(t *testing.T) {
	for uri, want := range map[string]string{
		"https://app.example/cb":       "https://app.example/cb?code=c&state=a%26b%3D+%2B",
		"https://app.example/cb?x=%20": "https://app.example/cb?x=%20&code=c&state=a%26b%3D+%2B",
		"com.example.app:/cb":          "com.example.app:/cb?code=c&state=a%26b%3D+%2B",
	} {
		if got := addQuery(uri, "code", "c", "iss", "", "state", "a&b= +"); got != want {
			t.Errorf("addQuery(%s) = %s, want %s", uri, got, want)
		}
	}
}

// FuzzRedirect checks what follows from the rules for any pair of URIs: what may be registered
// leads to the host that net/url sees in it, and what matches differs in the port at most.
func FuzzRedirect(f *testing.F) {
	for _, uri := range []string{"http://127.0.0.1:1/cb", "http://localhost:80@evil.example", "https://app.example/cb?x", "a:b", "http://[::1]?"} {
		f.Add(uri, "http://127.0.0.1/cb")
	}
	f.Fuzz(func(t *testing.T, uri, registered string) {
		if checkRedirect(uri) == "" {
			u, err := url.Parse(uri)
			if err != nil || u.User != nil || u.Fragment != "" || u.Scheme == "http" && !slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, u.Hostname()) {
				t.Errorf("%q may be registered: %v %v", uri, u, err)
			}
		}
		if checkRedirect(registered) != "" || !matchRedirect([]string{registered}, uri) || uri == registered {
			return
		}
		a, errA := url.Parse(uri)
		b, errB := url.Parse(registered)
		if errA != nil || errB != nil || a.Scheme != "http" || a.Hostname() != b.Hostname() || a.EscapedPath() != b.EscapedPath() || a.RawQuery != b.RawQuery || a.User != nil {
			t.Errorf("%q matches %q", uri, registered)
		}
	})
}
