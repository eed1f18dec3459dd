package outbound

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestH190Addresses(t *testing.T) {
	for _, tt := range []struct {
		why    string
		public bool
		addrs  string
	}{
		{"public", true, "8.8.8.8 1.1.1.1 100.63.255.255 100.128.0.1 172.15.0.1 172.32.0.1 198.17.0.1 223.255.255.255 2606:4700::1111 2a00:1450::1 2003::1"},
		{"public, IPv4-mapped", true, "::ffff:8.8.8.8"},
		{"public, NAT64", true, "64:ff9b::8.8.8.8"},
		{"loopback", false, "127.0.0.1 127.255.255.254 ::1"},
		{"private", false, "10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1"},
		{"unique local", false, "fc00::1 fd12:3456::1"},
		{"carrier-grade NAT", false, "100.64.0.1 100.127.255.255"},
		{"metadata services", false, "169.254.169.254 169.254.170.2 fd00:ec2::254 100.100.100.200 192.0.0.192 168.63.129.16"},
		{"link-local", false, "169.254.0.1 fe80::1 fe80::1%eth0"},
		{"multicast, broadcast", false, "224.0.0.1 239.255.255.250 255.255.255.255 ff02::1"},
		{"documentation", false, "192.0.2.1 198.51.100.1 203.0.113.1 2001:db8::1 3fff::1"},
		{"benchmarking", false, "198.18.0.1 198.19.255.255 2001:2::1"},
		{"reserved, unspecified", false, "0.0.0.0 0.1.2.3 240.0.0.1 :: 100::1 ::8.8.8.8 5f00::1 4000::1"},
		{"6to4", false, "2002:808:808::1 2002:7f00:1::1 192.88.99.1"},
		{"Teredo", false, "2001:0:4136:e378:8000:63bf:3fff:fdd2"},
		{"IPv4-mapped", false, "::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254"},
		{"NAT64", false, "64:ff9b::127.0.0.1 64:ff9b::10.0.0.1 64:ff9b::169.254.169.254 64:ff9b:1::8.8.8.8"},
		{"zone", false, "2606:4700::1111%eth0"},
	} {
		for _, s := range strings.Fields(tt.addrs) {
			if got := isPublic(netip.MustParseAddr(s)); got != tt.public {
				t.Errorf("isPublic(%s) = %v, want %v: %s", s, got, tt.public, tt.why)
			}
		}
	}
	if isPublic(netip.Addr{}) {
		t.Error("an invalid address is public")
	}
}

// names is a resolver with one list of addresses per look-up; the last one is repeated.
type names struct {
	mu      sync.Mutex
	answers [][]string
	asked   int
}

func (n *names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	answer := n.answers[min(n.asked, len(n.answers)-1)]
	n.asked++
	var out []netip.Addr
	for _, s := range answer {
		out = append(out, netip.MustParseAddr(s))
	}
	if len(out) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, Server: "192.168.7.7:53", IsNotFound: true}
	}
	return out, nil
}

// world is a TLS server for example.com, and a client whose connections all reach it.
type world struct {
	client *http.Client
	names  *names
	dialed []string
	fail   []string // addresses that refuse connections
	hits   []*http.Request
}

func newWorld(t *testing.T, handler http.HandlerFunc, answers ...[]string) *world {
	t.Helper()
	w := &world{names: &names{answers: answers}}
	var mu sync.Mutex
	srv := httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		mu.Lock()
		w.hits = append(w.hits, r)
		mu.Unlock()
		handler(rw, r)
	}))
	t.Cleanup(srv.Close)
	roots := x509.NewCertPool()
	roots.AddCert(srv.Certificate())
	policy := Policy{RootCAs: roots, Resolver: w.names}
	w.client = policy.Client(time.Minute)
	w.client.Transport = policy.transport(func(ctx context.Context, network, address string) (net.Conn, error) {
		w.dialed = append(w.dialed, address)
		if slices.Contains(w.fail, address) {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connect " + address + ": connection refused")}
		}
		var d net.Dialer
		return d.DialContext(ctx, network, srv.Listener.Addr().String())
	})
	return w
}

