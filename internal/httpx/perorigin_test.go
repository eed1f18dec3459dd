package httpx

import (
	"fmt"
	"sync"
	"testing"
)

func TestPerOriginBuildsOnce(t *testing.T) {
	var p PerOrigin[*string]
	built := 0
	build := func(base string) *string { built++; return &base }
	a, b := p.Get("https://a.example", build), p.Get("https://b.example", build)
	if *a != "https://a.example" || *b != "https://b.example" || p.Get("https://a.example", build) != a || built != 2 {
		t.Errorf("%q, %q built by %d calls, want 2", *a, *b, built)
	}
}

func TestPerOriginIsBounded(t *testing.T) {
	var p PerOrigin[string]
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			for i := range 3 * maxOrigins {
				base := fmt.Sprint("https://", worker, "-", i, ".example")
				if got := p.Get(base, func(base string) string { return base + "/x" }); got != base+"/x" {
					t.Errorf("Get(%s) = %s", base, got)
				}
			}
		})
	}
	all.Wait()
	if n := len(p.values); n > maxOrigins {
		t.Errorf("%d cached origins, want at most %d", n, maxOrigins)
	}
}
