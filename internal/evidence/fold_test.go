package evidence

import (
	"testing"
	"unicode"
)

// TestFoldRune compares with simple case folding (FW-1), also for the fast path for ASCII.
func TestFoldRune(t *testing.T) {
	for r := range rune(0x3000) {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		if got := foldRune(r); got != least {
			t.Errorf("FW-1 foldRune(%q) = %q, want %q", r, got, least)
		}
	}
}
