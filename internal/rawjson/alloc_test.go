//go:build !race

package rawjson

import "testing"

// The race detector makes sync.Pool drop items at random, so this is not for it.
func TestCompactAllocatesNothing(t *testing.T) {
	for _, text := range []string{record, pretty, object(32, "name%d"), object(32, `n\u0061me%d`)} {
		src := []byte(text)
		dst := make([]byte, 0, len(src))
		n := testing.AllocsPerRun(1000, func() {
			if _, err := Compact(dst, src); err != nil {
				t.Fatal(err)
			}
		})
		if n >= 1 { // the pool may be emptied once or twice by the collector
			t.Errorf("Compact(%.20q...) allocates %v times", src, n)
		}
	}
}
