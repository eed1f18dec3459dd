package httpx

import (
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestAccessLogLine(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("POST /v1/streams/{stream}/records/{id}", Handler(func(w http.ResponseWriter, r *http.Request) error {
		SetTokenID(r.Context(), "tok_0123456789abcdef")
		Note(r.Context(), slog.String("tool", "fetch"))
		w.WriteHeader(http.StatusCreated)
		_, err := io.WriteString(w, "SECRETANSWER")
		return err
	}))
	// A middleware that copies the request hides its pattern from the log.
	h, log := logged(timed(time.Minute)(mux))
	srv := serve(t, h)
	send(t, srv, private("/v1/streams/messages/records/"+secretID))
	srv.Close()
	want := regexp.MustCompile(`^time=\S+ level=INFO msg=request method=POST route="POST /v1/streams/{stream}/records/{id}" status=201 bytes=12 ms=[0-9.]+ request_id=abc token_id=tok_0123456789abcdef tool=fetch\n$`)
	if !want.MatchString(log.String()) {
		t.Errorf("log:\n%s", log)
	}
	wantPrivate(t, log.String())
}

func TestAccessLogDuration(t *testing.T) {
	c := newClock()
	var buf logBuffer
	h := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { c.advance(1500 * time.Microsecond) })
	srv := serve(t, AccessLog(slog.New(slog.NewTextHandler(&buf, nil)), c.now)(h))
	send(t, srv, request{path: "/mcp"})
	srv.Close()
	if want := `route=/mcp status=200 bytes=0 ms=1.5 request_id=""`; !strings.Contains(buf.String(), want) {
		t.Errorf("no %q in %s", want, buf.String())
	}
}

func TestAccessLogRoutes(t *testing.T) {
	for path, want := range map[string]string{
		"/":                              "/",
		"/mcp":                           "/mcp",
		"/v1/streams/messages/records/9": "/v1/streams",
		"/v1/" + secretID:                "/v1/*",
		"/consent/areq_19":               "/consent/*",
		"/" + secretToken + "/x":         "/*/x",
		"/%F0%9F%94%91":                  "/*",
		"/v1/":                           "/v1/",
		"/" + strings.Repeat("a", 33):    "/*",
		"/.well-known/oauth-x":           "/.well-known/oauth-x",
		"/a%0Alevel=ERROR/b":             "/*/b",
	} {
		h, log := logged(ok)
		srv := serve(t, h)
		send(t, srv, request{path: path})
		srv.Close()
		if !strings.Contains(log.String(), "route="+want+" ") {
			t.Errorf("%s: no route %s in %s", path, want, log)
		}
	}
}

func TestAccessLogSetRoute(t *testing.T) {
	h, log := logged(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		SetRoute(r.Context(), "/v1/blobs/{blob_id}")
	}))
	srv := serve(t, h)
	send(t, srv, request{method: "SECRETMETHOD", path: "/v1/blobs/" + secretID})
	srv.Close()
	if s := log.String(); !strings.Contains(s, "method=other route=/v1/blobs/{blob_id} ") {
		t.Errorf("log:\n%s", s)
	}
	wantPrivate(t, log.String())
}

func TestAccessLogOff(t *testing.T) {
	var buf logBuffer
	log := slog.New(slog.NewTextHandler(&buf, &slog.HandlerOptions{Level: slog.LevelWarn}))
	srv := serve(t, Chain(Handler(func(w http.ResponseWriter, r *http.Request) error {
		return io.ErrNoProgress
	}), WithRequestID, AccessLog(log, time.Now)))
	send(t, srv, request{})
	srv.Close()
	if n := len(buf.lines("request ")); n != 0 {
		t.Errorf("%d access lines", n)
	}
	if n := len(buf.lines(`"request failed"`)); n != 1 {
		t.Errorf("%d failure lines: %s", n, buf.String())
	}
}

func TestRecorderStatus(t *testing.T) {
	tests := []struct {
		name string
		h    http.HandlerFunc
		want string
	}{
		{"no write", func(http.ResponseWriter, *http.Request) {}, "status=200 bytes=0"},
		{"flush only", func(w http.ResponseWriter, _ *http.Request) { w.(http.Flusher).Flush() }, "status=200 bytes=0"},
		{"early hints first", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(103); w.WriteHeader(404) }, "status=404 bytes=0"},
		{"aborted", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "status=0 bytes=0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h, log := logged(tt.h)
			srv := serve(t, h)
			if res, err := srv.Client().Get(srv.URL); err == nil {
				res.Body.Close()
			}
			srv.Close()
			if !strings.Contains(log.String(), tt.want) {
				t.Errorf("no %q in %s", tt.want, log)
			}
		})
	}
}
