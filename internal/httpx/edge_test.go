package httpx

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
)

// from sets the remote and local address of requests.
func from(peer, local string) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.RemoteAddr = peer
			addr := net.TCPAddrFromAddrPort(netip.MustParseAddrPort(local))
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, addr)))
		})
	}
}

// baseOf returns a handler that responds with R.
func baseOf(e *Edge) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, e.Base(r)) })
}

const (
	localPeer  = "127.0.0.1:50000"
	remotePeer = "203.0.113.9:50000"
)

func TestGate(t *testing.T) {
	fixed := Edge{PublicURL: must(ParsePublicURL("https://data.example"))}
	hosts := Edge{TrustedHosts: must(ParseTrustedHosts([]string{"box,box2:8080,*.tunnel.example", "secure:443"}))}
	proxied := Edge{TrustedProxies: must(ParseTrustedProxies([]string{"10.0.0.0/8"})), TrustedHosts: must(ParseTrustedHosts([]string{"box"}))}
	tests := []struct {
		name        string
		edge        Edge
		peer, local string
		host        string
		header      http.Header
		want        int
		base        string
	}{
		{"localhost from loopback", Edge{}, localPeer, "127.0.0.1:7663", "localhost:7663", nil, 200, "http://localhost:7663"},
		{"subdomain of localhost", Edge{}, localPeer, "127.0.0.1:7663", "a.localhost", nil, 200, "http://a.localhost"},
		{"loopback literal", Edge{}, localPeer, "127.0.0.1:7663", "127.0.0.1:7663", nil, 200, "http://127.0.0.1:7663"},
		{"other loopback literal", Edge{}, localPeer, "127.0.0.1:7663", "127.0.0.2", nil, 200, "http://127.0.0.2"},
		{"IPv6 loopback", Edge{}, "[::1]:5", "[::1]:7663", "[::1]:7663", nil, 200, "http://[::1]:7663"},
		{"upper case", Edge{}, localPeer, "127.0.0.1:7663", "LocalHost:80", nil, 200, "http://localhost"},
		{"localhost from another machine", Edge{}, remotePeer, "192.0.2.1:7663", "localhost", nil, 421, ""},
		{"loopback literal from another machine", Edge{}, remotePeer, "192.0.2.1:7663", "127.0.0.1", nil, 421, ""},
		{"rebinding", Edge{}, localPeer, "127.0.0.1:7663", "evil.example", nil, 421, ""},
		{"rebinding that looks local", Edge{}, localPeer, "127.0.0.1:7663", "localhost.evil.example", nil, 421, ""},
		{"unspecified address", Edge{}, localPeer, "127.0.0.1:7663", "0.0.0.0:7663", nil, 421, ""},
		{"address of the connection", Edge{}, remotePeer, "192.0.2.1:7663", "192.0.2.1:7663", nil, 200, "http://192.0.2.1:7663"},
		{"mapped address of the connection", Edge{}, remotePeer, "[::ffff:192.0.2.1]:7663", "192.0.2.1", nil, 200, "http://192.0.2.1"},
		{"IPv6 address of the connection", Edge{}, "[2001:db8::2]:5", "[2001:db8::1]:7663", "[2001:DB8::1]", nil, 200, "http://[2001:db8::1]"},
		{"another address", Edge{}, remotePeer, "192.0.2.1:7663", "192.0.2.2", nil, 421, ""},

		{"public host", fixed, remotePeer, "192.0.2.1:1", "data.example", nil, 200, "https://data.example"},
		{"public host, port of a tunnel", fixed, remotePeer, "192.0.2.1:1", "Data.Example:8443", nil, 200, "https://data.example"},
		{"R stays fixed on localhost", fixed, localPeer, "127.0.0.1:1", "localhost:1", nil, 200, "https://data.example"},
		{"below the public host", fixed, remotePeer, "192.0.2.1:1", "a.data.example", nil, 421, ""},

		{"trusted name", hosts, remotePeer, "192.0.2.1:1", "box:7663", nil, 200, "http://box:7663"},
		{"trusted name and port", hosts, remotePeer, "192.0.2.1:1", "box2:8080", nil, 200, "http://box2:8080"},
		{"trusted name, other port", hosts, remotePeer, "192.0.2.1:1", "box2:8081", nil, 421, ""},
		{"trusted name, no port", hosts, remotePeer, "192.0.2.1:1", "box2", nil, 421, ""},
		{"port of the other scheme", hosts, remotePeer, "192.0.2.1:1", "secure", nil, 421, ""},
		{"suffix", hosts, remotePeer, "192.0.2.1:1", "a.b.tunnel.example", nil, 200, "http://a.b.tunnel.example"},
		{"bare suffix", hosts, remotePeer, "192.0.2.1:1", "tunnel.example", nil, 421, ""},
		{"suffix without dot", hosts, remotePeer, "192.0.2.1:1", "xtunnel.example", nil, 421, ""},

		{"forwarded by an untrusted peer", Edge{}, localPeer, "127.0.0.1:1", "localhost", headers("X-Forwarded-Host", "box", "X-Forwarded-Proto", "https"), 200, "http://localhost"},
		{"untrusted peer with a trusted forwarded host", proxied, remotePeer, "192.0.2.1:1", "evil.example", headers("X-Forwarded-Host", "box"), 421, ""},
		{"forwarded by a proxy", proxied, "10.1.2.3:5", "10.0.0.1:1", "inner:1", headers("X-Forwarded-Host", "Box:443", "X-Forwarded-Proto", "HTTPS"), 200, "https://box"},
		{"right-most counts", proxied, "10.1.2.3:5", "10.0.0.1:1", "inner", headers("X-Forwarded-Host", "evil.example, box", "X-Forwarded-Proto", "http,https"), 200, "https://box"},
		{"right-most header counts", proxied, "10.1.2.3:5", "10.0.0.1:1", "inner", headers("X-Forwarded-Host", "box", "X-Forwarded-Host", "evil.example"), 421, ""},
		{"proxy without the headers", proxied, "10.1.2.3:5", "10.0.0.1:1", "box", nil, 200, "http://box"},
		{"proxy forwards an unknown host", proxied, "10.1.2.3:5", "10.0.0.1:1", "box", headers("X-Forwarded-Host", "evil.example"), 421, ""},
		{"RFC 7239 is not read", proxied, "10.1.2.3:5", "10.0.0.1:1", "evil.example", headers("Forwarded", "host=box"), 421, ""},
		{"invalid forwarded host", proxied, "10.1.2.3:5", "10.0.0.1:1", "box", headers("X-Forwarded-Host", "box/x"), 400, ""},
		{"invalid forwarded protocol", proxied, "10.1.2.3:5", "10.0.0.1:1", "box", headers("X-Forwarded-Proto", "gopher"), 400, ""},
		{"invalid host", Edge{}, localPeer, "127.0.0.1:1", "a_b..c", nil, 400, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := &tt.edge
			srv := serve(t, Chain(baseOf(e), from(tt.peer, tt.local), WithRequestID, e.Gate, e.Challenge("/mcp")))
			got := send(t, srv, request{path: "/owner/login", host: tt.host, header: tt.header})
			if got.status != tt.want {
				t.Fatalf("status = %d, want %d: %s", got.status, tt.want, got.body)
			}
			if tt.want == 200 && got.body != tt.base {
				t.Errorf("R = %q, want %q", got.body, tt.base)
			}
			if tt.want == 421 && !strings.Contains(got.body, `"code":"misdirected_request"`) {
				t.Errorf("body = %s", got.body)
			}
			if tt.want != 200 && (got.header.Get("WWW-Authenticate") != "" || got.header.Get("Set-Cookie") != "" || strings.Contains(got.body, "resource_metadata")) {
				t.Errorf("the response to an unknown host reveals too much: %v %s", got.header, got.body)
			}
		})
	}
}

