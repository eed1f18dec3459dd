package session

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// request is one read: in a readable form, "/v1/streams/messages/records?filter[user_id]=U123",
// and as it was sent.
type request struct{ target, raw, prefer string }

// asked is what a resource server was asked by the sessions of a test.
type asked struct {
	mu    sync.Mutex
	list  []request
	fault func() // what happens instead of the next read
}

// note keeps a request.
func (a *asked) note(t testing.TB, r *http.Request) {
	target := r.URL.EscapedPath()
	if r.URL.RawQuery != "" {
		query, err := url.QueryUnescape(r.URL.RawQuery)
		if err != nil {
			t.Errorf("a query that cannot be read: %q", r.URL.RawQuery)
		}
		target += "?" + query
	}
	if r.Method != http.MethodGet || !strings.HasPrefix(target, "/v1/") {
		t.Errorf("a tool sent %s %s: it may only read /v1", r.Method, target)
	}
	a.mu.Lock()
	a.list = append(a.list, request{target, r.URL.RequestURI(), r.Header.Get("Prefer")})
	fault := a.fault
	a.fault = nil
	a.mu.Unlock()
	if fault != nil {
		fault()
	}
}

// take gives what was asked since it was called last.
func (a *asked) take() []request {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := a.list
	a.list = nil
	return list
}

// through records what goes through a transport, which must carry these credentials
// and no other.
func (a *asked) through(t testing.TB, next http.RoundTripper, credentials ...string) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		a.note(t, r)
		if got := r.Header.Values("Authorization"); !slices.Equal(got, credentials) {
			t.Errorf("%s was asked with %d credentials, or another one than the session's", r.URL.Path, len(got))
		}
		return next.RoundTrip(r)
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
