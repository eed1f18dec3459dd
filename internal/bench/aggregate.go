package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"pdpp/internal/sortkey"
	"pdpp/internal/store/sqlite"
	"pdpp/internal/store/sqlite/engine"
	"pdpp/internal/timebucket"
)

// counted is a measured grouped count, with the same query in hand-written SQL over the
// same index.
type counted struct {
	what, target string
	field        string
	byHand       string
	args         func(n int) []any // after the field's number
}

var countedKinds = []counted{
	{
		"count by category", "?metric=count&group_by=category&limit=100", "category",
		`SELECT value, count(*) FROM field_index WHERE field = ? GROUP BY value`, func(int) []any { return nil },
	},
	{
		"count by month", "?metric=count&group_by_time=sent_at&granularity=month&limit=100", "sent_at",
		`WITH months (lo, hi) AS MATERIALIZED (SELECT unhex(value ->> 0), unhex(value ->> 1) FROM json_each(?2))
			SELECT lo, count(*) FROM months CROSS JOIN field_index i ON i.field = ?1 AND i.value >= lo AND i.value < hi GROUP BY lo`,
		func(n int) []any { return []any{monthEdges(n)} },
	},
}

// monthEdges returns the months of a store of n records as pairs of encoded times.
func monthEdges(n int) string {
	var pairs []string
	for b := timebucket.Of(firstSent, timebucket.Month, time.UTC); b.Start.Before(sentAt(n)); b = timebucket.Of(b.End, timebucket.Month, time.UTC) {
		pairs = append(pairs, fmt.Sprintf(`["%x","%x"]`, sortkey.FromTime(b.Start), sortkey.FromTime(b.End)))
	}
	return "[" + strings.Join(pairs, ",") + "]"
}

// Aggregates compares grouped counts with the same queries in hand-written SQL, and with
// those of a small store. A count reads every index entry, so few rounds are enough.
func (s *Suite) Aggregates(ctx context.Context, small, large Served) ([]Row, error) {
	var rows []Row
	for _, k := range countedKinds {
		s.Progress("%s of %s records", k.what, count(large.Records))
		ask := request("/v1/streams/" + stream + "/aggregate" + k.target)
		times, err := s.inTurn(ctx, max(5, s.Samples/40),
			func() (time.Duration, error) { return once(large.Addr, ask) },
			func() (time.Duration, error) { return s.byHand(large, k) },
			func() (time.Duration, error) { return once(small.Addr, ask) })
		if err != nil {
			return rows, err
		}
		rows = append(rows,
			compare(fmt.Sprintf("%s, %s records / by hand", k.what, count(large.Records)), "ms", times[0], times[1], AtMost(1.5)),
			compare(fmt.Sprintf("%s, %s / %s records", k.what, count(large.Records), count(small.Records)), "ms", times[0], times[2],
				AtMost(1.2*float64(large.Records)/float64(small.Records))))
	}
	return rows, nil
}

// inTurn runs measurements in turn for several rounds and returns their medians in
// milliseconds. The first round is a warm-up.
func (s *Suite) inTurn(ctx context.Context, rounds int, measure ...func() (time.Duration, error)) ([]float64, error) {
	ms := make([][]float64, len(measure))
	for i := range rounds + 1 {
		for j, m := range measure {
			took, err := m()
			if err := errors.Join(err, ctx.Err()); err != nil {
				return nil, err
			}
			if i > 0 {
				ms[j] = append(ms[j], float64(took)/float64(time.Millisecond))
			}
		}
	}
	medians := make([]float64, len(ms))
	for i, values := range ms {
		medians[i] = median(values)
	}
	return medians, nil
}

// once measures one request on a new connection.
func once(addr string, ask []byte) (time.Duration, error) {
	c, err := dial(addr)
	if err != nil {
		return 0, err
	}
	defer c.close()
	return c.timed(ask)
}

// byHand runs the hand-written statement on a connection with the settings of a reader.
func (s *Suite) byHand(t Served, k counted) (took time.Duration, err error) {
	c, err := engine.Open(filepath.Join(t.Dir, "pdpp.db"))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	for _, p := range sqlite.ReaderPragmas() {
		if err := c.Exec(p); err != nil {
			return 0, err
		}
	}
	var field int64
	if err := eachRow(c, func(row *engine.Stmt) { field = row.Int(0) }, `SELECT field FROM fields WHERE name = ?`, k.field); err != nil {
		return 0, err
	}
	groups := 0
	run := func() error {
		return eachRow(c, func(*engine.Stmt) { groups++ }, k.byHand, append([]any{field}, k.args(t.Records)...)...)
	}
	if err := run(); err != nil { // warm-up: the server has read it before too
		return 0, err
	}
	start := time.Now()
	err = run()
	if groups == 0 {
		err = errors.Join(err, errors.New("the statement found nothing"))
	}
	return time.Since(start), err
}

func eachRow(c *engine.Conn, visit func(*engine.Stmt), sql string, args ...any) error {
	row, err := c.Query(sql, args...)
	if err != nil {
		return err
	}
	defer row.Close()
	for {
		ok, err := row.Step()
		if err != nil || !ok {
			return err
		}
		visit(row)
	}
}
