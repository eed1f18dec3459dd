package httpx

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"net/http"
	"sync"

	"pdpp"
)

// state holds the facts about one request. WithRequestID creates it, and the middlewares
// that follow fill it in. Setters lock because a handler may use several goroutines.
type state struct {
	id   [1]string // an array, so that id[:] is the value of the Request-Id header without an allocation
	own  Hold      // unused by an inner request
	hold *Hold     // own, or that of the outer request; nil if there is no limit

	mu         sync.Mutex
	log        *slog.Logger
	base       string    // R; "" before Gate
	route      string    // the pattern that matched
	code       pdpp.Code // code of the error in the response
	inner      bool      // made by the process, in the context of another request
	token      pdpp.TokenID
	resource   string // suffix of the metadata document (H-50)
	notes      []slog.Attr
	challenged bool // 401 and 403 responses have a challenge
}

type stateKey struct{}

func stateOf(ctx context.Context) *state {
	st, _ := ctx.Value(stateKey{}).(*state)
	return st
}

// update calls change with the locked state of the request that ctx belongs to, if it
// has one.
func update(ctx context.Context, change func(st *state)) {
	if st := stateOf(ctx); st != nil {
		st.mu.Lock()
		defer st.mu.Unlock()
		change(st)
	}
}

// WithRequestID assigns an id to every request and writes the header (C-10). A request
// that the process makes in the context of another one keeps the id and the public origin
// of that one, unless it has its own id (H-63).
func WithRequestID(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		st := newState(stateOf(ctx), r.Header[keyRequestID])
		h := w.Header()
		h[keyRequestID] = st.id[:]
		if !st.inner { // the header that other clients read (IO-16)
			h[keyXRequestID] = st.id[:]
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(ctx, stateKey{}, st)))
	})
}

func newState(outer *state, sent []string) *state {
	st := &state{}
	if outer != nil {
		outer.mu.Lock()
		st.id[0], st.base, st.log = outer.id[0], outer.base, outer.log
		outer.mu.Unlock()
		st.hold, st.inner = outer.hold, true
	}
	switch {
	case len(sent) == 1 && validRequestID(sent[0]):
		st.id[0] = sent[0]
	case outer == nil:
		st.id[0] = newRequestID()
	}
	return st
}

// RequestID returns the id of the request that ctx belongs to, or "".
func RequestID(ctx context.Context) string {
	if st := stateOf(ctx); st != nil {
		return st.id[0]
	}
	return ""
}

// SetTokenID sets the token id that the access log shows. The id is not a secret
// (H-160).
func SetTokenID(ctx context.Context, id pdpp.TokenID) {
	update(ctx, func(st *state) { st.token = id })
}

// SetRoute sets the route that the access log shows, for routers that do not set
// http.Request.Pattern. The pattern contains the names of path segments, never values.
func SetRoute(ctx context.Context, pattern string) {
	update(ctx, func(st *state) { st.route = pattern })
}

// Note adds attributes to the access log line of the request.
func Note(ctx context.Context, attrs ...slog.Attr) {
	update(ctx, func(st *state) { st.notes = append(st.notes, attrs...) })
}

// validRequestID reports whether s matches [A-Za-z0-9_.:-]{1,128}.
func validRequestID(s string) bool {
	if s == "" || len(s) > 128 {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '_', c == '.', c == ':', c == '-':
		default:
			return false
		}
	}
	return true
}

func newRequestID() string {
	const prefix = "req_"
	var raw [16]byte
	rand.Read(raw[:]) // never fails: crypto/rand ends the process instead
	var out [len(prefix) + 2*len(raw)]byte
	copy(out[:], prefix)
	hex.Encode(out[len(prefix):], raw[:])
	return string(out[:])
}
