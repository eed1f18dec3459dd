package schemadoc

import (
	"slices"

	"pdpp"
	"pdpp/internal/grant"
)

// Wire names of the aggregations, in the order of X-15.
const (
	aggCountDistinct = "count_distinct"
	aggGroupBy       = "group_by"
	aggGroupByTime   = "group_by_time"
	aggMax           = "max"
	aggMin           = "min"
	aggSum           = "sum"
)

// offer holds the declared capabilities of a row within the grant. Every part of every
// document is rendered from it (S-6, X-4).
type offer struct {
	access    *grant.Access
	views     []pdpp.View
	relations []grant.Relation // only usable ones
	ranges    []pdpp.RangeFilter
	lexical   []string
	agg       pdpp.Aggregations
	metrics   []string // usable metrics, alphabetical; empty: no aggregation
}

func newOffer(r *grant.Reach, row grant.Row) *offer {
	o := &offer{access: row.Access, relations: r.Relations(row)}
	for _, v := range row.Stream.Views {
		if fields := row.Access.ViewFields(v); len(fields) > 0 {
			o.views = append(o.views, pdpp.View{ID: v.ID, Label: v.Label, Fields: fields})
		}
	}
	for _, rf := range row.Stream.RangeFilters {
		if row.Access.Granted(rf.Field) && len(rf.Ops) > 0 {
			o.ranges = append(o.ranges, rf)
		}
	}
	o.lexical = o.granted(row.Stream.LexicalFields)
	o.aggregate(row.Stream.Aggregations)
	return o
}

// Uses summarizes the capabilities of a row (S-9).
type Uses struct{ ExactFilters, RangeFilters, Expand, Aggregate bool }

// UsesOf returns the uses of a row.
func UsesOf(r *grant.Reach, row grant.Row) Uses {
	o := newOffer(r, row)
	return Uses{
		ExactFilters: slices.ContainsFunc(row.Access.Fields, func(f *pdpp.Field) bool { return o.field(f).Exact }),
		RangeFilters: len(o.ranges) > 0, Expand: len(o.relations) > 0, Aggregate: len(o.metrics) > 0,
	}
}

// aggregate restricts the declared aggregations to the grant. AG-1 rejects grouping
// without a metric, so it is not offered either.
func (o *offer) aggregate(d pdpp.Aggregations) {
	agg := pdpp.Aggregations{
		Count: d.Count,
		Sum:   o.granted(d.Sum), Min: o.granted(d.Min), Max: o.granted(d.Max),
		GroupBy: o.granted(d.GroupBy), GroupByTime: o.granted(d.GroupByTime),
		CountDistinct: o.granted(d.CountDistinct),
	}
	if agg.Count {
		o.metrics = append(o.metrics, "count")
	}
	for _, m := range []struct {
		name   string
		fields []string
	}{{aggCountDistinct, agg.CountDistinct}, {aggMax, agg.Max}, {aggMin, agg.Min}, {aggSum, agg.Sum}} {
		if len(m.fields) > 0 {
			o.metrics = append(o.metrics, m.name)
		}
	}
	if len(o.metrics) > 0 {
		o.agg = agg
	}
}

// granted returns the names that the caller may see, in order.
func (o *offer) granted(names []string) []string {
	var out []string
	for _, n := range names {
		if o.access.Granted(n) {
			out = append(out, n)
		}
	}
	return out
}

// grantedName returns name when the caller may see that field, else "".
func (o *offer) grantedName(name string) string {
	if name != "" && o.access.Granted(name) {
		return name
	}
	return ""
}

// searchModes returns a subset of lexical, semantic, hybrid. The latter two need
// an embedding backend.
func (o *offer) searchModes() []string {
	if len(o.lexical) > 0 {
		return []string{"lexical"}
	}
	return nil
}

// field returns the capabilities of one granted field.
func (o *offer) field(f *pdpp.Field) FieldCaps {
	c := FieldCaps{
		Type: f.DisplayType, JSONTypes: f.Types, Format: f.Format, Role: f.Role,
		Exact:   f.Kind != pdpp.KindNone, // REC-19
		Range:   o.access.Stream.RangeOps(f.Name),
		Lexical: slices.Contains(o.lexical, f.Name),
		Blob:    f.Blob != pdpp.BlobNone,
	}
	for _, a := range []struct {
		name   string
		fields []string
	}{
		{aggCountDistinct, o.agg.CountDistinct},
		{aggGroupBy, o.agg.GroupBy},
		{aggGroupByTime, o.agg.GroupByTime},
		{aggMax, o.agg.Max},
		{aggMin, o.agg.Min},
		{aggSum, o.agg.Sum},
	} {
		if slices.Contains(a.fields, f.Name) {
			c.Aggregations = append(c.Aggregations, a.name)
		}
	}
	return c
}
