package sqlread

import (
	"bytes"

	"pdpp/internal/query"
	"pdpp/internal/store/fold"
)

// buckets computes time buckets: their counts, then the metric of those that are kept.
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
	return a.setGroups(buckets.Result())
}

func (a *aggregation) countBuckets(buckets *fold.Buckets) error {
	if entries, ok := a.entries(a.query.Group); ok {
		if err := a.total(); err != nil {
			return err
		}
		return a.seekBuckets(entries, buckets)
	}
	rows, err := a.pairCursors(a.query.Group, "", byGroup)
	if err != nil {
		return err
	}
	return a.merge(rows, byGroup, func(r fold.Row) {
		a.answer.Records += r.Count
		buckets.Count(r)
	})
}

// seekBuckets counts the index entries of each bucket. It finds the first value of a
// bucket, counts the entries up to the end of the bucket, and continues with the next
// value after it, so empty buckets cost nothing.
func (a *aggregation) seekBuckets(entries []entrySource, buckets *fold.Buckets) error {
	var edge []byte
	for {
		value, err := a.nextValue(entries, edge)
		if err != nil || value == nil {
			return err
		}
		interval, ok := buckets.Of(value)
		if !ok {
			return errNoTime
		}
		n := int64(0)
		for _, e := range entries {
			some, err := a.r.number(e.query.Within(interval.From, interval.To))
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

// nextValue returns the first value of any source beyond an edge; nil when there is
// none.
func (a *aggregation) nextValue(entries []entrySource, edge []byte) (best []byte, err error) {
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

// metricRows returns the rows with a value of the metric, in its order.
func (a *aggregation) metricRows() ([]*valueCursor, error) {
	metrics, ok := a.entries(a.query.Field)
	if !ok {
		return a.pairCursors(a.query.Group, a.query.Field, byMetric)
	}
	var out []*valueCursor
	for _, e := range metrics {
		out = append(out, a.pairCursor(e.aggregated, e.query, pairsSpec(e.Source, a.query.Group, a.query.Field, byMetric)))
	}
	return out, nil
}
