package httpx

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pdpp"
)

func TestParsePublicURL(t *testing.T) {
	for in, want := range map[string]string{
		"":                           "",
		"https://data.example":       "https://data.example",
		"https://data.example/":      "https://data.example",
		"HTTPS://Data.Example:443":   "https://data.example",
		"http://localhost:80":        "http://localhost",
		"http://[::1]:7663":          "http://[::1]:7663",
		"https://data.example:8443/": "https://data.example:8443",
	} {
		o, err := ParsePublicURL(in)
		if err != nil || o.String() != want || o.IsZero() != (want == "") {
			t.Errorf("ParsePublicURL(%q) = %q, %v, want %q", in, o, err, want)
		}
	}
	for _, in := range []string{
		"data.example", "ftp://data.example", "https://", "https://data.example/x", "https://data.example//",
		"https://data.example?x", "https://data.example#x", "https://me@data.example", "https://data.example:99999", "//data.example",
	} {
		wantUsage(t, "--public-url", in, func() error { _, err := ParsePublicURL(in); return err })
	}
}

func TestParseLists(t *testing.T) {
	for _, in := range []string{"*", "*.", "https://a", "a/b", "*.10.0.0.1", "a b", "*.*.a"} {
		wantUsage(t, "--trusted-hosts", in, func() error { _, err := ParseTrustedHosts([]string{in}); return err })
	}
	for _, in := range []string{"10.0.0.0/33", "proxy", "10.0.0", "::ffff:10.0.0.0/104", "fe80::1%eth0"} {
		wantUsage(t, "--trusted-proxies", in, func() error { _, err := ParseTrustedProxies([]string{in}); return err })
	}
	for _, in := range []string{"app.example", "https://app.example/", "https://*", "https://*.", "null", "https://*.10.0.0.1", "https://a.*.b"} {
		wantUsage(t, "--allowed-origins", in, func() error { _, err := ParseAllowedOrigins([]string{in}); return err })
	}
}

func wantUsage(t *testing.T, flag, value string, parse func() error) {
	t.Helper()
	err := parse()
	if pdpp.CodeOf(err) != pdpp.CodeUsage {
		t.Errorf("%s %q: error %v, want usage", flag, value, err)
		return
	}
	if !strings.Contains(err.Error(), flag) || !strings.Contains(err.Error(), value) {
		t.Errorf("%s %q: message %q does not name both", flag, value, err)
	}
}

func TestParseTrustedProxies(t *testing.T) {
	got, err := ParseTrustedProxies([]string{"10.1.2.3/8, 192.0.2.7", "", "fd00::/8,::ffff:192.0.2.8"})
	if err != nil {
		t.Fatal(err)
	}
	var text []string
	for _, p := range got {
		text = append(text, netip.Prefix.String(p))
	}
	want := []string{"10.0.0.0/8", "192.0.2.7/32", "fd00::/8", "192.0.2.8/32"}
	if d := cmp.Diff(want, text); d != "" {
		t.Error(d)
	}
}

func TestCheckSettings(t *testing.T) {
	edge := func(url, hosts, proxies string) *Edge {
		return &Edge{
			PublicURL:      must(ParsePublicURL(url)),
			TrustedHosts:   must(ParseTrustedHosts([]string{hosts})),
			TrustedProxies: must(ParseTrustedProxies([]string{proxies})),
		}
	}
	const nc = pdpp.CodeNotConfigured
	tests := []struct {
		name string
		s    Settings
		want pdpp.Code
	}{
		{"default", Settings{Listen: "127.0.0.1:7663", Edge: edge("", "", "")}, ""},
		{"localhost", Settings{Listen: "localhost:0", Edge: edge("", "", "")}, ""},
		{"IPv6 loopback", Settings{Listen: "[::1]:7663", Edge: edge("", "", "")}, ""},
		{"all addresses", Settings{Listen: ":7663", Edge: edge("", "", "")}, nc},
		{"all addresses, IPv4", Settings{Listen: "0.0.0.0:7663", Edge: edge("", "", "")}, nc},
		{"all addresses, IPv6", Settings{Listen: "[::]:7663", Edge: edge("", "", "")}, nc},
		{"named interface", Settings{Listen: "box:7663", Edge: edge("", "", "")}, nc},
		{"all addresses, https URL without TLS", Settings{Listen: ":7663", Edge: edge("https://data.example", "", "")}, nc},
		{"all addresses with TLS", Settings{Listen: ":7663", TLS: true, Edge: edge("", "", "")}, ""},
		{"all addresses behind a proxy", Settings{Listen: ":7663", Edge: edge("https://data.example", "", "10.0.0.0/8")}, ""},
		{"all addresses, loopback URL (a container)", Settings{Listen: ":7663", Edge: edge("http://localhost:7663", "", "")}, ""},
		{"all addresses, plain HTTP allowed", Settings{Listen: ":7663", AllowPlainHTTP: true, Edge: edge("", "", "")}, ""},
		{"plain public URL", Settings{Listen: "127.0.0.1:7663", Edge: edge("http://data.example", "", "")}, nc},
		{"plain public URL with TLS", Settings{Listen: ":7663", TLS: true, Edge: edge("http://data.example", "", "")}, nc},
		{"plain public URL, plain HTTP allowed", Settings{Listen: "127.0.0.1:7663", AllowPlainHTTP: true, Edge: edge("http://data.example", "", "")}, ""},
		{"plain loopback URL", Settings{Listen: "127.0.0.1:7663", Edge: edge("http://a.localhost", "", "")}, ""},
		{"proxies alone", Settings{Listen: "127.0.0.1:7663", Edge: edge("", "", "127.0.0.1")}, nc},
		{"proxies alone, plain HTTP allowed", Settings{Listen: "127.0.0.1:7663", AllowPlainHTTP: true, Edge: edge("", "", "127.0.0.1")}, nc},
		{"proxies and hosts", Settings{Listen: "127.0.0.1:7663", Edge: edge("", "data.example", "127.0.0.1")}, ""},
		{"invalid address", Settings{Listen: "7663", Edge: edge("", "", "")}, pdpp.CodeUsage},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := CheckSettings(tt.s)
			if got := pdpp.CodeOf(err); got != tt.want {
				t.Errorf("CheckSettings = %v, want code %q", err, tt.want)
			}
		})
	}
}
