package store

import (
	"math"
	"testing"
)

func TestNumbers(t *testing.T) {
	const ms = 1_000
	taken := map[int64]bool{}
	top := func(limit int64) (int64, error) {
		highest := int64(math.MinInt64)
		for record := range taken {
			if record < limit {
				highest = max(highest, record)
			}
		}
		return highest, nil
	}
	var n Numbers
	want := func(what string, ms, record int64) {
		t.Helper()
		got, err := n.Next(ms, top)
		if err != nil || got != record || taken[got] {
			t.Fatalf("%s: number %d (%v), want %d", what, got, err, record)
		}
		taken[got] = true
	}
	first := int64(ms << counterBits)
	want("the first of a millisecond", ms, first)
	want("the second", ms, first+1)
	want("a time before 1970", -1, -1<<counterBits)
	want("back again", ms, first+2)
	delete(taken, first+2)
	n.Free(first + 2)
	want("after a free", ms, first+3)
	taken[first+1<<counterBits-1] = true
	n = Numbers{}
	want("a full millisecond", ms, first+1<<counterBits)
	want("after a full one", ms, first+1<<counterBits+1)
	want("a time far away", math.MaxInt64, (1<<42-1)<<counterBits)
	want("a time long ago", math.MinInt64, -(1<<42-1)<<counterBits)
}
