package bench

import (
	"context"
	"errors"
	"time"
)

// maxCodes bounds the codes of a round: they are created before it and live for a minute.
const maxCodes = 400

// Tokens compares the token endpoint with a handler that only commits rows of the same number
// and size: refreshing a token, and redeeming a code.
func (s *Suite) Tokens(ctx context.Context) (rows []Row, err error) {
	dir, err := s.folder()
	if err != nil {
		return nil, err
	}
	w, err := NewWorld(ctx, dir)
	if err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	f, err := newFlow(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	serve := func(ctx context.Context, ready func(string)) error { return Serve(ctx, dir, ready) }
	err = serving(ctx, serve, func(addr string) error {
		for _, measure := range []func(context.Context, *flow, string) (Row, error){s.refreshes, s.redemptions} {
			row, err := measure(ctx, f, addr)
			if err != nil {
				return err
			}
			rows = append(rows, row)
		}
		return nil
	})
	return rows, err
}

// refreshes compares refreshing: each connection renews the token of its own family again
// and again.
func (s *Suite) refreshes(ctx context.Context, f *flow, addr string) (Row, error) {
	codes, err := f.codes(ctx, connections)
	if err != nil {
		return Row{}, err
	}
	answers, err := fetch(addr, codes, len(codes))
	if err != nil {
		return Row{}, err
	}
	tokens := make([]string, len(answers))
	for i, answer := range answers {
		tokens[i] = valueOf(answer, "refresh_token")
	}
	round := func() (float64, error) {
		return loadEach(ctx, addr, s.Round, func(i int) sequence {
			return func(answer []byte) []byte {
				if answer != nil {
					tokens[i] = valueOf(answer, "refresh_token")
				}
				return refresh(tokens[i])
			}
		})
	}
	return s.againstCommit(ctx, contest{
		name: "refresh of a token", answers: answers, ours: round, prepare: func() error { return nil },
		bare: func(addr string) (float64, error) { return load(ctx, addr, [][]byte{refresh(tokens[0])}, s.Round) },
	})
}

// redemptions compares redeeming codes, each of which can be used once.
func (s *Suite) redemptions(ctx context.Context, f *flow, addr string) (Row, error) {
	n := max(connections, min(maxCodes, s.Calls/25))
	var requests [][]byte
	prepare := func() (err error) {
		requests, err = f.codes(ctx, n)
		return err
	}
	once := func(addr string) (float64, error) {
		return loadEach(ctx, addr, time.Minute, func(i int) sequence {
			return func([]byte) []byte {
				if i >= len(requests) {
					return nil
				}
				next := requests[i]
				i += connections
				return next
			}
		})
	}
	if err := prepare(); err != nil {
		return Row{}, err
	}
	answers, err := fetch(addr, requests, 1)
	if err != nil {
		return Row{}, err
	}
	return s.againstCommit(ctx, contest{
		name: "redemption of a code", answers: answers, prepare: prepare, bare: once,
		ours: func() (float64, error) { return once(addr) },
	})
}

// contest has the rounds of two handlers.
type contest struct {
	name    string
	answers [][]byte // of the measured one
	prepare func() error
	ours    func() (rate float64, err error)
	bare    func(addr string) (rate float64, err error)
}

// againstCommit alternates rounds of a handler and of a committer that answers with the same
// bytes. The last round of the handler is profiled.
func (s *Suite) againstCommit(ctx context.Context, k contest) (row Row, err error) {
	dir, err := s.folder()
	if err != nil {
		return Row{}, err
	}
	c, err := newCommitter(dir, k.answers)
	if err != nil {
		return Row{}, err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	var ourRates, bareRates []float64
	serve := func(ctx context.Context, ready func(string)) error { return serveBare(ctx, c, ready) }
	err = serving(ctx, serve, func(bareAddr string) error {
		for i := range s.Rounds {
			s.Progress("%s, round %d of %d", k.name, i+1, s.Rounds)
			if err := k.prepare(); err != nil {
				return err
			}
			err := s.profiled(k.name, i == s.Rounds-1, func() error {
				rate, err := k.ours()
				ourRates = append(ourRates, rate)
				return err
			})
			if err != nil {
				return err
			}
			rate, err := k.bare(bareAddr)
			if err != nil {
				return err
			}
			bareRates = append(bareRates, rate)
		}
		return ctx.Err()
	})
	return compare(k.name+" / bare durable commit", "req/s", median(ourRates), median(bareRates), AtLeast(0.25)), err
}

// codes returns the requests for the tokens of n new codes.
func (f *flow) codes(ctx context.Context, n int) ([][]byte, error) {
	requests := make([][]byte, n)
	for i := range requests {
		code, err := f.code(ctx)
		if err != nil {
			return nil, err
		}
		requests[i] = redemption(code)
	}
	return requests, nil
}
