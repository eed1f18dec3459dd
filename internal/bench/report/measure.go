package main

import (
	"context"
	"errors"
	"slices"

	"pdpp/internal/bench"
)

// smallStore is the size of the store that the large one is compared with.
const smallStore = 20_000

// measurement is one run of the report.
type measurement struct {
	options
	suite  *bench.Suite
	report *bench.Report

	small, large string // folders of the stores, "" until they are built
}

func newMeasurement(o options, dir string, p *progress) *measurement {
	s := &bench.Suite{
		Dir: dir, Corpus: bench.NewCorpus(), Small: min(smallStore, o.records/2), Large: o.records,
		Rounds: o.rounds, Round: o.round, Samples: min(400, o.records/2), Calls: min(10_000, o.records), Clients: min(1000, o.records), CrowdTime: 20 * o.round, Profiles: o.profiles, Progress: p.say,
	}
	return &measurement{options: o, suite: s, report: bench.NewReport()}
}

func (m *measurement) wants(step string) bool {
	return len(m.only) == 0 || slices.Contains(m.only, step)
}

// needsLarge reports whether another measurement builds the large store.
func (m *measurement) needsLarge() bool { return m.wants("growth") || m.wants("memory") }

func (m *measurement) add(rows ...bench.Row) { m.report.Rows = append(m.report.Rows, rows...) }

func (m *measurement) all(ctx context.Context) error {
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{{"ingest", m.ingest}, {"http", m.http}, {"growth", m.growth}, {"memory", m.memory}, {"window", m.window}, {"changes", m.changes}, {"mcp", m.mcp}, {"hosted", m.hosted}, {"oauth", m.oauth}} {
		if !m.wants(step.name) || step.name == "memory" && m.wants("growth") {
			continue // growth measures the memory of its server
		}
		if err := step.do(ctx); err != nil {
			return err
		}
	}
	return nil
}

// ingest measures the small size and, in a full run, five times that size.
func (m *measurement) ingest(ctx context.Context) error {
	sizes := []int{m.suite.Small}
	if !m.quick && m.records >= 5*m.suite.Small {
		sizes = append(sizes, 5*m.suite.Small)
	}
	for i, n := range sizes {
		row, err := m.suite.Ingest(ctx, n, max(1, m.rounds-2*i))
		if err != nil {
			return err
		}
		m.add(row)
	}
	return nil
}

// http measures the small store and, if it is needed anyway, the large one.
func (m *measurement) http(ctx context.Context) error {
	small, err := m.store(ctx, &m.small, m.suite.Small)
	if err != nil {
		return err
	}
	rows, err := m.suite.Reads(ctx, small, m.suite.Small)
	m.add(rows...)
	if err != nil || !m.needsLarge() {
		return err
	}
	large, err := m.store(ctx, &m.large, m.suite.Large)
	if err != nil {
		return err
	}
	rows, err = m.suite.Reads(ctx, large, m.suite.Large)
	m.add(rows...)
	return err
}

// growth compares a server of the small store with one of the large store. Then it measures
// the memory of the latter.
func (m *measurement) growth(ctx context.Context) error {
	small, err := m.store(ctx, &m.small, m.suite.Small)
	if err != nil {
		return err
	}
	large, err := m.store(ctx, &m.large, m.suite.Large)
	if err != nil {
		return err
	}
	return withChild(ctx, small, func(a *child) error {
		return withChild(ctx, large, func(b *child) error {
			first := bench.Served{Addr: a.addr, Dir: small, Records: m.suite.Small}
			second := bench.Served{Addr: b.addr, Dir: large, Records: m.suite.Large}
			rows, err := m.suite.Growth(ctx, first, second)
			m.add(rows...)
			if err == nil {
				rows, err = m.suite.Aggregates(ctx, first, second)
				m.add(rows...)
			}
			if err != nil || !m.wants("memory") {
				return err
			}
			return m.resident(ctx, b, large)
		})
	})
}

func (m *measurement) memory(ctx context.Context) error {
	large, err := m.store(ctx, &m.large, m.suite.Large)
	if err != nil {
		return err
	}
	return withChild(ctx, large, func(c *child) error { return m.resident(ctx, c, large) })
}

// changes reads 100,000 changes, or fewer if the large store has fewer records.
func (m *measurement) changes(ctx context.Context) error {
	row, err := m.suite.Changes(ctx, min(100_000, m.records))
	if err == nil {
		m.add(row)
	}
	return err
}

func (m *measurement) window(ctx context.Context) error {
	row, err := m.suite.Windows(ctx)
	if err == nil {
		m.add(row)
	}
	return err
}

// mcp measures the built program as an adapter of the small store.
func (m *measurement) mcp(ctx context.Context) error {
	small, err := m.store(ctx, &m.small, m.suite.Small)
	if err != nil {
		return err
	}
	binary, err := build(ctx, m.suite.Dir)
	if err != nil {
		return err
	}
	return withChild(ctx, small, func(c *child) error {
		rows, err := m.suite.Adapter(ctx, binary, bench.Served{Addr: c.addr, Dir: small, Records: m.suite.Small})
		m.add(rows...)
		return err
	})
}

// hosted measures the hosted endpoint over the small store.
func (m *measurement) hosted(ctx context.Context) error {
	small, err := m.store(ctx, &m.small, m.suite.Small)
	if err != nil {
		return err
	}
	rows, err := m.suite.Hosted(ctx, small, m.suite.Small)
	m.add(rows...)
	if err != nil {
		return err
	}
	return withChild(ctx, small, func(c *child) error {
		t := bench.Served{Addr: c.addr, Dir: small, Records: m.suite.Small}
		rows, err := m.suite.Packages(ctx, t)
		m.add(rows...)
		if err != nil {
			return err
		}
		rows, err = m.suite.Crowd(ctx, c.pid(), t)
		m.add(rows...)
		return err
	})
}

// oauth measures the token endpoint and the consent page, with stores of their own.
func (m *measurement) oauth(ctx context.Context) error {
	rows, err := m.suite.Tokens(ctx)
	m.add(rows...)
	if err != nil {
		return err
	}
	row, err := m.suite.ConsentPage(ctx)
	if err == nil {
		m.add(row)
	}
	return err
}

func (m *measurement) resident(ctx context.Context, c *child, dir string) error {
	err := m.suite.Exercise(ctx, bench.Served{Addr: c.addr, Dir: dir, Records: m.suite.Large})
	if err != nil {
		return err
	}
	rows, err := bench.Memory(c.pid(), m.suite.Large)
	m.add(rows...)
	return errors.Join(err, ctx.Err())
}

// store builds a store once.
func (m *measurement) store(ctx context.Context, dir *string, n int) (string, error) {
	if *dir != "" {
		return *dir, nil
	}
	built, row, err := m.suite.Build(ctx, n)
	if err != nil {
		return "", err
	}
	m.add(row)
	*dir = built
	return built, nil
}
