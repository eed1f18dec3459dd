package bench

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPrint(t *testing.T) {
	r := Report{Cores: 2, GoVersion: "go1.x", Rows: []Row{
		compare("fast / bare", "req/s", 4000, 8000, AtLeast(0.35)),
		compare("slow / bare", "req/s", 100, 8000, AtLeast(0.35)),
		compare("large / small", "ms", 0.25, 0.2, AtMost(1.5)),
		state("memory", "MB", 201, AtMost(200)),
		state("build", "rows/s", 12.345, nil),
	}}
	var got bytes.Buffer
	if err := r.Print(&got); err != nil {
		t.Fatal(err)
	}
	const want = `2 cores, go1.x, ratios of medians within this run

what           ours         baseline    ratio  bound      
fast / bare    4000 req/s   8000 req/s  0.50   >= 0.35    ok
slow / bare    100 req/s    8000 req/s  0.01   >= 0.35    MISS
large / small  0.25 ms      0.20 ms     1.25   <= 1.50    ok
memory         201 MB       -           -      <= 200.00  MISS
build          12.3 rows/s  -           -      -          
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("Print (-want +got):\n%s", diff)
	}
}
