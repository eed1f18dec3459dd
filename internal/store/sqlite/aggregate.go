package sqlite

import (
	"bytes"
	"slices"
	"strconv"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/rawjson"
	"pdpp/internal/store"
	"pdpp/internal/store/fold"
	"pdpp/internal/store/sqlgen"
)

// Aggregate implements store.Records.
func (t *tx) Aggregate(q query.Aggregate) (store.Aggregation, error) { return t.aggregate(q, t.probe) }

func (t *tx) aggregate(q query.Aggregate, probe func(sqlgen.Statement) (int64, error)) (store.Aggregation, error) {
	a := &aggregation{t: t, query: &q, probe: probe, plain: true}
	for i, src := range q.Sources {
		s, ok, err := t.source(q.Subject, src)
		if err != nil {
			return store.Aggregation{}, err
		}
		if s.Stale.Has(q.Group) || s.Stale.Has(q.Field) {
			return store.Aggregation{}, store.ErrRebuilding(src.Stream.Name)
		}
		if ok {
			a.sources = append(a.sources, aggregated{Source: s, index: i})
			a.plain = a.plain && len(src.Conditions()) == 0 && src.Resources == nil
		}
	}
	var err error
	switch {
	case q.Group == "" && q.Metric == query.MetricCount:
		err = a.total()
		a.answer.Value = strconv.AppendInt(nil, a.answer.Records, 10)
	case q.Group == "":
		err = a.single()
	case q.Buckets != nil:
		err = a.buckets()
	default:
		err = a.groups()
	}
	return a.answer, err
}

// aggregation is the work on one aggregate.
type aggregation struct {
	t       *tx
	query   *query.Aggregate
	probe   func(sqlgen.Statement) (int64, error)
	sources []aggregated
	plain   bool // no source has conditions
	answer  store.Aggregation
}

// aggregated is a source that has a binding, and its place in the query.
type aggregated struct {
	sqlgen.Source
	index int
}

// entrySource is a source that is read in the index entries of one field.
type entrySource struct {
	aggregated
	query *sqlgen.Query
}

// entries gives all sources by the entries of a field; false when one of them has
// other conditions than on this field.
func (a *aggregation) entries(field string) ([]entrySource, bool) {
	out := make([]entrySource, 0, len(a.sources))
	for _, s := range a.sources {
		q, ok := sqlgen.Entries(dialect{}, s.Source, s.Stream.Field(field))
		if !ok {
			return nil, false
		}
		out = append(out, entrySource{s, q})
	}
	return out, true
}

// extremes reports that the metric is the value of a record.
func (a *aggregation) extremes() bool {
	return a.query.Metric == query.MetricMin || a.query.Metric == query.MetricMax
}

// total counts the records of all sources.
func (a *aggregation) total() (err error) {
	a.answer.Records, err = a.t.Count(query.List{Subject: a.query.Subject, Sources: a.query.Sources})
	return err
}

// single computes a metric without groups.
func (a *aggregation) single() error {
	tally := fold.NewTally(a.query)
	entries, ok := a.entries(a.query.Field)
	var err error
	switch {
	case ok && a.extremes():
		err = a.extreme(entries, tally)
	case ok:
		err = a.merge(valuesOf(entries, asMetric), byGroup, tally.Add)
	default:
		return a.singleOfPairs(tally)
	}
	if err != nil {
		return err
	}
	if err := a.total(); err != nil {
		return err
	}
	return a.value(tally)
}

func (a *aggregation) singleOfPairs(tally *fold.Tally) error {
	rows, err := a.pairs("", a.query.Field, byGroup)
	if err != nil {
		return err
	}
	err = a.merge(rows, byGroup, func(r fold.Row) {
		a.answer.Records += r.Count
		tally.Add(r)
	})
	if err != nil {
		return err
	}
	return a.value(tally)
}