func (w *world) get(t *testing.T, target string) (*http.Response, *Error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
	if err != nil {
		t.Fatal(err)
	}
	return do(t, w.client, req)
}

// do returns a response whose body is read, or an error of the policy.
func do(t *testing.T, c *http.Client, req *http.Request) (*http.Response, *Error) {
	t.Helper()
	resp, err := c.Do(req)
	if err != nil {
		var e *Error
		if !errors.As(err, &e) {
			t.Fatalf("error %v is not of the package", err)
		}
		return nil, e
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Fatal(err)
	}
	return resp, nil
}

func ok(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }

// The connection goes to a checked address, and TLS is about the host of the URL.
func TestH190ConnectsToTheCheckedAddress(t *testing.T) {
	w := newWorld(t, ok, []string{"8.8.8.8", "2606:4700::1111"})
	w.fail = []string{"8.8.8.8:443"}
	if _, err := w.get(t, "https://example.com/client"); err != nil {
		t.Fatal(err)
	}
	if want := []string{"8.8.8.8:443", "[2606:4700::1111]:443"}; !slices.Equal(w.dialed, want) || w.names.asked != 1 {
		t.Errorf("dialed %v after %d look-ups, want %v after one", w.dialed, w.names.asked, want)
	}
	if w.hits[0].TLS.ServerName != "example.com" || w.hits[0].Host != "example.com" {
		t.Errorf("server name %q, host %q", w.hits[0].TLS.ServerName, w.hits[0].Host)
	}
	if _, err := w.get(t, "https://example.com:8443/client"); err != nil || w.dialed[len(w.dialed)-1] != "8.8.8.8:8443" {
		t.Errorf("dialed %v, %v", w.dialed, err)
	}
	if _, err := w.get(t, "https://other.test/client"); err == nil || err.Reason != "has no valid certificate" || err.Refused {
		t.Errorf("another host = %v", err)
	}
}

func TestH190Refused(t *testing.T) {
	nine := strings.Fields("8.8.8.1 8.8.8.2 8.8.8.3 8.8.8.4 8.8.8.5 8.8.8.6 8.8.8.7 8.8.8.8 8.8.8.9")
	for _, tt := range []struct {
		name, target string
		answer       []string
		reason       string
	}{
		{"nine addresses", "https://example.com/", nine, "too many addresses"},
		{"one of two is private", "https://example.com/", []string{"8.8.8.8", "10.0.0.7"}, "not public"},
		{"IPv4-mapped", "https://example.com/", []string{"::ffff:10.0.0.7"}, "not public"},
		{"NAT64", "https://example.com/", []string{"64:ff9b::10.0.0.7"}, "not public"},
		{"loopback literal", "https://127.0.0.1/", nil, "not public"},
		{"loopback literal, IPv6", "https://[::1]/", nil, "not public"},
		{"localhost", "https://localhost/", []string{"127.0.0.1"}, "not public"},
		{"metadata literal", "https://169.254.169.254/latest/meta-data/", nil, "not public"},
		{"http", "http://example.com/", []string{"8.8.8.8"}, "https"},
		{"another scheme", "gopher://example.com/", []string{"8.8.8.8"}, "https"},
		{"userinfo", "https://u:p@example.com/", []string{"8.8.8.8"}, "credentials"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, ok, tt.answer)
			_, err := w.get(t, tt.target)
			if err == nil || !err.Refused || !strings.Contains(err.Reason, tt.reason) || len(w.dialed) > 0 {
				t.Fatalf("error %v, dialed %v; want a refusal with %q", err, w.dialed, tt.reason)
			}
			if strings.Contains(err.Error(), "10.0.0.7") || strings.Contains(err.Error(), "8.8.8") {
				t.Errorf("error %q contains an address", err)
			}
		})
	}
	w := newWorld(t, ok, nine[:8])
	if _, err := w.get(t, "https://example.com/"); err != nil {
		t.Errorf("eight addresses: %v", err)
	}
}

