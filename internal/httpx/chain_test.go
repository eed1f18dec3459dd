package httpx

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

func TestChainOrder(t *testing.T) {
	mark := func(s string) Middleware {
		return func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				io.WriteString(w, s)
				next.ServeHTTP(w, r)
			})
		}
	}
	rec := httptest.NewRecorder()
	Chain(ok, mark("1"), mark("2"), mark("3")).ServeHTTP(rec, httptest.NewRequest("GET", "/", nil))
	if got := rec.Body.String(); got != "123ok" {
		t.Errorf("order = %q", got)
	}
}

// fullChain returns the chain of doc.go around an empty handler.
func fullChain() (http.Handler, *http.Request) {
	e := &Edge{PublicURL: must(ParsePublicURL("https://data.example"))}
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	h := Chain(Handler(func(w http.ResponseWriter, r *http.Request) error {
		SetTokenID(r.Context(), "tok_1")
		SetJSON(w.Header())
		w.WriteHeader(http.StatusNoContent)
		return nil
	}), WithRequestID, AccessLog(log, time.Now), Recover, Deadlines, InFlight(MaxInFlight),
		e.Gate, e.CORS(MethodsREST), Version, e.Challenge(""))
	r := httptest.NewRequest("GET", "/v1/schema", nil)
	r.Host = "data.example"
	return h, r
}

// discard is a response writer that drops everything and does not allocate.
type discard struct{ h http.Header }

func (w discard) Header() http.Header              { return w.h }
func (w discard) Write(p []byte) (int, error)      { return len(p), nil }
func (w discard) WriteHeader(int)                  {}
func (w discard) SetWriteDeadline(time.Time) error { return nil }

func BenchmarkChain(b *testing.B) {
	h, r := fullChain()
	w := discard{http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		clear(w.h)
		h.ServeHTTP(w, r)
	}
}
