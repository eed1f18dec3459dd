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

// state is what the edge knows about one request. There is one per request,
// made by WithRequestID; the middlewares below it fill it in. Setters lock because a
// handler may serve a request from several goroutines.
type state struct {
	id   [1]string // also the value slice of the Request-Id header
	own  Hold      // of a request that is not inside another
	hold *Hold     // the one that counts, set before handlers run; nil: no bound

	mu         sync.Mutex
	log        *slog.Logger
	base       string    // R, once past the gate
	route      string    // the pattern that matched
	code       pdpp.Code // of the error that was answered
	inner      bool      // made inside the process, on the context of another request
	token      pdpp.TokenID
	resource   string // suffix of the metadata document (H-50)
	notes      []slog.Attr
	challenged bool // 401 and 403 carry a challenge
}

type stateKey struct{}

func stateOf(ctx context.Context) *state {
	st, _ := ctx.Value(stateKey{}).(*state)
	return st
}

// WithRequestID gives every request an id and every response the header (C-10). A
// request made inside the process, on the context of another one, keeps that
// one's id and public origin unless it names its own id (H-63).
func WithRequestID(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		st := newState(stateOf(ctx), r.Header[keyRequestID])
		h := w.Header()
		h[keyRequestID] = st.id[:]
		if !st.inner { // the name that other clients look for (IO-16)
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

// RequestID gives the id of the request that ctx belongs to, or "".
func RequestID(ctx context.Context) string {
	if st := stateOf(ctx); st != nil {
		return st.id[0]
	}
	return ""
}

// SetTokenID tells the access log which token a request came with. The id is
// not a secret (H-160); the token itself never gets here.
func SetTokenID(ctx context.Context, id pdpp.TokenID) {
	if st := stateOf(ctx); st != nil {
		st.mu.Lock()
		st.token = id
		st.mu.Unlock()
	}
}

// SetRoute tells the access log which route matched, for routers that do not
// set http.Request.Pattern. The pattern holds names of parts, never their values.
func SetRoute(ctx context.Context, pattern string) {
	if st := stateOf(ctx); st != nil {
		st.mu.Lock()
		st.route = pattern
		st.mu.Unlock()
	}
}

// Note adds to the line of the access log what is known of a request beside its route.
func Note(ctx context.Context, attrs ...slog.Attr) {
	if st := stateOf(ctx); st != nil {
		st.mu.Lock()
		st.notes = append(st.notes, attrs...)
		st.mu.Unlock()
	}
}

// validRequestID is [A-Za-z0-9_.:-]{1,128}.
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
