package rs

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pdpp"
	"pdpp/internal/grant"
	"pdpp/internal/query"
	"pdpp/internal/store"
)

// TestScore has results of the formula of Q-5. The first is the example of Q-6:
// 2.2 / (1 + 1.2 · (0.25 + 0.75 · 5/128)) = 2.2 / 1.33515625.
func TestScore(t *testing.T) {
	for _, c := range []struct {
		times  []int
		length int
		want   int64
	}{
		{[]int{1}, 5, -1647747},
		{[]int{1}, 1, -1683204},
		{[]int{4}, 5, -2029915},
		{[]int{1, 1}, 2, -3348395},
		{[]int{3, 1}, 128, -2571429},
		{[]int{1}, 10_000_000, -31},
	} {
		if got := score(&store.Match{Times: c.times, Length: c.length}); got != c.want {
			t.Errorf("score of %v in %d terms = %d, want %d", c.times, c.length, got, c.want)
		}
	}
}

// TestScoreExact compares the score with exact arithmetic, to a millionth.
func TestScoreExact(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := &store.Match{Times: rapid.SliceOfN(rapid.IntRange(1, 1000), 1, 32).Draw(rt, "times"), Length: rapid.IntRange(1, 1_000_000).Draw(rt, "length")}
		norm := new(big.Rat).Add(big.NewRat(3, 10), big.NewRat(9*int64(m.Length), 1280))
		sum := new(big.Rat)
		for _, tf := range m.Times {
			n := big.NewRat(int64(tf), 1)
			sum.Add(sum, new(big.Rat).Quo(new(big.Rat).Mul(big.NewRat(22, 10), n), new(big.Rat).Add(n, norm)))
		}
		exact, _ := new(big.Rat).Mul(sum, big.NewRat(1_000_000, 1)).Float64()
		if diff := float64(-score(m)) - exact; diff > 0.500001 || diff < -0.500001 {
			rt.Fatalf("score of %v in %d terms = %d, want %f", m.Times, m.Length, score(m), -exact)
		}
	})
}

// TestRanking: a ranking keeps the first matches after a place, in order.
func TestRanking(t *testing.T) {
	shapes := []*shape{}
	for _, stream := range []string{"s", "t"} {
		for _, c := range []pdpp.ConnectionID{"cin_a", "cin_b"} {
			shapes = append(shapes, &shape{connection: c, row: grant.Row{Stream: &pdpp.Stream{Name: stream}}})
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		var matches []store.Match
		var all []place
		for range rapid.IntRange(0, 80).Draw(rt, "matches") {
			m := store.Match{Times: []int{rapid.IntRange(1, 3).Draw(rt, "times")}, Length: 10}
			m.Record = store.Record{
				Source: rapid.IntRange(0, len(shapes)-1).Draw(rt, "source"), ID: []byte(rapid.SampledFrom([]string{"a", "b", "é", "B"}).Draw(rt, "id")),
				EmittedAt: time.UnixMilli(rapid.Int64Range(-1, 2).Draw(rt, "emitted")),
			}
			s := shapes[m.Source]
			p := place{score(&m), m.EmittedAt.UnixMilli(), s.connection, s.row.Stream.Name, string(m.ID)}
			if !slices.Contains(all, p) { // places are unique
				matches, all = append(matches, m), append(all, p)
			}
		}
		slices.SortFunc(all, ranked)
		var after *place
		if len(all) > 0 && rapid.Bool().Draw(rt, "continued") {
			after = &all[rapid.IntRange(0, len(all)-1).Draw(rt, "after")]
			all = all[slices.Index(all, *after)+1:]
		}
		keep := rapid.IntRange(1, 9).Draw(rt, "keep")
		r := newRanking(after, keep)
		for i := range matches {
			r.add(&matches[i], shapes[matches[i].Source])
		}
		var got []place
		for _, h := range r.best() {
			got = append(got, h.place)
		}
		if want := all[:min(keep, len(all))]; !slices.Equal(want, got) {
			rt.Fatalf("kept %v, want %v", got, want)
		}
	})
}

// ranked returns the order of Q-5, independently of the product code.
func ranked(a, b place) int {
	key := func(p place) string {
		return fmt.Sprintf("%020d %020d %s\x00%s\x00%s", p.score+1<<40, 1<<40-p.emitted, p.connection, p.stream, p.id)
	}
	return strings.Compare(key(a), key(b))
}

// FuzzResume: any sealed payload is either a place or invalid_cursor, and the cursor of a page
// resumes after its last hit.
func FuzzResume(f *testing.F) {
	cursors, err := query.NewSealer([]byte("key"))
	if err != nil {
		f.Fatal(err)
	}
	now := time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC)
	fresh := func() *searcher {
		return &searcher{request: &request{server: &Server{Config: Config{Cursors: cursors}}, now: now}, scope: query.Scope{1}}
	}
	oldest := int64(77)
	for _, o := range []*int64{nil, &oldest} {
		s := fresh()
		s.oldest = o
		last := hit{place: place{-1647747, 1_700_000_000_000, "cin_a1", "entries", "ent_31"}}
		c := s.continued(last).cursor
		again := fresh()
		if err := again.resume(c); err != nil || *again.after != last.place {
			f.Fatalf("resume = %+v, %v", again.after, err)
		}
		if diff := cmp.Diff(o, again.search.Oldest); diff != "" {
			f.Fatalf("the oldest candidate (-want +got):\n%s", diff)
		}
		payload, err := cursors.Open(query.LexicalPages, query.Scope{1}, c, now)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(payload)
		f.Add(payload[:20])
	}
	f.Add([]byte{})
	f.Add(append(make([]byte, 17), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1))
	f.Fuzz(func(t *testing.T, payload []byte) {
		if len(payload) > 1200 {
			return // longer than any cursor
		}
		s := fresh()
		err := s.resume(cursors.Seal(query.LexicalPages, query.Scope{1}, payload, now))
		if err == nil && s.after == nil || err != nil && (pdpp.CodeOf(err) != pdpp.CodeInvalidCursor || s.after != nil) {
			t.Fatalf("resume(%q) = %+v, %v", payload, s.after, err)
		}
	})
}
