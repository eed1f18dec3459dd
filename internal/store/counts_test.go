package store

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestTermCounts compares with counting in a map.
func TestTermCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w termWriter
		want := map[int64]map[string]int{}
		length := map[int64]int{}
		for field := int64(1); field <= 300; field += 150 {
			words := rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,2}`), 0, 300).Draw(t, "words")
			w.add(field, strings.Join(words, " "))
			if len(words) == 0 {
				continue
			}
			want[field], length[field] = map[string]int{}, len(words)
			for _, word := range words {
				want[field][word]++
			}
		}
		seen := 0
		for f := range TermCounts(w.counts).Fields {
			seen++
			if f.Length != length[f.Field] {
				t.Errorf("field %d has length %d, want %d", f.Field, f.Length, length[f.Field])
			}
			for _, word := range []string{"a", "zz", "q", "none"} {
				if got := f.Times(TermHash([]byte(word))); got != want[f.Field][word] {
					t.Errorf("field %d: %q occurs %d times, want %d", f.Field, word, got, want[f.Field][word])
				}
			}
			for word, n := range want[f.Field] {
				if got := f.Times(TermHash([]byte(word))); got != n {
					t.Errorf("field %d: %q occurs %d times, want %d", f.Field, word, got, n)
				}
			}
		}
		if seen != len(want) {
			t.Errorf("%d fields, want %d", seen, len(want))
		}
	})
}

// FuzzTermCounts: reading damaged counts does not panic.
func FuzzTermCounts(f *testing.F) {
	var w termWriter
	w.add(7, "one two one three one two")
	f.Add(w.counts, uint64(5))
	f.Fuzz(func(t *testing.T, raw []byte, hash uint64) {
		for c := range TermCounts(raw).Fields {
			c.Times(hash)
		}
	})
}

// TestTermHash: words that share a hash of four bytes are counted separately.
func TestTermHash(t *testing.T) {
	for _, pair := range [][2]string{{"liquid", "costarring"}, {"declinate", "macallums"}, {"altarage", "zinke"}} {
		var w termWriter
		w.add(1, strings.Repeat(pair[0]+" ", 3)+pair[1])
		for f := range TermCounts(w.counts).Fields {
			if a, b := f.Times(TermHash([]byte(pair[0]))), f.Times(TermHash([]byte(pair[1]))); a != 3 || b != 1 {
				t.Errorf("%s and %s occur %d and %d times, want 3 and 1", pair[0], pair[1], a, b)
			}
		}
	}
}
