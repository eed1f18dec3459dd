package sqlread

import (
	"bytes"
	"slices"

	"pdpp/internal/store"
	"pdpp/internal/store/fold"
	"pdpp/internal/store/sqlgen"
)

// order says whether the rows of an aggregate are sorted by group or by metric first.
type order int

const (
	byGroup order = iota
	byMetric
)

// columns says what the rows of a statement contain.
type columns int

const (
	groupOnly      columns = iota // the values of a field, as groups
	metricOnly                    // the values of a field, as the metric
	groupAndMetric                // the values of two fields
)

// valueCursor reads the rows of one statement of an aggregate.
type valueCursor struct {
	conn      Conn
	source    int
	statement sqlgen.Statement
	columns   columns
	only      []int64 // the records that count; nil for all

	rows Rows
	cur  fold.Row
}

// valueCursors returns cursors over the values of a field, as groups or as the metric.
func (a *aggregation) valueCursors(entries []entrySource, as columns) []*valueCursor {
	var out []*valueCursor
	for _, e := range entries {
		out = append(out, &valueCursor{conn: a.r.conn, source: e.index, statement: e.query.Values(), columns: as})
	}
	return out
}

// pairCursor returns the cursor over the values of two fields in one source.
func (a *aggregation) pairCursor(s aggregated, q *sqlgen.Query, p sqlgen.Pairs) *valueCursor {
	return &valueCursor{conn: a.r.conn, source: s.index, statement: q.Pairs(p), columns: groupAndMetric}
}

// pairCursors returns cursors over the values of two fields in all sources. Sources may
// have any conditions.
func (a *aggregation) pairCursors(group, metric string, by order) (out []*valueCursor, err error) {
	for _, s := range a.sources {
		p := pairsSpec(s.Source, group, metric, by)
		p.IDs = a.isExtreme()
		if out, err = a.appendPairs(out, s, p); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// appendPairs appends the cursor over the pairs of one source that meet its conditions.
// It appends none if no record can meet them.
func (a *aggregation) appendPairs(dst []*valueCursor, s aggregated, p sqlgen.Pairs) ([]*valueCursor, error) {
	q, err := sqlgen.ForAggregate(a.r.dialect, s.Source, p.IDs, a.r.conn.Probe)
	if err != nil || q.Empty() {
		return dst, err
	}
	c := a.pairCursor(s, q, p)
	if q.NeedsVerify() {
		c.only, err = a.verified(s, q)
	}
	return append(dst, c), err
}

// verified returns the numbers of the records that meet all conditions, ascending. It
// reads the records in storage order. Reading them one by one in the order of their
// values would be many times slower.
func (a *aggregation) verified(s aggregated, q *sqlgen.Query) ([]int64, error) {
	out := []int64{}
	err := a.r.eachRecord(q, s.Source, func(rec *store.Record) { out = append(out, int64(rec.Ref)) })
	slices.Sort(out)
	return out, err
}

// pairsSpec returns which values of a source to read, and in which order.
func pairsSpec(s sqlgen.Source, group, metric string, by order) sqlgen.Pairs {
	return sqlgen.Pairs{Group: s.Stream.Field(group), Metric: s.Stream.Field(metric), ByMetric: by == byMetric}
}

// merge visits the rows of several statements as one sequence (AG-10).
func (a *aggregation) merge(all []*valueCursor, by order, visit func(fold.Row)) error {
	before := func(c, o *valueCursor) bool { return c.before(o, by) }
	_, err := merge(all, before, func(c *valueCursor) (bool, error) {
		visit(c.cur)
		return true, nil
	})
	return err
}

func (c *valueCursor) before(o *valueCursor, by order) bool {
	first, second := compareNil(c.cur.Group, o.cur.Group), compareNil(c.cur.Metric, o.cur.Metric)
	if by == byMetric {
		first, second = second, first
	}
	return first < 0 || first == 0 && second < 0
}

// compareNil orders nil before every value.
func compareNil(a, b []byte) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	return bytes.Compare(a, b)
}

func (c *valueCursor) next() (bool, error) {
	if c.rows == nil {
		rows, err := c.conn.Query(c.statement)
		if err != nil {
			return false, err
		}
		c.rows = rows
	}
	for {
		row, err := c.rows.Step()
		if err != nil || !row {
			return false, err
		}
		if c.only != nil {
			if _, ok := slices.BinarySearch(c.only, c.rows.Int(4)); !ok {
				continue
			}
		}
		c.read()
		return true, nil
	}
}

func (c *valueCursor) read() {
	c.cur = fold.Row{Source: c.source}
	switch c.columns {
	case groupOnly:
		c.cur.Group, c.cur.Count = present(c.rows, 0), c.rows.Int(1)
	case metricOnly:
		c.cur.Metric, c.cur.Count = present(c.rows, 0), c.rows.Int(1)
	case groupAndMetric:
		c.cur.Group, c.cur.Metric = present(c.rows, 0), present(c.rows, 1)
		c.cur.Count, c.cur.ID = c.rows.Int(2), c.rows.Bytes(3)
	}
}

func (c *valueCursor) close() {
	if c.rows != nil {
		c.rows.Close()
		c.rows = nil
	}
}

// present returns the bytes of a column: nil for NULL, and never nil for an empty value.
func present(rows Rows, col int) []byte {
	if b := rows.Bytes(col); b != nil || rows.IsNull(col) {
		return b
	}
	return []byte{}
}
