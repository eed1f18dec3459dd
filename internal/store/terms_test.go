package store

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pdpp/internal/analyzer"
)

func TestTermsPerField(t *testing.T) {
	var w termWriter
	w.add(35, "One two ONE")
	w.add(36, "two three two")
	w.add(37, "...")
	if got, want := string(w.out), "z.one z.two 10.two 10.three"; got != want {
		t.Errorf("terms = %q, want %q", got, want)
	}
}

// TestTermsCap: a field has at most analyzer.MaxFieldTerms terms, the next field
// has its own.
func TestTermsCap(t *testing.T) {
	var text strings.Builder
	for i := range analyzer.MaxFieldTerms + 500 {
		fmt.Fprintf(&text, "word%d word%d ", i, i/2)
	}
	var w termWriter
	w.add(1, text.String())
	if n := len(strings.Fields(string(w.out))); n != analyzer.MaxFieldTerms {
		t.Errorf("%d terms, want %d", n, analyzer.MaxFieldTerms)
	}
	w.add(2, "word0 more")
	if !strings.HasSuffix(string(w.out), " 2.word0 2.more") {
		t.Errorf("the next field ends with %q", w.out[len(w.out)-20:])
	}
}

// TestTermsDistinct compares with a map.
func TestTermsDistinct(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w termWriter
		var want []string
		for field := int64(1); field <= 3; field++ {
			words := rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,2}`), 0, 300).Draw(t, "words")
			seen := map[string]bool{}
			for _, word := range words {
				if !seen[word] {
					want = append(want, fmt.Sprintf("%d.%s", field, word))
				}
				seen[word] = true
			}
			w.add(field, strings.Join(words, " "))
		}
		if got := string(w.out); got != strings.Join(want, " ") {
			t.Errorf("terms = %q, want %q", got, want)
		}
	})
}