// value makes a tally the answer.
func (a *aggregation) value(tally *fold.Tally) error {
	groups, err := a.resolve([]fold.Group{tally.Group(nil)})
	if err == nil {
		a.answer.Value = groups[0].Value
	}
	return err
}

// extreme finds a min or max at the end of the index.
func (a *aggregation) extreme(entries []entrySource, tally *fold.Tally) error {
	for _, e := range entries {
		end := e.query.First(nil)
		if a.query.Metric == query.MetricMax {
			end = e.query.Last(nil)
		}
		value, err := a.bytes(end)
		if err != nil {
			return err
		}
		if value == nil {
			continue
		}
		tally.Add(fold.Row{Metric: value, Source: e.index})
	}
	return nil
}

// groups makes scalar groups.
func (a *aggregation) groups() error {
	rows, whole, err := a.groupRows()
	if err != nil {
		return err
	}
	groups, seen := fold.NewGroups(a.query), int64(0)
	err = a.merge(rows, byGroup, func(r fold.Row) {
		seen += r.Count
		groups.Add(r)
	})
	if err != nil {
		return err
	}
	a.answer.Records = seen
	if !whole {
		if err := a.total(); err != nil {
			return err
		}
		groups.Add(fold.Row{Count: a.answer.Records - seen})
	}
	return a.finish(groups.Result())
}

// groupRows are the rows of scalar groups; whole says that every record is in them.
// Without conditions they are read in the index: who has a group, then who has only
// a value of the metric. Those who have neither are the rest.
func (a *aggregation) groupRows() (out []*valueRows, whole bool, err error) {
	q := a.query
	groups, ok := a.entries(q.Group)
	switch {
	case ok && q.Metric == query.MetricCount:
		return valuesOf(groups, asGroup), false, nil
	case !a.plain:
		out, err = a.pairs(q.Group, q.Field, byGroup)
		return out, true, err
	}
	for _, e := range groups {
		out = append(out, pairsOf(e.aggregated, e.query, a.wanted(e.Source, q.Group, q.Field, byGroup)))
	}
	if q.Field == q.Group {
		return out, false, nil
	}
	metrics, _ := a.entries(q.Field)
	for _, e := range metrics {
		p := a.wanted(e.Source, q.Group, q.Field, byGroup)
		p.NoGroup = true
		out = append(out, pairsOf(e.aggregated, e.query, p))
	}
	return out, false, nil
}

// buckets makes time buckets: their counts, then the metric of those that are kept.
func (a *aggregation) buckets() error {
	buckets := fold.NewBuckets(a.query)
	if err := a.countBuckets(buckets); err != nil {
		return err
	}
	buckets.Close(a.answer.Records)
	if a.query.Metric != query.MetricCount {
		rows, err := a.metricRows()
		if err != nil {
			return err
		}
		if err := a.merge(rows, byMetric, buckets.Add); err != nil {
			return err
		}
	}
	return a.finish(buckets.Result())
}

func (a *aggregation) countBuckets(buckets *fold.Buckets) error {
	if entries, ok := a.entries(a.query.Group); ok {
		if err := a.total(); err != nil {
			return err
		}
		return a.seekBuckets(entries, buckets)
	}
	rows, err := a.pairs(a.query.Group, "", byGroup)
	if err != nil {
		return err
	}
	return a.merge(rows, byGroup, func(r fold.Row) {
		a.answer.Records += r.Count
		buckets.Count(r)
	})
}

// seekBuckets counts intervals of the index, from one value to the next that is not
// in the same bucket: buckets without records cost nothing, and no value is read but
// one per bucket.
func (a *aggregation) seekBuckets(entries []entrySource, buckets *fold.Buckets) error {
	var edge []byte
	for {
		value, err := a.next(entries, edge)
		if err != nil || value == nil {
			return err
		}
		interval, ok := buckets.Of(value)
		if !ok {
			return errNoTime
		}
		n := int64(0)
		for _, e := range entries {
			s := e.query.Within(interval.From, interval.To)
			some, err := queryInt(a.t.conn, s.SQL, s.Args...)
			if err != nil {
				return err
			}
			n += some
		}
		if buckets.Put(interval, n) {
			return nil
		}
		edge = interval.To
		if a.query.Buckets.Desc {
			edge = interval.From
		}
	}
}

