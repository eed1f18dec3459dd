package rs

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"

	"pdpp"
	"pdpp/internal/store"
)

// score returns the rank of a match in millionths, lower is better: BM25 with
// constants in place of statistics of the collection, so that it does not depend on other
// records.
func score(m *store.Match) int64 {
	norm := 1.2 * (0.25 + 0.75*float64(m.Length)/128)
	sum := 0.0
	for _, tf := range m.Times {
		sum += 2.2 * float64(tf) / (float64(tf) + norm)
	}
	return -int64(math.Round(1e6 * sum))
}

// place is the position of a hit in the order of Q-5.
type place struct {
	score      int64
	emitted    int64 // milliseconds
	connection pdpp.ConnectionID
	stream     string
	id         string
}

func (p place) compare(o place) int {
	return cmp.Or(
		cmp.Compare(p.score, o.score),
		cmp.Compare(o.emitted, p.emitted),
		strings.Compare(string(p.connection), string(o.connection)),
		strings.Compare(p.stream, o.stream),
		strings.Compare(p.id, o.id),
	)
}

// hit is a match that may be on the page.
type hit struct {
	place
	record store.Record
}

// ranking keeps the best hits after a place.
type ranking struct {
	after *place
	keep  int
	hits  []hit // the best so far, and others that are dropped later
	worst int64 // the score of the last of the keep best hits; math.MaxInt64 while there are fewer
}

func newRanking(after *place, keep int) *ranking {
	return &ranking{after: after, keep: keep, worst: math.MaxInt64}
}

// add adds a match of a source with this shape. A match that cannot be among the best is
// not copied.
func (r *ranking) add(m *store.Match, s *shape) {
	rank := score(m)
	if rank > r.worst || r.after != nil && rank < r.after.score {
		return
	}
	p := place{rank, m.EmittedAt.UnixMilli(), s.connection, s.row.Stream.Name, string(m.ID)}
	if r.after != nil && p.compare(*r.after) <= 0 {
		return
	}
	record := m.Record                                         // valid during the call only
	record.ID, record.Body = []byte(p.id), bytes.Clone(m.Body) // nil stays nil
	r.hits = append(r.hits, hit{p, record})
	if len(r.hits) >= 4*r.keep {
		r.best()
		r.worst = r.hits[len(r.hits)-1].score
	}
}

// best returns the best hits in order.
func (r *ranking) best() []hit {
	slices.SortFunc(r.hits, func(a, b hit) int { return a.compare(b.place) })
	r.hits = r.hits[:min(len(r.hits), r.keep)]
	return r.hits
}
