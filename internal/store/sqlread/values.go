package sqlread

import (
	"bytes"
	"slices"

	"pdpp/internal/store"
	"pdpp/internal/store/fold"
	"pdpp/internal/store/sqlgen"
)

// order is what the rows of an aggregate are sorted by first.
type order bool

const (
	byGroup  order = false
	byMetric order = true
)

// valueCursor reads the rows of one statement of an aggregate.
type valueCursor struct {
	conn      Conn
	source    int
	statement sqlgen.Statement
	pairs     bool    // group and metric; else values of one field
	asMetric  bool    // of values
	only      []int64 // the records that count; nil: all

	rows Rows
	cur  fold.Row
}

const (
	asGroup  = false
	asMetric = true
)

// values reads the values of a field, as groups or as the metric.
func (a *aggregation) values(entries []entrySource, metric bool) []*valueCursor {
	var out []*valueCursor
	for _, e := range entries {
		out = append(out, &valueCursor{conn: a.r.conn, source: e.index, statement: e.query.Values(), asMetric: metric})
	}
	return out
}

// pairsOf reads the values of two fields.
func (a *aggregation) pairsOf(s aggregated, q *sqlgen.Query, p sqlgen.Pairs) *valueCursor {
	return &valueCursor{conn: a.r.conn, source: s.index, statement: q.Pairs(p), pairs: true}
}

// pairs reads the values of two fields over all sources, whatever their conditions.
func (a *aggregation) pairs(group, metric string, by order) ([]*valueCursor, error) {
	var out []*valueCursor
	for _, s := range a.sources {
		p := a.wanted(s.Source, group, metric, by)
		p.IDs = a.extremes()
		rows, err := a.compiled(s, p)
		if err != nil {
			return nil, err
		}
		out = append(out, rows...)
	}
	return out, nil
}

// compiled reads the pairs of one source; none when no record can meet its
// conditions.
func (a *aggregation) compiled(s aggregated, p sqlgen.Pairs) ([]*valueCursor, error) {
	q, err := sqlgen.ForAggregate(a.r.dialect, s.Source, p.IDs, a.r.conn.Probe)
	if err != nil || q.Empty() {
		return nil, err
	}
	rows := a.pairsOf(s, q, p)
	if q.NeedsVerify() {
		if rows.only, err = a.verified(s, q); err != nil {
			return nil, err
		}
	}
	return []*valueCursor{rows}, nil
}

// verified returns the numbers of the records that meet all conditions, ascending.
// It reads the records in the order they are stored in, before their values are
// sorted: reading them one by one in the order of their values is many times slower.
func (a *aggregation) verified(s aggregated, q *sqlgen.Query) ([]int64, error) {
	out := []int64{}
	err := a.r.eachRecord(q, s.Source, func(rec *store.Record) { out = append(out, int64(rec.Ref)) })
	slices.Sort(out)
	return out, err
}

func (a *aggregation) wanted(s sqlgen.Source, group, metric string, by order) sqlgen.Pairs {
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
	if !c.pairs {
		value := present(c.rows, 0)
		c.cur.Count = c.rows.Int(1)
		if c.asMetric {
			c.cur.Metric = value
		} else {
			c.cur.Group = value
		}
		return
	}
	c.cur.Group, c.cur.Metric = present(c.rows, 0), present(c.rows, 1)
	c.cur.Count, c.cur.ID = c.rows.Int(2), c.rows.Bytes(3)
}

func (c *valueCursor) close() {
	if c.rows != nil {
		c.rows.Close()
		c.rows = nil
	}
}

// present returns a column, nil only when it is NULL.
func present(rows Rows, col int) []byte {
	if b := rows.Bytes(col); b != nil || rows.IsNull(col) {
		return b
	}
	return []byte{}
}
