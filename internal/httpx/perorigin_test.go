package httpx

import (
	"fmt"
	"sync"
	"testing"
)

func TestPerOriginMakesOnce(t *testing.T) {
	var p PerOrigin[*string]
	made := 0
	one := func(base string) *string { made++; return &base }
	a, b := p.Get("https://a.example", one), p.Get("https://b.example", one)
	if *a != "https://a.example" || *b != "https://b.example" || p.Get("https://a.example", one) != a || made != 2 {
		t.Errorf("%q, %q made by %d calls", *a, *b, made)
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
					t.Errorf("%s has %s", base, got)
				}
			}
		})
	}
	all.Wait()
	if n := len(p.made); n > maxOrigins {
		t.Errorf("%d origins are kept, want at most %d", n, maxOrigins)
	}
}
