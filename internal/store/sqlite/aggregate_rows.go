package sqlite

import (
	"bytes"
	"errors"

	"pdpp/internal/store/fold"
	"pdpp/internal/store/sqlgen"
	"pdpp/internal/store/sqlite/engine"
)

// errNoTime is about an index entry of a time field that holds none.
var errNoTime = errors.New("an index entry is no time")

// order is what rows are sorted by first.
type order bool

const (
	byGroup  order = false
	byMetric order = true
)

// valueRows reads the rows of one statement.
type valueRows struct {
	source    int
	statement sqlgen.Statement
	query     *sqlgen.Query // of pairs; nil for values
	asMetric  bool          // of values

	stmt *engine.Stmt
	cur  fold.Row
}

const (
	asGroup  = false
	asMetric = true
)

// valuesOf reads the values of a field, as groups or as the metric.
func valuesOf(entries []entrySource, metric bool) []*valueRows {
	var out []*valueRows
	for _, e := range entries {
		out = append(out, &valueRows{source: e.index, statement: e.query.Values(), asMetric: metric})
	}
	return out
}

// pairsOf reads the values of two fields.
func pairsOf(s aggregated, q *sqlgen.Query, p sqlgen.Pairs) *valueRows {
	return &valueRows{source: s.index, statement: q.Pairs(p), query: q}
}

// pairs reads the values of two fields over all sources, whatever their conditions.
func (a *aggregation) pairs(group, metric string, by order) ([]*valueRows, error) {
	var out []*valueRows
	for _, s := range a.sources {
		q, err := sqlgen.ForAggregate(dialect{}, s.Source, a.ids, a.probe)
		if err != nil {
			return nil, err
		}
		if !q.Empty() {
			out = append(out, pairsOf(s, q, a.wanted(s.Source, group, metric, by)))
		}
	}
	return out, nil
}

func (a *aggregation) wanted(s sqlgen.Source, group, metric string, by order) sqlgen.Pairs {
	return sqlgen.Pairs{Group: s.Stream.Field(group), Metric: s.Stream.Field(metric), IDs: a.ids, ByMetric: by == byMetric}
}

// merge visits the rows of several statements as one sequence (AG-10).
func (a *aggregation) merge(all []*valueRows, by order, visit func(fold.Row)) error {
	defer func() {
		for _, r := range all {
			r.close()
		}
	}()
	live := make([]*valueRows, 0, len(all))
	for _, r := range all {
		ok, err := r.next(a)
		if err != nil {
			return err
		}
		if ok {
			live = append(live, r)
		}
	}
	for len(live) > 0 {
		first := 0
		for i := 1; i < len(live); i++ {
			if live[i].before(live[first], by) {
				first = i
			}
		}
		visit(live[first].cur)
		ok, err := live[first].next(a)
		if err != nil {
			return err
		}
		if !ok {
			live = append(live[:first], live[first+1:]...)
		}
	}
	return nil
}

func (r *valueRows) before(o *valueRows, by order) bool {
	c, d := compareNil(r.cur.Group, o.cur.Group), compareNil(r.cur.Metric, o.cur.Metric)
	if by == byMetric {
		c, d = d, c
	}
	return c < 0 || c == 0 && d < 0
}

// compareNil puts no value first.
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

// next advances to the next row; false when there is none.
func (r *valueRows) next(a *aggregation) (bool, error) {
	if r.stmt == nil {
		stmt, err := a.t.conn.Query(r.statement.SQL, r.statement.Args...)
		if err != nil {
			return false, err
		}
		r.stmt = stmt
	}
	for {
		ok, err := r.stmt.Step()
		if err != nil || !ok {
			return false, err
		}
		r.read()
		if r.query == nil || !r.query.Partial() {
			return true, nil
		}
		body, err := a.bytes(r.query.Body(r.stmt.Int(4)))
		if err != nil {
			return false, err
		}
		if r.query.Verify(body) {
			return true, nil
		}
	}
}

func (r *valueRows) read() {
	r.cur = fold.Row{Source: r.source}
	if r.query == nil {
		value := present(r.stmt, 0)
		r.cur.Count = r.stmt.Int(1)
		if r.asMetric {
			r.cur.Metric = value
		} else {
			r.cur.Group = value
		}
		return
	}
	r.cur.Group, r.cur.Metric = present(r.stmt, 0), present(r.stmt, 1)
	r.cur.Count, r.cur.ID = r.stmt.Int(2), r.stmt.Bytes(3)
}

func (r *valueRows) close() {
	if r.stmt != nil {
		r.stmt.Close()
		r.stmt = nil
	}
}

// present is a column that is nil only when it is NULL.
func present(s *engine.Stmt, col int) []byte {
	if b := s.Bytes(col); b != nil || s.IsNull(col) {
		return b
	}
	return []byte{}
}

// bytes runs a statement that yields at most one value; nil when it does not.
func (a *aggregation) bytes(s sqlgen.Statement) ([]byte, error) {
	stmt, err := a.t.conn.Query(s.SQL, s.Args...)
	if err != nil {
		return nil, err
	}
	defer stmt.Close()
	ok, err := stmt.Step()
	if err != nil || !ok {
		return nil, err
	}
	return bytes.Clone(present(stmt, 0)), nil
}
