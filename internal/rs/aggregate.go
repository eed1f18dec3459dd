package rs

import (
	"slices"
	"strconv"

	"pdpp/internal/grant"
	"pdpp/internal/query"
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
	q.body = appendAggregation(q.body, q.vars.get("stream"), w, found)
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

// appendAggregation appends the answer (AG-8). The object stays open for links and meta.
func appendAggregation(dst []byte, stream string, w query.AggregateRequest, found store.Aggregation) []byte {
	dst = appendText(dst, `{"object":"aggregation"`)
	dst = appendMember(dst, "stream", stream)
	for _, m := range []struct{ name, value string }{
		{"metric", string(w.Metric)},
		{"field", w.Field},
		{"group_by", w.GroupBy},
		{"group_by_time", w.GroupByTime},
		{"granularity", string(w.Granularity)},
		{"time_zone", w.TimeZone},
		{"order", w.Order},
	} {
		if m.value == "" {
			dst = appendText(dst, `,"`+m.name+`":null`)
		}
		dst = appendMember(dst, m.name, m.value)
	}
	dst = appendText(dst, `,"approximate":false,"filtered_record_count":`)
	dst = strconv.AppendInt(dst, found.Records, 10)
	if w.Limit == 0 {
		dst = appendText(dst, `,"value":`)
		return append(dst, found.Value...)
	}
	dst = appendText(dst, `,"groups":[`)
	for i, g := range found.Groups {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendGroup(dst, g)
	}
	dst = appendText(dst, `],"limit":`)
	dst = appendInt(dst, w.Limit)
	dst = appendText(dst, `,"other_count":`)
	return strconv.AppendInt(dst, found.Other, 10)
}

func appendGroup(dst []byte, g store.Group) []byte {
	dst = appendText(dst, `{"key":`)
	dst = append(dst, g.Key...)
	dst = appendText(dst, `,"count":`)
	dst = strconv.AppendInt(dst, g.Count, 10)
	if g.Value != nil {
		dst = appendText(dst, `,"value":`)
		dst = append(dst, g.Value...)
	}
	return append(dst, '}')
}