// next is the first value of any source beyond an edge; nil when there is none.
func (a *aggregation) next(entries []entrySource, edge []byte) (best []byte, err error) {
	for _, e := range entries {
		s, direction := e.query.First(edge), -1
		if a.query.Buckets.Desc {
			s, direction = e.query.Last(edge), 1
		}
		value, err := a.bytes(s)
		if err != nil {
			return nil, err
		}
		if value != nil && (best == nil || bytes.Compare(value, best) == direction) {
			best = value
		}
	}
	return best, nil
}

// metricRows are the rows with a value of the metric, in its order.
func (a *aggregation) metricRows() ([]*valueRows, error) {
	metrics, ok := a.entries(a.query.Field)
	if !ok {
		return a.pairs(a.query.Group, a.query.Field, byMetric)
	}
	var out []*valueRows
	for _, e := range metrics {
		out = append(out, pairsOf(e.aggregated, e.query, a.wanted(e.Source, a.query.Group, a.query.Field, byMetric)))
	}
	return out, nil
}

// finish makes groups the answer.
func (a *aggregation) finish(groups []fold.Group) (err error) {
	if a.answer.Groups, err = a.resolve(groups); err != nil {
		return err
	}
	a.answer.Other = fold.Other(a.answer.Records, a.answer.Groups)
	return nil
}

// resolve reads the values that are with records, as they are stored (AG-12).
func (a *aggregation) resolve(groups []fold.Group) ([]store.Group, error) {
	out := make([]store.Group, 0, len(groups))
	for _, g := range groups {
		pick := g.Pick
		if g.Best != nil && pick == nil {
			var err error
			if pick, err = a.find(g); err != nil {
				return nil, err
			}
		}
		if pick != nil {
			value, err := a.stored(pick)
			if err != nil {
				return nil, err
			}
			g.Value = value
		}
		out = append(out, g.Group)
	}
	return out, nil
}

// find looks for the record whose value is the best of a group: the first by id,
// then by connection. It goes by the entries of that value or of the group,
// whichever are fewer.
func (a *aggregation) find(g fold.Group) (*fold.Pick, error) {
	var all []*valueRows
	for _, s := range a.sources {
		field, group := s.Stream.Field(a.query.Field), s.Stream.Field(a.query.Group)
		s.Where = append(slices.Clone(s.Where), query.Condition{Field: field, Op: pdpp.OpEq, Key: g.Best})
		p := sqlgen.Pairs{Metric: field, IDs: true}
		switch {
		case group == nil:
		case g.From == nil:
			p.Group, p.NoGroup = group, true
		case g.To == nil:
			s.Where = append(s.Where, query.Condition{Field: group, Op: pdpp.OpEq, Key: g.From})
		default:
			s.Where = append(s.Where, query.Condition{Field: group, Op: pdpp.OpGte, Key: g.From}, query.Condition{Field: group, Op: pdpp.OpLt, Key: g.To})
		}
		rows, err := a.compiled(s, p)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	tally := fold.NewTally(a.query)
	err := a.merge(all, byGroup, tally.Add)
	return tally.Group(nil).Pick, err
}

// stored is the value of the metric's field in a record.
func (a *aggregation) stored(p *fold.Pick) ([]byte, error) {
	for _, s := range a.sources {
		if s.index != p.Source {
			continue
		}
		body, err := a.bytes(sqlgen.BodyOf(dialect{}, s.Source, p.ID))
		if err != nil {
			return nil, err
		}
		value, _ := rawjson.Get(body, a.query.Field)
		return value, nil
	}
	return nil, errNoRecord
}
