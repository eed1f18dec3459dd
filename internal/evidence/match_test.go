package evidence

import (
	"cmp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestGroupBound(t *testing.T) {
	for chars, want := range map[int]int{320: 2, 321: 1} {
		gap := strings.Repeat(" ", chars-len("april")-len("rent"))
		got := search("april"+gap+"rent"+strings.Repeat(" x", 300), "april rent")
		if n := strings.Count(got.Preview, openMark); n != want {
			t.Errorf("EX-6 matches %d characters apart: %d shown, want %d", chars, n, want)
		}
	}
}

// TestDensestGroup compares with the best of all sequences of places that fit.
func TestDensestGroup(t *testing.T) {
	terms := []string{"a", "b", "c"}
	rapid.Check(t, func(t *rapid.T) {
		var content []byte
		var places []place
		for range rapid.IntRange(1, 40).Draw(t, "words") {
			content = append(content, strings.Repeat(".", rapid.IntRange(1, 150).Draw(t, "gap"))...)
			term := rapid.IntRange(0, 2).Draw(t, "term")
			at := len(content)
			places = append(places, place{term, at, at + 1, at, at + 1})
			content = append(content, terms[term]...)
		}
		want := densest(places)
		got := NewFinder(terms).Find([]Text{{Field: "f", Content: string(content)}}).found[0].best
		if got.distinct != want.distinct || len(got.places) != len(want.places) || got.places[0] != want.places[0] {
			t.Fatalf("EX-6 densest group is %+v, want %+v", got, want)
		}
	})
}

func densest(places []place) group {
	var best group
	for end := 1; end <= len(places); end++ {
		for start := range end {
			g := group{places: places[start:end]}
			seen := make(map[int]bool)
			for _, p := range g.places {
				seen[p.term] = true
			}
			g.distinct = len(seen)
			better := cmp.Or(g.distinct-best.distinct, len(g.places)-len(best.places), best.chars()-g.chars())
			if g.chars() <= maxExcerpt && better > 0 {
				best = g
			}
		}
	}
	return best
}
