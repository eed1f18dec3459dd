package demo

import (
	"slices"
	"testing"
)

func TestExpand(t *testing.T) {
	d := newDice("test")
	for range 200 {
		got := d.expand("a{b|c{d|e}|}$x!", vars{"x": "7"})
		if !slices.Contains([]string{"ab7!", "acd7!", "ace7!", "a7!"}, got) {
			t.Fatalf("expand = %q", got)
		}
	}
}

func TestBag(t *testing.T) {
	b := newBag(newDice("bag"), []string{"x", "y", "@2024-01-01 z"})
	before := map[string]int{}
	for range 20 {
		before[b.next(moment("2023-06-01"))]++
	}
	if before["z"] != 0 || before["x"] == 0 || before["y"] == 0 {
		t.Errorf("before the day: %v", before)
	}
	b.left = nil
	drawn := []string{b.next(lastDay), b.next(lastDay), b.next(lastDay)}
	slices.Sort(drawn)
	if !slices.Equal(drawn, []string{"x", "y", "z"}) {
		t.Errorf("one round: %v", drawn)
	}
}

// The change to summer time is at 01:00 UTC on the last Sunday of March.
func TestHamburg(t *testing.T) {
	for _, c := range [][2]string{
		{"2024-10-27 00:59", "2024-10-27T02:59:00+02:00"},
		{"2024-10-27 01:00", "2024-10-27T02:00:00+01:00"},
		{"2025-03-30 00:59", "2025-03-30T01:59:00+01:00"},
		{"2025-03-30 01:00", "2025-03-30T03:00:00+02:00"},
	} {
		if got := hamburg(moment(c[0])); got != c[1] {
			t.Errorf("hamburg(%s) = %s, want %s", c[0], got, c[1])
		}
	}
}
