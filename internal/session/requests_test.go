package session

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// request is one read. target is decoded, like
// "/v1/streams/messages/records?filter[user_id]=U123"; raw is as it was sent.
type request struct{ target, raw, prefer string }

// requestLog records the requests of sessions to a resource server.
type requestLog struct {
	mu    sync.Mutex
	list  []request
	fault func() // called once, before the next read
}

// add adds a request. It may only read /v1.
func (l *requestLog) add(t testing.TB, r *http.Request) {
	target := r.URL.EscapedPath()
	if r.URL.RawQuery != "" {
		query, err := url.QueryUnescape(r.URL.RawQuery)
		if err != nil {
			t.Errorf("a query that cannot be decoded: %q", r.URL.RawQuery)
		}
		target += "?" + query
	}
	if r.Method != http.MethodGet || !strings.HasPrefix(target, "/v1/") {
		t.Errorf("a tool sent %s %s: it may only read /v1", r.Method, target)
	}
	l.mu.Lock()
	l.list = append(l.list, request{target, r.URL.RequestURI(), r.Header.Get("Prefer")})
	fault := l.fault
	l.fault = nil
	l.mu.Unlock()
	if fault != nil {
		fault()
	}
}

// take returns the requests since the last call.
func (l *requestLog) take() []request {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := l.list
	l.list = nil
	return list
}

// record returns a transport that records requests. They must carry exactly these
// credentials.
func (l *requestLog) record(t testing.TB, next http.RoundTripper, credentials ...string) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		l.add(t, r)
		if got := r.Header.Values("Authorization"); !slices.Equal(got, credentials) {
			t.Errorf("%s was sent with %d credentials, or with those of another session", r.URL.Path, len(got))
		}
		return next.RoundTrip(r)
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
