package sqlread

import (
	"bytes"
	"errors"
	"slices"
	"strconv"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/rawjson"
	"pdpp/internal/store"
	"pdpp/internal/store/fold"
	"pdpp/internal/store/sqlgen"
)

// Errors about inconsistent tables.
var (
	errNoTime   = errors.New("an index entry of a time field is not a time")
	errNoRecord = errors.New("an index entry belongs to no record")
)

// Aggregate implements store.Records.
func (r *Reader) Aggregate(q query.Aggregate) (store.Aggregation, error) {
	a := &aggregation{r: r, query: &q, plain: true}
	if err := a.open(); err != nil {
		return store.Aggregation{}, err
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

// aggregation is the state of computing one aggregate.
type aggregation struct {
	r       *Reader
	query   *query.Aggregate
	sources []aggregated
	plain   bool // no source has conditions
	answer  store.Aggregation
}

// aggregated is a source with a binding, and its index in the query.
type aggregated struct {
	sqlgen.Source
	index int
}

// open finds the sources that can have visible records. It refuses stale index entries.
func (a *aggregation) open() error {
	for i, src := range a.query.Sources {
		s, ok, err := a.r.Source(a.query.Subject, src)
		if err != nil {
			return err
		}
		if s.Stale.Has(a.query.Group) || s.Stale.Has(a.query.Field) {
			return store.ErrRebuilding(src.Stream.Name)
		}
		if ok {
			a.sources = append(a.sources, aggregated{Source: s, index: i})
			a.plain = a.plain && len(src.Conditions()) == 0 && src.Resources == nil
		}
	}
	return nil
}

// entrySource is a source that is read from the index entries of one field.
type entrySource struct {
	aggregated
	query *sqlgen.Query
}

// entries returns the sources with queries on the index entries of a field; false if a
// source has conditions on other fields.
func (a *aggregation) entries(field string) ([]entrySource, bool) {
	out := make([]entrySource, 0, len(a.sources))
	for _, s := range a.sources {
		q, ok := sqlgen.Entries(a.r.dialect, s.Source, s.Stream.Field(field))
		if !ok {
			return nil, false
		}
		out = append(out, entrySource{s, q})
	}
	return out, true
}

// isExtreme reports whether the metric is min or max.
func (a *aggregation) isExtreme() bool {
	return a.query.Metric == query.MetricMin || a.query.Metric == query.MetricMax
}

// total counts the records of all sources.
func (a *aggregation) total() (err error) {
	a.answer.Records, err = a.r.Count(query.List{Subject: a.query.Subject, Sources: a.query.Sources})
	return err
}

// single computes a metric without groups.
func (a *aggregation) single() error {
	tally := fold.NewTally(a.query)
	entries, ok := a.entries(a.query.Field)
	var err error
	switch {
	case ok && a.isExtreme():
		err = a.findExtreme(entries, tally)
	case ok:
		err = a.merge(a.valueCursors(entries, metricOnly), byGroup, tally.Add)
	default:
		return a.singleOfPairs(tally)
	}
	if err != nil {
		return err
	}
	if err := a.total(); err != nil {
		return err
	}
	return a.setValue(tally)
}

func (a *aggregation) singleOfPairs(tally *fold.Tally) error {
	rows, err := a.pairCursors("", a.query.Field, byGroup)
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
	return a.setValue(tally)
}

// setValue stores the result of a tally in the answer.
func (a *aggregation) setValue(tally *fold.Tally) error {
	groups, err := a.resolve([]fold.Group{tally.Group(nil)})
	if err == nil {
		a.answer.Value = groups[0].Value
	}
	return err
}

// findExtreme adds the first or last index entry of each source to a tally of min or max.
func (a *aggregation) findExtreme(entries []entrySource, tally *fold.Tally) error {
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

// groups computes scalar groups.
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
	return a.setGroups(groups.Result())
}

// groupRows returns the rows of scalar groups; whole reports whether they cover every
// record. If there are no conditions, they are read from the index: records with a group,
// then records that have only a value of the metric. Records with neither are not read.
func (a *aggregation) groupRows() (out []*valueCursor, whole bool, err error) {
	q := a.query
	groups, ok := a.entries(q.Group)
	switch {
	case ok && q.Metric == query.MetricCount:
		return a.valueCursors(groups, groupOnly), false, nil
	case !a.plain:
		out, err = a.pairCursors(q.Group, q.Field, byGroup)
		return out, true, err
	}
	for _, e := range groups {
		out = append(out, a.pairCursor(e.aggregated, e.query, pairsSpec(e.Source, q.Group, q.Field, byGroup)))
	}
	if q.Field == q.Group {
		return out, false, nil
	}
	metrics, _ := a.entries(q.Field)
	for _, e := range metrics {
		p := pairsSpec(e.Source, q.Group, q.Field, byGroup)
		p.NoGroup = true
		out = append(out, a.pairCursor(e.aggregated, e.query, p))
	}
	return out, false, nil
}

// setGroups stores groups in the answer.
func (a *aggregation) setGroups(groups []fold.Group) (err error) {
	if a.answer.Groups, err = a.resolve(groups); err != nil {
		return err
	}
	a.answer.Other = fold.Other(a.answer.Records, a.answer.Groups)
	return nil
}

// resolve reads the values of min and max from their records, as they are stored
// (AG-12).
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

// find returns the record that has the min or max of a group; if several have it, the
// first by id, then by connection. It reads the index entries of the value or of the
// group, whichever are fewer.
func (a *aggregation) find(g fold.Group) (pick *fold.Pick, err error) {
	var all []*valueCursor
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
		if all, err = a.appendPairs(all, s, p); err != nil {
			return nil, err
		}
	}
	tally := fold.NewTally(a.query)
	err = a.merge(all, byGroup, tally.Add)
	return tally.Group(nil).Pick, err
}

// stored returns the value of the metric's field in a record.
func (a *aggregation) stored(p *fold.Pick) ([]byte, error) {
	for _, s := range a.sources {
		if s.index != p.Source {
			continue
		}
		body, err := a.bytes(sqlgen.BodyOf(a.r.dialect, s.Source, p.ID))
		if err != nil {
			return nil, err
		}
		value, _ := rawjson.Get(body, a.query.Field)
		return value, nil
	}
	return nil, errNoRecord
}

// bytes returns the first column of the first row; nil when there is no row.
func (a *aggregation) bytes(s sqlgen.Statement) (value []byte, err error) {
	err = a.r.first(s, func(rows Rows) error {
		value = bytes.Clone(present(rows, 0))
		return nil
	})
	return value, err
}
