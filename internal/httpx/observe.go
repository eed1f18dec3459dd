package httpx

import (
	"net/http"
	"time"

	"pdpp"
)

// Observer is told of every request: what is measured and traced. It learns what
// the access log learns and no more: no path, no query, no header, no token.
type Observer interface {
	// Begin is called before a request is served. The request it returns, which
	// may be the same one, is the one that is served. inner says that it was made
	// inside the process, on the context of another one.
	Begin(r *http.Request, inner bool) *http.Request
	// End is called once for every Begin, with the request that Begin returned.
	End(r *http.Request, x Exchange)
}

// Exchange is a request that has ended.
type Exchange struct {
	Method string // "other" for one that HTTP does not know
	Route  string // the pattern that matched; "" when none did
	Status int    // 0: the connection was cut before any answer
	Bytes  int64  // of the answer's body
	Took   time.Duration
	Code   pdpp.Code // of the error that was answered; "" for none
	Inner  bool      // as told to Begin
}

// Observe tells o of every request. It comes right after WithRequestID. Without an
// observer it is nothing at all.
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
			// Also when a handler cuts the connection: the panic goes on.
			defer func() {
				x := Exchange{Method: methodOf(r), Status: rec.status, Bytes: rec.bytes, Took: time.Since(start), Inner: inner}
				if answered && x.Status == 0 {
					x.Status = http.StatusOK // as net/http will answer
				}
				x.Route, x.Code = st.outcome(r)
				o.End(r, x)
			}()
			next.ServeHTTP(rec, r)
			answered = true
		})
	}
}

// outcome gives what the handlers below left about a request.
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

// setCode tells the observer which error was answered.
func setCode(r *http.Request, code pdpp.Code) {
	if st := stateOf(r.Context()); st != nil {
		st.mu.Lock()
		st.code = code
		st.mu.Unlock()
	}
}
