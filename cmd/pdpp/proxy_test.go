package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// needProgram returns the path of a program that only tests need, or skips the test.
// .ci/run installs these programs if it can.
func needProgram(t *testing.T, name string) string {
	t.Helper()
	for _, place := range []string{name, "/usr/sbin/" + name} { // often missing in the PATH of users
		if path, err := exec.LookPath(place); err == nil {
			return path
		}
	}
	t.Skipf("%s is not installed", name)
	return ""
}

// nginxConfig is a typical proxy with TLS. It forwards the requested host unchanged.
const nginxConfig = `
daemon off;
master_process off;
pid %[1]s/nginx.pid;
error_log stderr warn;
events {}
http {
	access_log off;
	client_body_temp_path %[1]s/body;
	proxy_temp_path %[1]s/proxy;
	fastcgi_temp_path %[1]s/fastcgi;
	uwsgi_temp_path %[1]s/uwsgi;
	scgi_temp_path %[1]s/scgi;
	server {
		listen %[2]s ssl;
		ssl_certificate %[1]s/cert.pem;
		ssl_certificate_key %[1]s/key.pem;
		location / {
			proxy_pass http://%[3]s;
			proxy_set_header X-Forwarded-Host $http_host;
			proxy_set_header X-Forwarded-Proto $scheme;
			proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
		}
	}
}
`

// startNginx starts nginx as a proxy of a server and returns its address and certificate.
func startNginx(t *testing.T, nginx, upstream string) (addr string, roots *x509.CertPool) {
	t.Helper()
	dir := t.TempDir()
	cert := filepath.Join(dir, "cert.pem")
	writeCertificate(t, cert, filepath.Join(dir, "key.pem"), 1)
	pem, err := os.ReadFile(cert)
	if err != nil {
		t.Fatal(err)
	}
	roots = x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		t.Fatal("the certificate is not valid")
	}
	addr = freeAddr(t)
	config := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(config, fmt.Appendf(nil, nginxConfig, dir, addr, upstream), 0o600); err != nil {
		t.Fatal(err)
	}
	p := startProgram(t, exec.Command(nginx, "-e", "stderr", "-p", dir, "-c", config))
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			conn.Close()
			return addr, roots
		}
		select {
		case <-p.done:
			t.Fatalf("nginx ended:\n%s", p.stderr)
		default:
		}
		if time.Now().After(end) {
			t.Fatalf("nginx does not listen:\n%s", p.stderr)
		}
	}
}

// freeAddr returns a free address.
func freeAddr(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// caller sends requests from an address of this machine to one server, independent of the
// host in their URLs.
type caller struct{ http.Client }

func newCaller(t *testing.T, from, to string, roots *x509.CertPool) *caller {
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	transport := &http.Transport{
		DialContext:     func(ctx context.Context, _, _ string) (net.Conn, error) { return dialer.DialContext(ctx, "tcp", to) },
		TLSClientConfig: &tls.Config{RootCAs: roots},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &caller{http.Client{Transport: transport}}
}

// get requests a URL. Headers have the form "Name: value".
func (c *caller) get(t *testing.T, url string, headers ...string) (*http.Response, string) {
	t.Helper()
	return c.send(t, http.MethodGet, url, "", headers)
}

// call sends a message to the hosted endpoint.
func (c *caller) call(t *testing.T, url, message string, headers ...string) (*http.Response, string) {
	t.Helper()
	return c.send(t, http.MethodPost, url, message, append(headers, "Content-Type: application/json"))
}

func (c *caller) send(t *testing.T, method, url, text string, headers []string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	res, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(body)
}

// documents are the public documents that contain URLs.
var documents = []string{
	"/", "/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp",
}

var webURL = regexp.MustCompile(`"https?://[^"]*"`)

// checkURLs checks that all URLs in an answer are below base, and that there are enough.
func checkURLs(t *testing.T, what, body, base string, atLeast int) {
	t.Helper()
	found := webURL.FindAllString(body, -1)
	if len(found) < atLeast || !json.Valid([]byte(body)) {
		t.Errorf("%s has %d URLs: %s", what, len(found), body)
	}
	for _, u := range found {
		// The type of authorization details is a name, not an address.
		if u = strings.Trim(u, `"`); u != base && !strings.HasPrefix(u, base+"/") && u != "https://pdpp.dev/data-access" {
			t.Errorf("%s names %s, want it below %s", what, u, base)
		}
	}
}

// checkOrigin checks that documents and challenges have only URLs below base.
func checkOrigin(t *testing.T, c *caller, at, base string, headers ...string) {
	t.Helper()
	for _, path := range documents {
		res, body := c.get(t, at+path, headers...)
		if res.StatusCode != 200 {
			t.Errorf("%s: %s, %s", path, res.Status, body)
		}
		checkURLs(t, path, body, base, 3)
	}
	for path, suffix := range map[string]string{"/v1/schema": "", "/mcp": "/mcp"} {
		res, _ := c.get(t, at+path, headers...)
		want := `resource_metadata="` + base + `/.well-known/oauth-protected-resource` + suffix + `"`
		if got := res.Header.Get("WWW-Authenticate"); res.StatusCode != 401 || !strings.Contains(got, want) {
			t.Errorf("%s: %s with the challenge %q, want %s", path, res.Status, got, want)
		}
	}
}

// checkEndpoint checks the same for the server's identity and for the records of tools.
func checkEndpoint(t *testing.T, c *caller, at, base, token string, headers ...string) {
	t.Helper()
	headers = append(headers, "Authorization: Bearer "+token)
	_, hello := c.call(t, at+"/mcp", initialize, headers...)
	for _, want := range []string{`"src":"` + base + `/icon.svg"`, `"websiteUrl":"` + base + `"`} {
		if !strings.Contains(hello, want) {
			t.Errorf("no %s in %s", want, hello)
		}
	}
	checkURLs(t, "initialize", hello, base, 2)
	tool := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"%s","arguments":%s}}`
	_, list := c.call(t, at+"/mcp", fmt.Sprintf(tool, "query_records", `{"stream":"entries"}`), headers...)
	checkURLs(t, "query_records", list, base, 1)
	_, record := c.call(t, at+"/mcp", fmt.Sprintf(tool, "fetch", `{"id":"entries:e3"}`), headers...)
	if !strings.Contains(record, `"url":"`+base+`/v1/streams/entries/records/e3`) {
		t.Errorf("the record has no URL below %s: %s", base, record)
	}
	checkURLs(t, "fetch", record, base, 1)
}

