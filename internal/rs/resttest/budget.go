package resttest

import (
	"net/http"
	"net/http/httptest"

	"pdpp/internal/httpx"
)

// Fits reports whether a request can reserve n bytes of a budget now.
func Fits(b *httpx.Budget, n int) bool {
	var err error
	reserve := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { err = httpx.HoldOf(r.Context()).Reserve(n) })
	httpx.Chain(reserve, httpx.WithRequestID, b.Within).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	return err == nil
}
