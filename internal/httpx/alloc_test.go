//go:build !race

// The race detector itself allocates, so counts mean nothing under it.

package httpx

import (
	"net/http"
	"testing"
)

// Every read passes the edge, so it may cost few allocations only.
func TestChainAllocations(t *testing.T) {
	h, r := fullChain()
	w := discard{http.Header{}}
	got := testing.AllocsPerRun(1000, func() {
		clear(w.h)
		h.ServeHTTP(w, r)
	})
	if got > 10 {
		t.Errorf("%.0f allocations per request, at most 10 allowed", got)
	}
}
