package httpx

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pdpp"
	"pdpp/internal/pipetest"
)

func newTLSServer(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	srv := httptest.NewUnstartedServer(h)
	srv.EnableHTTP2 = true
	srv.StartTLS()
	t.Cleanup(srv.Close)
	return srv
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	return ln
}

// run starts Run. It returns a function that stops it and the channel of its result.
func run(t *testing.T, ln net.Listener, h http.Handler, grace time.Duration) (context.CancelFunc, <-chan error) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	done := make(chan error, 1)
	go func() { done <- Run(ctx, ln, NewServer(h), grace) }()
	return stop, done
}

func TestRunFinishesOpenRequests(t *testing.T) {
	ln := listen(t)
	entered, leave := make(chan struct{}), make(chan struct{})
	stop, done := run(t, ln, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(entered)
		<-leave
		if r.Context().Err() != nil {
			t.Error("the shutdown canceled an open request")
		}
		io.WriteString(w, "finished")
	}), Grace)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	received := make(chan string, 1)
	go func() {
		res, err := client.Get("http://" + ln.Addr().String())
		if err != nil {
			received <- err.Error()
			return
		}
		defer res.Body.Close()
		body, _ := io.ReadAll(res.Body)
		received <- string(body)
	}()
	<-entered
	stop()
	for { // until the listener is closed
		c, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			break
		}
		c.Close()
	}
	close(leave)
	if got := <-received; got != "finished" {
		t.Errorf("body = %q, want finished", got)
	}
	if err := <-done; err != nil {
		t.Errorf("Run = %v, want nil", err)
	}
}

func TestRunAbortsAfterGrace(t *testing.T) {
	ln := listen(t)
	entered := make(chan struct{})
	stop, done := run(t, ln, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(entered)
		<-r.Context().Done()
	}), 10*time.Millisecond)
	c, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	io.WriteString(c, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
	<-entered
	stop()
	if err := <-done; err != nil {
		t.Errorf("Run = %v, want nil", err)
	}
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("the connection is still open")
	}
}

func TestRunReportsListenerFailure(t *testing.T) {
	ln := listen(t)
	ln.Close()
	_, done := run(t, ln, ok, Grace)
	if err := <-done; err == nil {
		t.Error("Run on a closed listener = nil")
	}
}

func TestRunServesTLS(t *testing.T) {
	certified := newTLSServer(t, ok)
	ln := listen(t)
	srv := NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Proto) }))
	srv.TLSConfig = certified.TLS.Clone()
	srv.TLSConfig.NextProtos = nil
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Run(ctx, ln, srv, Grace) }()
	client := certified.Client()
	res, err := client.Get("https://" + ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(res.Body)
	res.Body.Close()
	if string(body) != "HTTP/2.0" { // H-64
		t.Errorf("protocol = %q", body)
	}
	client.CloseIdleConnections()
	stop()
	if err := <-done; err != nil {
		t.Errorf("Run = %v", err)
	}
}

func TestServerLimits(t *testing.T) {
	srv := NewServer(ok)
	if srv.ReadHeaderTimeout != 10*time.Second || srv.IdleTimeout != 120*time.Second || srv.MaxHeaderBytes != 32<<10 {
		t.Errorf("limits: %v %v %d", srv.ReadHeaderTimeout, srv.IdleTimeout, srv.MaxHeaderBytes)
	}
	// These would end long requests that make progress.
	if srv.ReadTimeout != 0 || srv.WriteTimeout != 0 {
		t.Errorf("whole-request limits: %v %v", srv.ReadTimeout, srv.WriteTimeout)
	}
}

func TestServerHeaderSize(t *testing.T) {
	ln := listen(t)
	stop, done := run(t, ln, ok, Grace)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for size, want := range map[int]int{31 << 10: 200, 40 << 10: 431} {
		req, _ := http.NewRequest("GET", "http://"+ln.Addr().String(), nil)
		req.Header.Set("X-Long", strings.Repeat("a", size))
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%d bytes: status %d, want %d", size, res.StatusCode, want)
		}
	}
	stop()
	<-done
}

// open sends the beginning of a request to h over a pipe in memory.
func open(t *testing.T, h http.Handler, begin string) net.Conn {
	t.Helper()
	c, err := pipetest.Serve(t, h, nil).DialContext(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	io.WriteString(c, begin)
	return c
}

// inBothProtocols runs try over HTTP/1 and HTTP/2, twice on the same connection, on a
// fake clock.
func inBothProtocols(t *testing.T, h http.Handler, try func(t *testing.T, client *http.Client)) {
	t.Helper()
	for name, protocols := range map[string]*http.Protocols{"HTTP/1": nil, "HTTP/2": pipetest.HTTP2()} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := &http.Client{Transport: pipetest.Serve(t, h, protocols)}
				try(t, client)
				try(t, client)
			})
		})
	}
}

// textOf returns the body of a response.
func textOf(t *testing.T, res *http.Response, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// A client that reads nothing is disconnected, and the write of the handler fails.
func TestStalledClientIsDisconnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		result := make(chan error)
		open(t, Deadlines(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			chunk := make([]byte, 1<<20)
			for {
				if _, err := w.Write(chunk); err != nil {
					result <- err
					return
				}
			}
		})), "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
		var timeout net.Error
		if err := <-result; !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Errorf("write error = %v, want a timeout", err)
		}
	})
}