// TestBehindNginx serves behind a real proxy with TLS. All run on this machine: the proxy is
// 127.0.0.1, which the server trusts, and clients have other addresses of 127.0.0.0/8.
func TestBehindNginx(t *testing.T) {
	nginx := needProgram(t, "nginx")
	if ln, err := net.Listen("tcp", "127.0.0.2:0"); err != nil {
		t.Skip("127.0.0.2 is not an address of this machine")
	} else {
		ln.Close()
	}
	dir, token := storeEntries(t)
	p := start(t, "--data", dir, "serve", "--listen", "127.0.0.1:0", "--trusted-hosts", "data.example", "--trusted-proxies", "127.0.0.1/32")
	direct := strings.TrimPrefix(p.await(t, p.stderr, listening), "http://")
	proxy, roots := startNginx(t, nginx, direct)

	const public = "https://data.example"
	alice, bob := newCaller(t, "127.0.0.3", proxy, roots), newCaller(t, "127.0.0.4", proxy, roots)
	stranger := newCaller(t, "127.0.0.2", direct, nil)

	t.Run("META-3 documents and challenge name the public origin", func(t *testing.T) {
		checkOrigin(t, alice, public, public)
		checkOrigin(t, alice, public, public, "X-Forwarded-Host: evil.example", "X-Forwarded-Proto: http")
	})
	t.Run("META-3 forwarded headers of a direct peer are ignored", func(t *testing.T) {
		checkOrigin(t, stranger, "http://"+direct, "http://"+direct,
			"X-Forwarded-Host: data.example", "X-Forwarded-Proto: https", "X-Forwarded-For: 127.0.0.1")
	})
	t.Run("META-3 ICON-1 so do the hosted endpoint and its tools", func(t *testing.T) {
		checkEndpoint(t, alice, public, public, token)
		checkEndpoint(t, alice, public, public, token, "X-Forwarded-Host: evil.example", "X-Forwarded-Proto: http")
		checkEndpoint(t, stranger, "http://"+direct, "http://"+direct, token,
			"X-Forwarded-Host: data.example", "X-Forwarded-Proto: https", "X-Forwarded-For: 127.0.0.1")
	})
	t.Run("H-126 an unknown host is misdirected", func(t *testing.T) {
		for _, path := range append([]string{"/v1/schema", "/mcp", "/icon.svg"}, documents...) {
			throughProxy, body := alice.get(t, "https://other.example"+path, "Authorization: Bearer "+token)
			straight, _ := stranger.get(t, "http://other.example"+path)
			if throughProxy.StatusCode != 421 || straight.StatusCode != 421 || !strings.Contains(body, "misdirected_request") {
				t.Errorf("%s: %s through the proxy, %s directly: %s", path, throughProxy.Status, straight.Status, body)
			}
			if throughProxy.Header.Get("WWW-Authenticate") != "" || strings.Contains(body, "://") {
				t.Errorf("%s: the answer to a misdirected request has %v %s", path, throughProxy.Header, body)
			}
		}
	})
	t.Run("H-120 failures count for the address that the proxy saw", func(t *testing.T) {
		schema := public + "/v1/schema"
		for i := range 60 { // H-68
			bad, spoofed := fmt.Sprint("Authorization: Bearer wrong", i), fmt.Sprint("X-Forwarded-For: 203.0.113.", i)
			if res, body := alice.get(t, schema, bad, spoofed); res.StatusCode != 401 {
				t.Fatalf("failure %d: %s %s", i+1, res.Status, body)
			}
		}
		const bad = "Authorization: Bearer wrong"
		for _, tt := range []struct {
			who     string
			from    *caller
			url     string
			headers []string
			status  int
		}{
			{"alice", alice, schema, []string{bad}, 429},
			{"alice as another", alice, schema, []string{bad, "X-Forwarded-For: 203.0.113.99"}, 429},
			{"alice with a good token", alice, schema, []string{"Authorization: Bearer " + token}, 200},
			{"bob", bob, schema, []string{bad}, 401},
			{"bob as alice", bob, schema, []string{bad, "X-Forwarded-For: 127.0.0.3"}, 401},
			{"a stranger as alice", stranger, "http://" + direct + "/v1/schema", []string{bad, "X-Forwarded-For: 127.0.0.3"}, 401},
		} {
			res, body := tt.from.get(t, tt.url, tt.headers...)
			if res.StatusCode != tt.status || strings.Contains(body, "Too many invalid tokens") != (tt.status == 429) {
				t.Errorf("%s: %s, want %d: %s", tt.who, res.Status, tt.status, body)
			}
		}
	})
}
