package bench

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Served is a running server and its store.
type Served struct {
	Addr    string
	Dir     string
	Records int
}

// Growth compares the latency of pages of a large store with that of a small one. It sends
// one request at a time, to the two stores in turn.
func (s *Suite) Growth(ctx context.Context, small, large Served) ([]Row, error) {
	const most = 1.5
	kinds := []struct {
		what   string
		ask    func(*requester) []byte
		target *Target
	}{
		{"first page", (*requester).first, AtMost(most)},
		{"deep page", (*requester).deep, AtMost(most)},
		{"page of a category", (*requester).filtered, AtMost(most)},
		{"page of a rare category", (*requester).rare, AtMost(most)},
		{"page of a category and range", (*requester).ranged, nil},
		{"search for a rare word", (*requester).rareWord, AtMost(2)},
		{"search for two common words", (*requester).commonWords, AtMost(4)},
	}
	pair, err := s.dialPair(ctx, small, large)
	if err != nil {
		return nil, err
	}
	defer pair.close()
	var rows []Row
	for _, k := range kinds {
		s.Progress("latency of a %s", k.what)
		smallMS, largeMS, err := pair.latencies(ctx, s.Samples, k.ask)
		if err != nil {
			return nil, err
		}
		what := fmt.Sprintf("%s, %s / %s records", k.what, count(large.Records), count(small.Records))
		rows = append(rows, compare(what, "ms", largeMS, smallMS, k.target))
	}
	return rows, nil
}

// pair has a connection to each of two servers; the one with the small store is first.
type pair struct {
	asks    [2]*requester
	clients [2]*client
}

func (s *Suite) dialPair(ctx context.Context, small, large Served) (p pair, err error) {
	for i, t := range []Served{small, large} {
		if p.asks[i], err = newRequester(ctx, s.Corpus, t.Dir, t.Records); err != nil {
			p.close()
			return p, err
		}
		if p.clients[i], err = dial(t.Addr); err != nil {
			p.close()
			return p, err
		}
	}
	return p, nil
}

func (p *pair) close() {
	for _, c := range p.clients {
		if c != nil {
			c.close()
		}
	}
}

// latencies returns medians in milliseconds, after a warm-up of a quarter as many requests.
func (p *pair) latencies(ctx context.Context, samples int, ask func(*requester) []byte) (small, large float64, err error) {
	var ms [2][]float64
	for i := -samples / 4; i < samples; i++ {
		for j := range p.clients {
			side := (i + j) & 1 // alternate which store is first
			took, err := p.clients[side].timed(ask(p.asks[side]))
			if err := errors.Join(err, ctx.Err()); err != nil {
				return 0, 0, err
			}
			if i >= 0 {
				ms[side] = append(ms[side], float64(took)/float64(time.Millisecond))
			}
		}
	}
	return median(ms[0]), median(ms[1]), nil
}

// Exercise reads random records, then random pages of a store over all connections, for one
// round each.
func (s *Suite) Exercise(ctx context.Context, t Served) error {
	a, err := newRequester(ctx, s.Corpus, t.Dir, t.Records)
	if err != nil {
		return err
	}
	for _, ask := range []func() []byte{a.detail, a.page, a.filteredPage} {
		s.Progress("reads of the store of %s records", count(t.Records))
		if _, err := load(ctx, t.Addr, many(manyPages, ask), s.Round); err != nil {
			return err
		}
	}
	return nil
}
