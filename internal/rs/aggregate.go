package rs

import (
	"slices"

	"pdpp/internal/grant"
	"pdpp/internal/query"
	"pdpp/internal/rawjson"
	"pdpp/internal/store"
)

// aggregate answers GET /v1/streams/{stream}/aggregate (rs-contract §4).
func aggregate(q *request) error {
	rows, err := q.streamRows(q.vars.get("stream"))
	if err != nil {
		return err
	}
	w, err := q.params.Aggregate()
	if err != nil {
		return err
	}
	sources, err := q.aggregated(rows, w)
	if err != nil {
		return err
	}
	found, err := q.view.Aggregate(w.Over(q.reach.Subject, sources))
	if err != nil {
		return err
	}
	writeAggregation(&q.body, q.vars.get("stream"), w, found)
	q.closeObject(nil)
	return nil
}

// aggregated returns the sources of an aggregate. Values of different types cannot be
// combined, so a row whose field has another type than in the first row is skipped, like
// a row without the field (AG-10).
func (q *request) aggregated(rows []grant.Row, w query.AggregateRequest) ([]query.Source, error) {
	type part struct {
		row   grant.Row
		where []query.Condition
	}
	var parts []part
	err := q.eachApplicable(rows, func(row grant.Row) error {
		where, err := w.On(row.Access)
		if err == nil {
			parts = append(parts, part{row, where})
		}
		return err
	})
	if err != nil || len(parts) == 0 {
		return nil, err
	}
	first := slices.MinFunc(parts, func(a, b part) int { return byConnection(failure{row: a.row}, failure{row: b.row}) })
	var sources []query.Source
	for _, p := range parts {
		if !w.Aligned(first.row.Stream, p.row.Stream) {
			q.skip(p.row)
			continue
		}
		for _, b := range grant.Bindings([]grant.Row{p.row}) {
			src := sourceOf(b)
			src.Where = p.where
			sources = append(sources, src)
		}
	}
	return sources, nil
}

// writeAggregation writes the answer (AG-8). The object stays open for links and meta.
func writeAggregation(w *rawjson.Writer, stream string, a query.AggregateRequest, found store.Aggregation) {
	w.Literal(`{"object":"aggregation"`)
	w.Text("stream", stream)
	w.TextOrNull("metric", string(a.Metric))
	w.TextOrNull("field", a.Field)
	w.TextOrNull("group_by", a.GroupBy)
	w.TextOrNull("group_by_time", a.GroupByTime)
	w.TextOrNull("granularity", string(a.Granularity))
	w.TextOrNull("time_zone", a.TimeZone)
	w.TextOrNull("order", a.Order)
	w.Flag("approximate", false)
	w.Key("filtered_record_count")
	w.Int(found.Records)
	if a.Limit == 0 {
		w.Member("value", found.Value)
		return
	}
	w.OpenArray("groups")
	for _, g := range found.Groups {
		writeGroup(w, g)
	}
	w.End("]")
	w.Number("limit", a.Limit)
	w.Key("other_count")
	w.Int(found.Other)
}

func writeGroup(w *rawjson.Writer, g store.Group) {
	w.Object()
	w.Member("key", g.Key)
	w.Key("count")
	w.Int(g.Count)
	if g.Value != nil {
		w.Member("value", g.Value)
	}
	w.End("}")
}