func TestGateAdmitsProbes(t *testing.T) {
	srv := serve(t, Chain(ok, WithRequestID, (&Edge{}).Gate))
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/": 421, "/healthz/": 421, "/v1/schema": 421, "/mcp": 421, "/.well-known/oauth-protected-resource": 421} {
		if got := send(t, srv, request{path: path, host: "evil.example"}); got.status != want {
			t.Errorf("%s: status = %d, want %d", path, got.status, want)
		}
	}
}

// TLS on the socket makes R https.
func TestBaseTLS(t *testing.T) {
	e := &Edge{}
	srv := newTLSServer(t, Chain(baseOf(e), WithRequestID, e.Gate))
	if got := send(t, srv, request{host: "localhost:443"}); got.body != "https://localhost" {
		t.Errorf("R = %q", got.body)
	}
}

func TestBaseWithoutGate(t *testing.T) {
	e := &Edge{}
	srv := serve(t, baseOf(e))
	if got := send(t, srv, request{host: "Box:80"}); got.body != "http://box" {
		t.Errorf("R = %q", got.body)
	}
	if got := send(t, srv, request{host: "a..b"}); got.body != "" {
		t.Errorf("R = %q, want empty", got.body)
	}
}

func TestClientAddr(t *testing.T) {
	e := &Edge{TrustedProxies: must(ParseTrustedProxies([]string{"10.0.0.0/8", "fd00::1"}))}
	tests := []struct {
		name string
		peer string
		xff  []string
		want string
	}{
		{"direct", remotePeer, nil, "203.0.113.9"},
		{"header of an untrusted peer", remotePeer, []string{"1.2.3.4"}, "203.0.113.9"},
		{"mapped peer", "[::ffff:203.0.113.9]:1", nil, "203.0.113.9"},
		{"one proxy", "10.0.0.1:1", []string{"1.2.3.4"}, "1.2.3.4"},
		{"mapped proxy", "[::ffff:10.0.0.1]:1", []string{"1.2.3.4"}, "1.2.3.4"},
		{"IPv6 proxy", "[fd00::1]:1", []string{"2001:db8::5"}, "2001:db8::5"},
		{"right-most untrusted address", "10.0.0.1:1", []string{"9.9.9.9, 1.2.3.4, 10.0.0.2"}, "1.2.3.4"},
		{"several headers", "10.0.0.1:1", []string{"9.9.9.9", "1.2.3.4", "10.0.0.2,10.0.0.3"}, "1.2.3.4"},
		{"with ports", "10.0.0.1:1", []string{"1.2.3.4:567"}, "1.2.3.4"},
		{"IPv6 with port", "10.0.0.1:1", []string{"[2001:db8::5]:567"}, "2001:db8::5"},
		{"no header", "10.0.0.1:1", nil, "10.0.0.1"},
		{"only proxies", "10.0.0.1:1", []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		{"invalid entry", "10.0.0.1:1", []string{"1.2.3.4, unknown, 10.0.0.2"}, "10.0.0.2"},
		{"empty", "10.0.0.1:1", []string{""}, "10.0.0.1"},
		{"no socket address", "@", []string{"1.2.3.4"}, "invalid IP"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := &http.Request{RemoteAddr: tt.peer, Header: http.Header{"X-Forwarded-For": tt.xff}}
			if got := e.ClientAddr(r).String(); got != tt.want {
				t.Errorf("ClientAddr = %s, want %s", got, tt.want)
			}
		})
	}
}
