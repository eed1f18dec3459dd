package httpx

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"pdpp"
)

// logBuffer is a buffer for concurrent writers.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

// lines returns the lines with that msg.
func (b *logBuffer) lines(msg string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []string
	for line := range strings.Lines(b.buf.String()) {
		if strings.Contains(line, "msg="+msg) {
			out = append(out, line)
		}
	}
	return out
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// logged wraps h in a chain that logs to a buffer. Tests close the server before they
// read the buffer, so that it contains every line.
func logged(h http.Handler) (http.Handler, *logBuffer) {
	var buf logBuffer
	log := slog.New(slog.NewTextHandler(&buf, &slog.HandlerOptions{Level: slog.LevelDebug}))
	return Chain(h, WithRequestID, AccessLog(log, time.Now), Recover), &buf
}

const (
	secretToken = "pdpp_at_SECRETSECRET"
	secretQuery = "q=tax+return&filter%5Bname%5D=SECRETNAME"
	secretID    = "SECRETRECORD"
	secretMCP   = "pdpp://record/SECRETHANDLE"
)

// private returns a request with a secret in every part.
func private(path string) request {
	return request{method: "POST", path: path + "?" + secretQuery, body: strings.NewReader("SECRETBODY"), header: headers(
		"Authorization", "Bearer "+secretToken, "Cookie", "s=SECRETCOOKIE", "Mcp-Name", secretMCP, "Request-Id", "abc")}
}

// wantPrivate checks that the log contains nothing of the request but its id (H-160).
func wantPrivate(t *testing.T, log string) {
	t.Helper()
	for _, s := range []string{"SECRET", "tax", "filter", "Bearer", "Cookie"} {
		if strings.Contains(log, s) {
			t.Errorf("the log contains %q:\n%s", s, log)
		}
	}
}

func TestHandlerLogsFailureOnce(t *testing.T) {
	cause := &pdpp.Error{Code: pdpp.CodeInternal, Op: "store.records", Err: errors.New("disk is full")}
	h, log := logged(failing(fmt.Errorf("list: %w", cause)))
	srv := serve(t, h)
	got := send(t, srv, private("/v1/streams/"+secretID))
	srv.Close()
	lines := log.lines(`"request failed"`)
	if got.status != 500 || len(lines) != 1 {
		t.Fatalf("status %d, log:\n%s", got.status, log)
	}
	for _, want := range []string{"level=ERROR", "op=store.records", "disk is full", "request_id=abc", "code=api_error"} {
		if !strings.Contains(lines[0], want) {
			t.Errorf("no %q in %s", want, lines[0])
		}
	}
	wantPrivate(t, log.String())
}

// An error text that contains parts of the request is redacted in the log.
func TestHandlerRedacts(t *testing.T) {
	h, log := logged(Handler(func(w http.ResponseWriter, r *http.Request) error {
		return fmt.Errorf("get %s with %q: refused", r.URL.RawQuery, r.Header.Get("Authorization"))
	}))
	srv := serve(t, h)
	send(t, srv, private("/x"))
	srv.Close()
	if n := len(log.lines(`"request failed"`)); n != 1 {
		t.Errorf("%d lines, want 1", n)
	}
	wantPrivate(t, log.String())
}

func TestHandlerLogLevels(t *testing.T) {
	for code, want := range map[pdpp.Code]string{
		pdpp.CodeNotFound: "", pdpp.CodeInvalidToken: "", pdpp.CodeOverloaded: "", pdpp.CodeRateLimited: "",
		pdpp.CodeUnavailable: "level=WARN", pdpp.CodeTimeout: "level=WARN", pdpp.CodeInternal: "level=ERROR",
	} {
		h, log := logged(failing(pdpp.Errorf(code, "x")))
		srv := serve(t, h)
		send(t, srv, request{})
		srv.Close()
		lines := log.lines(`"request failed"`)
		if want == "" && len(lines) != 0 || want != "" && (len(lines) != 1 || !strings.Contains(lines[0], want)) {
			t.Errorf("%s: %q, want %q", code, lines, want)
		}
	}
}

func TestPanics(t *testing.T) {
	tests := []struct {
		name  string
		cause string
		f     func()
	}{
		{"runtime", "integer divide by zero", func() { var zero int; _ = 1 / zero }},
		{"text", "value of type string", func() { panic("SECRET") }},
		{"error", "value of type *errors.errorString", func() { panic(errors.New("SECRET")) }},
	}
	for _, tt := range tests {
		inHandler := Handler(func(http.ResponseWriter, *http.Request) error { tt.f(); return nil })
		inMiddleware := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { tt.f() })
		for where, inner := range map[string]http.Handler{"handler": inHandler, "middleware": inMiddleware} {
			t.Run(tt.name+" in "+where, func(t *testing.T) {
				h, log := logged(inner)
				srv := serve(t, h)
				got := send(t, srv, private("/v1/streams/"+secretID))
				srv.Close()
				if got.status != 500 || errorOf(t, got)["message"] != "Something went wrong on this server." {
					t.Errorf("response: %d %s", got.status, got.body)
				}
				lines := log.lines("panic")
				if len(lines) != 1 || !strings.Contains(lines[0], tt.cause) || !strings.Contains(lines[0], "handler_test.go") || !strings.Contains(lines[0], "request_id=abc") {
					t.Errorf("log:\n%s", log)
				}
				wantPrivate(t, log.String())
			})
		}
	}
}

// A truncated body must not look complete.
func TestFailureDuringResponseAborts(t *testing.T) {
	for name, end := range map[string]func() error{
		"error": func() error { return errors.New("lost the store") },
		"panic": func() error { panic("x") },
		"abort": func() error { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			h, log := logged(Handler(func(w http.ResponseWriter, r *http.Request) error {
				io.WriteString(w, `{"data":[`)
				if err := http.NewResponseController(w).Flush(); err != nil {
					return err
				}
				return end()
			}))
			srv := serve(t, h)
			res, err := srv.Client().Get(srv.URL)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(res.Body)
			res.Body.Close()
			if err == nil {
				t.Errorf("read %q without an error", body)
			}
			srv.Close()
			if lines := log.lines("request "); len(lines) != 1 || !strings.Contains(lines[0], "status=200 bytes=9") {
				t.Errorf("log:\n%s", log)
			}
		})
	}
}

func TestNotFoundAndMethodNotAllowed(t *testing.T) {
	srv := serve(t, Handler(NotFound))
	if got := send(t, srv, request{path: "/nowhere"}); got.status != 404 || errorOf(t, got)["code"] != "not_found" {
		t.Errorf("response: %d %s", got.status, got.body)
	}
	srv = serve(t, MethodNotAllowed("GET, HEAD"))
	if got := send(t, srv, request{method: "PUT"}); got.status != 405 || got.header.Get("Allow") != "GET, HEAD" {
		t.Errorf("response: %d %v", got.status, got.header)
	}
}