// A handler may take longer than the stall time between writes. The deadline counts
// only while bytes wait to be written.
func TestSlowHandlerIsNotAborted(t *testing.T) {
	h := Deadlines(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for range 3 {
			io.WriteString(w, "part ")
			http.NewResponseController(w).Flush()
			time.Sleep(2 * stallTimeout)
		}
		if r.Context().Err() != nil {
			t.Error("the request was canceled")
		}
		io.WriteString(w, "end")
	}))
	inBothProtocols(t, h, func(t *testing.T, client *http.Client) {
		res, err := client.Get("http://server.test")
		if got := textOf(t, res, err); got != "part part part end" {
			t.Errorf("body = %q", got)
		}
	})
}

func TestLargeResponseIsComplete(t *testing.T) {
	want := strings.Repeat("0123456789abcdef", 40_000)
	h := Deadlines(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n, err := w.Write([]byte(want)); n != len(want) || err != nil {
			t.Errorf("Write = %d, %v", n, err)
		}
	}))
	if got := send(t, serve(t, h), request{}); got.body != want {
		t.Errorf("%d bytes arrived, want %d", len(got.body), len(want))
	}
}

func TestSlowBodyTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, Deadlines(Handler(func(w http.ResponseWriter, r *http.Request) error {
			_, err := io.ReadAll(r.Body)
			return err
		})), "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc")
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if body := textOf(t, res, err); res.StatusCode != 503 || !strings.Contains(body, `"code":"timeout"`) {
			t.Errorf("answer %d %s", res.StatusCode, body)
		}
	})
}

// The deadline for a body does not apply to the work after it.
func TestBodyDeadlineEndsWithBody(t *testing.T) {
	h := Deadlines(Handler(func(w http.ResponseWriter, r *http.Request) error {
		if _, err := io.ReadAll(r.Body); err != nil {
			return err
		}
		time.Sleep(3 * bodyReadTimeout)
		if err := r.Context().Err(); err != nil {
			return err
		}
		_, err := io.WriteString(w, "done")
		return err
	}))
	inBothProtocols(t, h, func(t *testing.T, client *http.Client) {
		res, err := client.Post("http://server.test", "text/plain", strings.NewReader("abc"))
		if got := textOf(t, res, err); got != "done" {
			t.Errorf("body = %q", got)
		}
	})
}

// timed sets a timeout on the context of requests.
func timed(d time.Duration) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx, cancel := context.WithTimeout(r.Context(), d)
			defer cancel()
			next.ServeHTTP(w, r.WithContext(ctx))
		})
	}
}

func TestTimeout(t *testing.T) {
	srv := serve(t, Chain(Handler(func(w http.ResponseWriter, r *http.Request) error {
		<-r.Context().Done()
		return errors.New("interrupted")
	}), WithRequestID, timed(10*time.Millisecond)))
	got := send(t, srv, request{})
	if got.status != 503 || errorOf(t, got)["code"] != "timeout" || got.header.Get("Retry-After") == "" {
		t.Errorf("response: %d %s", got.status, got.body)
	}
}

func TestProbes(t *testing.T) {
	var storeErr error
	mux := http.NewServeMux()
	mux.Handle("/healthz", Health())
	mux.Handle("/readyz", Ready(func(ctx context.Context) error {
		if _, limited := ctx.Deadline(); !limited {
			t.Error("the check has no deadline")
		}
		return storeErr
	}))
	h, log := logged(mux)
	srv := serve(t, h)
	check := func(path string, status int, body string) {
		t.Helper()
		if got := send(t, srv, request{path: path}); got.status != status || got.body != body {
			t.Errorf("%s: %d %q, want %d %q", path, got.status, got.body, status, body)
		}
	}
	check("/healthz", 200, `{"status":"ok"}`)
	check("/readyz", 200, `{"status":"ok"}`)
	storeErr = pdpp.Errorf(pdpp.CodeInternal, "store of /var/lib is missing")
	check("/healthz", 200, `{"status":"ok"}`)
	check("/readyz", 503, `{"status":"unavailable"}`)
	if got := send(t, srv, request{method: "HEAD", path: "/readyz"}); got.status != 503 || got.body != "" {
		t.Errorf("HEAD: %d %q", got.status, got.body)
	}
	srv.Close()
	if !strings.Contains(log.String(), "is missing") {
		t.Errorf("the log has no cause: %s", log)
	}
}

func TestVersion(t *testing.T) {
	srv := serve(t, Chain(Handler(func(w http.ResponseWriter, r *http.Request) error {
		return pdpp.Errorf(pdpp.CodeAuthentication, "no")
	}), WithRequestID, Version))
	for _, tt := range []struct {
		sent []string
		want int
	}{
		{nil, 401}, {[]string{"2026-04-06"}, 401}, {[]string{"2025-01-01"}, 400}, {[]string{""}, 400}, {[]string{"2026-04-06", "x"}, 400},
	} {
		got := send(t, srv, request{header: http.Header{"Pdpp-Version": tt.sent}})
		if got.status != tt.want || got.header.Get("PDPP-Version") != "2026-04-06" {
			t.Errorf("%q: %d %v", tt.sent, got.status, got.header)
		}
		if tt.want == 400 && errorOf(t, got)["code"] != "unsupported_version" {
			t.Errorf("%q: %s", tt.sent, got.body)
		}
	}
}
