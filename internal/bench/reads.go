package bench

import (
	"context"
	"fmt"
	"net/http"
)

// The sizes of the sets of requests. The answers of the baseline are fetched once and kept.
const (
	manyDetails = 20000
	manyPages   = 2000
	keptDetails = 2000
	keptPages   = 200
)

// Reads compares reads of the store in dir, which has n records, with a handler
// that writes the same bytes.
func (s *Suite) Reads(ctx context.Context, dir string, n int) ([]Row, error) {
	a, err := newRequester(ctx, s.Corpus, dir, n)
	if err != nil {
		return nil, err
	}
	searchTarget := AtLeast(0.25)
	if n > s.Small {
		searchTarget = nil
	}
	kinds := []struct {
		name, what string
		requests   [][]byte
		kept       int
		target     *Target
	}{
		{"detail", "record detail", many(manyDetails, a.detail), keptDetails, AtLeast(0.35)},
		{"page", "page of 25", many(manyPages, a.page), keptPages, AtLeast(0.35)},
		{"filtered", "filtered page of 25", many(manyPages, a.filteredPage), keptPages, nil},
		{"search", "search for a rare word", many(manyPages, a.rareWord), keptPages, searchTarget},
	}
	var rows []Row
	err = serving(ctx, func(ctx context.Context, ready func(string)) error { return Serve(ctx, dir, ready) }, func(addr string) error {
		for _, k := range kinds {
			ours, bare, err := s.against(ctx, k.name, addr, k.requests, k.kept)
			if err != nil {
				return err
			}
			what := fmt.Sprintf("%s, %s records / bare handler", k.what, count(n))
			rows = append(rows, compare(what, "req/s", ours, bare, k.target))
		}
		return nil
	})
	return rows, err
}

// against alternates rounds of requests to a server and to a bare handler with the answers
// of the server. The last round of the server is profiled.
func (s *Suite) against(ctx context.Context, name, addr string, requests [][]byte, kept int) (ours, bare float64, err error) {
	bodies, err := fetch(addr, requests, kept)
	if err != nil {
		return 0, 0, err
	}
	return s.sideBySide(ctx, name, addr, requests, newCanned(bodies))
}

// sideBySide alternates rounds of requests to a server and to a handler.
func (s *Suite) sideBySide(ctx context.Context, name, addr string, requests [][]byte, handler http.Handler) (ours, bare float64, err error) {
	var ourRates, bareRates []float64
	serve := func(ctx context.Context, ready func(string)) error { return serveBare(ctx, handler, ready) }
	err = serving(ctx, serve, func(bareAddr string) error {
		for i := range s.Rounds {
			s.Progress("%s over HTTP, round %d of %d", name, i+1, s.Rounds)
			err := s.profiled(name, i == s.Rounds-1, func() error {
				rate, err := load(ctx, addr, requests, s.Round)
				ourRates = append(ourRates, rate)
				return err
			})
			if err != nil {
				return err
			}
			rate, err := load(ctx, bareAddr, requests, s.Round)
			if err != nil {
				return err
			}
			bareRates = append(bareRates, rate)
		}
		return ctx.Err()
	})
	return median(ourRates), median(bareRates), err
}
