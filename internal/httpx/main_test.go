package httpx

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve runs h on a loopback listener.
func serve(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv
}

// reply is a response with its whole body.
type reply struct {
	status int
	header http.Header
	body   string
}

// request describes a call; host overrides the Host header.
type request struct {
	method string
	path   string
	host   string
	header http.Header
	body   io.Reader
}

func send(t *testing.T, srv *httptest.Server, rq request) reply {
	t.Helper()
	if rq.method == "" {
		rq.method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(t.Context(), rq.method, srv.URL+rq.path, rq.body)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = rq.host
	for k, v := range rq.header {
		req.Header[k] = v
	}
	client := srv.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{status: res.StatusCode, header: res.Header, body: string(body)}
}

// headers returns a header with the given pairs of name and value.
func headers(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h
}

// ok responds with 200 and a short body.
var ok = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "ok") })

// failing returns a handler that returns err.
func failing(err error) Handler {
	return func(http.ResponseWriter, *http.Request) error { return err }
}

// clock is a clock that tests advance.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *clock { return &clock{t: time.Date(2026, 4, 6, 12, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
