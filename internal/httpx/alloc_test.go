//go:build !race

// The race detector allocates by itself, so counts mean nothing under it.

package httpx

import (
	"net/http"
	"testing"
)

// The edge is on the path of every read: it may cost a handful of allocations.
func TestChainAllocations(t *testing.T) {
	h, r := fullChain()
	w := nowhere{http.Header{}}
	got := testing.AllocsPerRun(1000, func() {
		clear(w.h)
		h.ServeHTTP(w, r)
	})
	if got > 10 {
		t.Errorf("%.0f allocations per request, at most 10 allowed", got)
	}
}