// The second attempt is checked like the first, and not made over its connection.
func TestH190Rebinding(t *testing.T) {
	w := newWorld(t, ok, []string{"8.8.8.8"}, []string{"127.0.0.1"})
	if _, err := w.get(t, "https://example.com/"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.get(t, "https://example.com/"); err == nil || !err.Refused {
		t.Errorf("second attempt = %v, want a refusal", err)
	}
	if len(w.dialed) != 1 || len(w.hits) != 1 {
		t.Errorf("dialed %v, %d requests", w.dialed, len(w.hits))
	}
}

func TestH190RedirectsAndCookies(t *testing.T) {
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		http.SetCookie(rw, &http.Cookie{Name: "a", Value: "b"})
		http.Redirect(rw, r, "https://example.com/elsewhere", http.StatusFound)
	}, []string{"8.8.8.8"})
	for range 2 {
		resp, err := w.get(t, "https://example.com/client")
		if err != nil || resp.StatusCode != http.StatusFound {
			t.Fatalf("response %v, %v, want the redirect", resp, err)
		}
	}
	for _, hit := range w.hits {
		if hit.URL.Path != "/client" || hit.Header.Get("Cookie") != "" {
			t.Errorf("request for %s with cookie %q", hit.URL.Path, hit.Header.Get("Cookie"))
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://example.com/", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer x")
	if _, err := do(t, w.client, req); err == nil || !err.Refused {
		t.Errorf("request with credentials = %v, want a refusal", err)
	}
}

func TestH190NoProxy(t *testing.T) {
	tr, isOurs := Policy{}.Transport().(*transport)
	if !isOurs || tr.base.Proxy != nil || !tr.base.DisableKeepAlives {
		t.Errorf("transport = %+v", tr)
	}
}

// Errors contain no address that the caller did not send, neither of the host nor of our
// own network.
func TestH190ErrorsHaveNoAddresses(t *testing.T) {
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(rw, "half")
		_ = http.NewResponseController(rw).Flush()
		panic(http.ErrAbortHandler)
	}, []string{"8.8.4.4"})
	resp, err := w.client.Get("https://example.com/")
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	var cut *Error
	if !errors.As(err, &cut) || err.Error() != "example.com did not send a complete answer" {
		t.Errorf("error of a cut body = %v", err)
	}
	w.fail = []string{"8.8.4.4:443"}
	if _, err := w.get(t, "https://example.com/"); err == nil || err.Error() != "example.com could not be reached" || err.Refused {
		t.Errorf("error of a closed port = %v", err)
	}
	w.names.answers = [][]string{nil}
	if _, err := w.get(t, "https://example.com/"); err == nil || err.Error() != "example.com could not be resolved" {
		t.Errorf("error of an unknown host = %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://example.com/", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := do(t, w.client, req); err == nil || err.Reason != "did not answer before the request was canceled" {
		t.Errorf("error of a cancelled request = %v", err)
	}
}

// The allowance is for the names of this computer, not for names that resolve to it.
func TestH192AllowLoopback(t *testing.T) {
	srv := httptest.NewTLSServer(http.HandlerFunc(ok))
	t.Cleanup(srv.Close)
	plain := httptest.NewServer(http.HandlerFunc(ok))
	t.Cleanup(plain.Close)
	roots := x509.NewCertPool()
	roots.AddCert(srv.Certificate())
	client := Policy{AllowLoopback: true, RootCAs: roots, Resolver: &names{answers: [][]string{{"127.0.0.1"}}}}.Client(time.Minute)
	port := func(raw string) string {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		return u.Port()
	}
	for target, allowed := range map[string]bool{
		srv.URL: true, plain.URL: true, "http://localhost:" + port(plain.URL): true,
		"https://example.com:" + port(srv.URL): false, "http://example.com:" + port(plain.URL): false, "https://10.0.0.1": false,
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := do(t, client, req); (err == nil) != allowed {
			t.Errorf("%s: %v, want allowed = %v", target, err, allowed)
		}
	}
}
