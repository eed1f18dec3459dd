package httpx

import (
	"net/http"
	"time"

	"pdpp"
)

// Observer measures and traces requests. It receives the same facts as the access log:
// no path, no query, no header, no token.
type Observer interface {
	// Begin is called before a request is served. It returns the request to serve, which
	// may be r itself. inner is true if the process made the request itself, in the
	// context of another request.
	Begin(r *http.Request, inner bool) *http.Request
	// End is called once for every Begin, with the request that Begin returned.
	End(r *http.Request, x Exchange)
}

// Exchange is a request that has ended.
type Exchange struct {
	Method   string // "other" for a non-standard method
	Route    string // the pattern that matched, or ""
	Status   int    // 0 if the connection was aborted before the response began
	Bytes    int64  // size of the response body
	Duration time.Duration
	Code     pdpp.Code // code of the error in the response, or ""
	Inner    bool      // as passed to Begin
}

// Observe calls o for every request. It comes right after WithRequestID. Without an
// observer it does nothing.
func Observe(o Observer) Middleware {
	if o == nil {
		return func(next http.Handler) http.Handler { return next }
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			st := stateOf(r.Context())
			inner := st != nil && st.inner
			rec, start := record(w), time.Now()
			r = o.Begin(r, inner)
			answered := false
			// Deferred, because a handler aborts a connection with a panic.
			defer func() {
				x := Exchange{Method: methodOf(r), Status: rec.status, Bytes: rec.bytes, Duration: time.Since(start), Inner: inner}
				if answered && x.Status == 0 {
					x.Status = http.StatusOK // what net/http will send
				}
				x.Route, x.Code = st.outcome(r)
				o.End(r, x)
			}()
			next.ServeHTTP(rec, r)
			answered = true
		})
	}
}

// outcome returns the route and the error code that the handlers set for a request.
func (st *state) outcome(r *http.Request) (route string, code pdpp.Code) {
	if st == nil {
		return r.Pattern, ""
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.route == "" {
		return r.Pattern, st.code
	}
	return st.route, st.code
}

// setCode records the error code of the response for the observer.
func setCode(r *http.Request, code pdpp.Code) {
	update(r.Context(), func(st *state) { st.code = code })
}
