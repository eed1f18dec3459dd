package bench

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"
)

// connections is the number of keep-alive connections of a load.
const connections = 16

// sequence returns the next request of one connection, given the body of the answer before it.
// It returns nil after the last one.
type sequence func(answer []byte) []byte

// load sends random requests of a set over all connections for the time d, at least one
// over each. It returns the number of answers per second.
func load(ctx context.Context, addr string, requests [][]byte, d time.Duration) (float64, error) {
	return loadEach(ctx, addr, d, func(i int) sequence {
		rng := dice{state: uint64(i)}
		return func([]byte) []byte { return requests[rng.below(len(requests))] }
	})
}

// loadEach is like load, with a sequence of requests for each connection.
func loadEach(ctx context.Context, addr string, d time.Duration, sequenceOf func(connection int) sequence) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	var counts [connections]int
	var g errgroup.Group
	start := time.Now()
	for i := range connections {
		g.Go(func() error {
			c, err := dial(addr)
			if err != nil {
				return err
			}
			defer c.close()
			next := sequenceOf(i)
			for request := next(nil); request != nil && (counts[i] == 0 || ctx.Err() == nil); request = next(c.body) {
				if err := c.do(request); err != nil {
					return err
				}
				counts[i]++
			}
			return nil
		})
	}
	err := g.Wait()
	took := time.Since(start)
	total := 0
	for _, n := range counts {
		total += n
	}
	return perSecond(total, took), err
}

// fetch returns the bodies of the answers to the first n requests.
func fetch(addr string, requests [][]byte, n int) ([][]byte, error) {
	c, err := dial(addr)
	if err != nil {
		return nil, err
	}
	defer c.close()
	var bodies [][]byte
	for _, r := range requests[:min(n, len(requests))] {
		if err := c.do(r); err != nil {
			return nil, err
		}
		bodies = append(bodies, append([]byte(nil), c.body...))
	}
	return bodies, nil
}
