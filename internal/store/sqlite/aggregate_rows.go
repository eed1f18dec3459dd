package sqlite

import (
	"bytes"
	"errors"
	"slices"

	"pdpp/internal/query"
	"pdpp/internal/store/fold"
	"pdpp/internal/store/sqlgen"
	"pdpp/internal/store/sqlite/engine"
)

// Errors about a store that contradicts itself.
var (
	errNoTime   = errors.New("an index entry of a time field is no time")
	errNoRecord = errors.New("an index entry belongs to no record")
)

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
	pairs     bool    // else values of one field
	asMetric  bool    // of values
	only      []int64 // the records that count; nil: all

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
	return &valueRows{source: s.index, statement: q.Pairs(p), pairs: true}
}

// pairs reads the values of two fields over all sources, whatever their conditions.
func (a *aggregation) pairs(group, metric string, by order) ([]*valueRows, error) {
	var out []*valueRows
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
func (a *aggregation) compiled(s aggregated, p sqlgen.Pairs) ([]*valueRows, error) {
	q, err := sqlgen.ForAggregate(dialect{}, s.Source, p.IDs, a.probe)
	if err != nil || q.Empty() {
		return nil, err
	}
	rows := pairsOf(s, q, p)
	if q.Partial() {
		if rows.only, err = a.verified(s, q); err != nil {
			return nil, err
		}
	}
	return []*valueRows{rows}, nil
}

// verified gives the numbers of the records that meet all conditions, ascending.
// The records are read before their values are sorted, in the order they are stored
// in: one after the other by value would be many times slower.
func (a *aggregation) verified(s aggregated, q *sqlgen.Query) ([]int64, error) {
	w := a.t.walk(q, s.Source, query.List{Order: query.Order{By: query.ByCursor}})
	defer w.close()
	out := []int64{}
	for {
		ok, err := w.next()
		if err != nil {
			return nil, err
		}
		if !ok {
			slices.Sort(out)
			return out, nil
		}
		out = append(out, int64(w.cur.Ref))
	}
}

func (a *aggregation) wanted(s sqlgen.Source, group, metric string, by order) sqlgen.Pairs {
	return sqlgen.Pairs{Group: s.Stream.Field(group), Metric: s.Stream.Field(metric), ByMetric: by == byMetric}
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
		if r.only != nil {
			if _, ok := slices.BinarySearch(r.only, r.stmt.Int(4)); !ok {
				continue
			}
		}
		r.read()
		return true, nil
	}
}

func (r *valueRows) read() {
	r.cur = fold.Row{Source: r.source}
	if !r.pairs {
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
