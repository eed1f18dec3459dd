package rs_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"pdpp"
	"pdpp/internal/rs/resttest"
)

// TestAmbiguousFraming: the server closes the connection after a request whose length is
// ambiguous, and ignores the bytes after it (H-66).
func TestAmbiguousFraming(t *testing.T) {
	w := resttest.New(t)
	host := strings.TrimPrefix(w.URL, "http://")
	second := "GET /healthz HTTP/1.1\r\nHost: " + host + "\r\n\r\n"
	for _, c := range []struct {
		name, request string
		answers       int
	}{
		{
			"Content-Length and chunked", "POST /oauth/token HTTP/1.1\r\nHost: " + host + "\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 1,
		},
		{"Content-Length and chunked in HTTP/1.0", "POST /oauth/token HTTP/1.0\r\nHost: " + host + "\r\nConnection: keep-alive\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}", 1},
		{"Content-Length alone", "POST /oauth/token HTTP/1.1\r\nHost: " + host + "\r\nContent-Length: 2\r\n\r\n{}", 2},
	} {
		t.Run("H-66 "+c.name, func(t *testing.T) {
			conn, err := net.Dial("tcp", host)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			conn.SetDeadline(time.Now().Add(maxWait))
			if _, err := io.WriteString(conn, c.request+second+strings.Replace(second, "\r\n\r\n", "\r\nConnection: close\r\n\r\n", 1)); err != nil {
				t.Fatal(err)
			}
			in := bufio.NewReader(conn)
			first, err := http.ReadResponse(in, nil)
			if err != nil || first.StatusCode != http.StatusBadRequest {
				t.Fatalf("first answer %v, error %v, want status 400", first, err)
			}
			if _, err := io.Copy(io.Discard, first.Body); err != nil {
				t.Fatal(err)
			}
			next, err := http.ReadResponse(in, nil)
			if isRead := err == nil; isRead != (c.answers > 1) {
				t.Errorf("second answer: %t (%v, %v), want %t", isRead, next, err, c.answers > 1)
			}
		})
	}
}

// TestEscapedPaths: an escaped or unclean path is not the path that it resolves to (C-3).
func TestEscapedPaths(t *testing.T) {
	w := resttest.New(t)
	for _, path := range []string{
		"/%6dcp", "/mcp%2f", "/mcp/", "//mcp", "/./mcp", "/v1/../mcp", "/%68ealthz", "/healthz/", "/%761/schema", "/v1/%73chema", "/v1%2fschema",
		"/%2e%2e/v1/schema", "/v1/./schema", "/v1//schema", "/.well-known/%6fauth-protected-resource", "/%2ewell-known/oauth-protected-resource",
		"/.well-known/../v1/schema", "/%2f", "/icon%2esvg", "/%72egister",
	} {
		expectError(t, w.Get(w.OwnerToken(), path), 404, pdpp.CodeNotFound)
	}
}
