package mcphttp_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

func (h *fixture) host() string { return strings.TrimPrefix(h.URL, "http://") }

// dial opens a new connection to the server.
func (h *fixture) dial(t testing.TB) *net.TCPConn {
	t.Helper()
	conn, err := net.Dial("tcp", h.host())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return conn.(*net.TCPConn)
}

// patience bounds every wait: it only turns a hang into a failure.
const patience = 5 * time.Minute

// wire sends bytes and reads one response; status 0 when there is none.
func (h *fixture) wire(t testing.TB, text string) (status int, body string) {
	t.Helper()
	conn := h.dial(t)
	go func() { _, _ = io.WriteString(conn, text) }() // the server may stop reading
	return response(conn)
}

func response(conn net.Conn) (status int, body string) {
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return res.StatusCode, err.Error()
	}
	return res.StatusCode, string(raw)
}
