package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// Crowd lets many clients call tools of one server at 0.7 of the rate that it can sustain.
// It measures failures, latencies and memory.
func (s *Suite) Crowd(ctx context.Context, pid int, t Served) ([]Row, error) {
	a, err := newRequester(ctx, s.Corpus, t.Dir, t.Records)
	if err != nil {
		return nil, err
	}
	requests := many(manyPages, a.hostedFetch)
	for range manyPages / 4 {
		requests = append(requests, a.queryBoth().hosted, a.searchBoth().hosted)
	}
	s.Progress("the rate that the server sustains")
	most, err := load(ctx, t.Addr, requests, s.Round)
	if err != nil {
		return nil, err
	}
	c := &crowdRun{suite: s, addr: t.Addr, requests: requests, pause: time.Duration(float64(s.Clients) / (0.7 * most) * float64(time.Second)), pid: pid}
	if err := c.run(ctx); err != nil {
		return nil, err
	}
	if len(c.latencies) == 0 {
		return nil, errors.New("no call of the crowd was answered")
	}
	return c.rows(), nil
}

// crowdRun is one run of Crowd.
type crowdRun struct {
	suite    *Suite
	addr     string
	requests [][]byte
	pause    time.Duration // between two requests of a client
	pid      int

	mu          sync.Mutex
	latencies   []float64 // ms
	failures    int
	early, late float64 // MB, after a sixth of the time and at the end
}

func (c *crowdRun) run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.suite.CrowdTime)
	defer cancel()
	var g errgroup.Group
	for i := range c.suite.Clients {
		g.Go(func() error { return c.client(ctx, i) })
	}
	g.Go(func() error { return c.watch(ctx) })
	return g.Wait()
}

// client sends requests, at least one, until ctx ends. It repeats requests that get 429 or 503. Any other
// error is a failure and ends the client.
func (c *crowdRun) client(ctx context.Context, i int) error {
	conn, err := dial(c.addr)
	if err != nil {
		return err
	}
	defer conn.close()
	rng := dice{state: uint64(i)}
	wait := time.Duration(rng.below(int(c.pause)))
	for calls := 0; ; calls++ {
		select {
		case <-ctx.Done():
			if calls > 0 {
				return nil
			}
		case <-time.After(wait):
		}
		took, err := conn.timed(c.requests[rng.below(len(c.requests))])
		c.note(took, err)
		if err != nil && !errors.Is(err, errBusy) {
			return nil
		}
		wait = c.pause/2 + time.Duration(rng.below(int(c.pause)))
	}
}

func (c *crowdRun) note(took time.Duration, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err == nil:
		c.latencies = append(c.latencies, float64(took)/float64(time.Millisecond))
	case !errors.Is(err, errBusy):
		c.failures++
	}
}

// watch measures the memory until the end, and keeps the value after a sixth of the time.
func (c *crowdRun) watch(ctx context.Context) error {
	start := time.Now()
	for {
		c.suite.Progress("%s clients, %s of %s", count(c.suite.Clients), time.Since(start).Round(time.Second), c.suite.CrowdTime)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
		}
		mb, err := residentMB(c.pid)
		if err != nil {
			return err
		}
		if c.late = mb; time.Since(start) <= c.suite.CrowdTime/6 {
			c.early = mb
		}
	}
}

func (c *crowdRun) rows() []Row {
	slices.Sort(c.latencies)
	at := func(p float64) float64 { return c.latencies[int(p*float64(len(c.latencies)-1))] }
	what := fmt.Sprintf("%s clients for %s", count(c.suite.Clients), c.suite.CrowdTime)
	rows := []Row{
		state(what+", calls answered", "calls", float64(len(c.latencies)), nil),
		state(what+", failures except 429 and 503", "calls", float64(c.failures), AtMost(0)),
		compare(what+", p99 / median", "ms", at(0.99), at(0.5), AtMost(20)),
	}
	if c.early == 0 { // the run was too short for two measurements
		return rows
	}
	return append(rows, compare(what+", memory at the end / after a sixth", "MB", c.late, c.early, AtMost(1.1)))
}
