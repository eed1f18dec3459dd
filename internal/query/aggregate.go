package query

import (
	"slices"
	"time"

	"pdpp"
	"pdpp/internal/grant"
	"pdpp/internal/timebucket"
)

// Metric is what an aggregate computes (AG-1).
type Metric string

// The metrics.
const (
	MetricCount    Metric = "count"
	MetricSum      Metric = "sum"
	MetricMin      Metric = "min"
	MetricMax      Metric = "max"
	MetricDistinct Metric = "count_distinct"
)

// Aggregate is a query for a number over the records of one or several bindings, or for
// one number per group of them. Every source declares the named fields, with the same
// kind in all sources; integer and number count as the same kind.
type Aggregate struct {
	Subject pdpp.SubjectID
	Sources []Source
	Metric  Metric
	Field   string       // the field of the metric; "" for MetricCount
	Group   string       // the field that records are grouped by; "" if not grouped
	Buckets *TimeBuckets // nil to group by the values of Group
	Limit   int          // how many groups are kept
}

// TimeBuckets groups times.
type TimeBuckets struct {
	Granularity timebucket.Granularity
	Zone        *time.Location
	Desc        bool // latest first, so that the limit cuts off the earliest
}

// Kind returns the kind by which the values of a field are compared in all sources.
func (a Aggregate) Kind(field string) pdpp.Kind {
	for _, src := range a.Sources {
		if f := src.Stream.Field(field); f != nil {
			return f.Kind
		}
	}
	return pdpp.KindNone
}

// AggregateParams are the parameters of an aggregate besides the selectors.
var AggregateParams = []string{"metric", "field", "group_by", "group_by_time", "granularity", "time_zone", "order", "limit", "filter"}

// AggregateRequest has the parameters of an aggregate, not yet validated against a
// stream. A parameter that was not sent and has no default is "".
type AggregateRequest struct {
	Metric      Metric
	Field       string
	GroupBy     string
	GroupByTime string
	Granularity timebucket.Granularity
	TimeZone    string
	Order       string
	Limit       int // 0 without groups
	Filters     []Filter

	zone *time.Location
}

// Aggregate reads the parameters of an aggregate (AG-1 to AG-6). It checks only the form.
// On validates them against a stream.
func (p *Params) Aggregate() (w AggregateRequest, err error) {
	if err = p.metric(&w); err != nil {
		return w, err
	}
	if err = p.groups(&w); err != nil {
		return w, err
	}
	if w.Limit, err = p.groupLimit(w); err != nil {
		return w, err
	}
	w.Filters, err = p.Filters()
	return w, err
}

// metric reads metric and field.
func (p *Params) metric(w *AggregateRequest) error {
	if !p.Has("metric") {
		return pdpp.BadParam("metric", "metric is required: count, sum, min, max or count_distinct.")
	}
	metric, err := p.OneOf("metric", string(MetricCount), string(MetricSum), string(MetricMin), string(MetricMax), string(MetricDistinct))
	if err != nil {
		return err
	}
	w.Metric = Metric(metric)
	if w.Field, err = p.One("field"); err != nil {
		return err
	}
	switch {
	case w.Metric == MetricCount && w.Field != "":
		return pdpp.BadParam("field", "count counts records and takes no field.")
	case w.Metric != MetricCount && w.Field == "":
		return pdpp.BadParam("field", "%s needs a field.", metric)
	}
	return nil
}

// groups reads the parameters about groups.
func (p *Params) groups(w *AggregateRequest) (err error) {
	if w.GroupBy, err = p.One("group_by"); err != nil {
		return err
	}
	if w.GroupByTime, err = p.One("group_by_time"); err != nil {
		return err
	}
	if w.GroupBy != "" && w.GroupByTime != "" {
		return pdpp.BadParam("group_by_time", "Send either group_by or group_by_time, not both.")
	}
	if w.GroupByTime == "" {
		for _, name := range []string{"granularity", "time_zone", "order"} {
			if p.Has(name) {
				return pdpp.BadParam(name, "%s requires group_by_time.", name)
			}
		}
		return nil
	}
	return p.buckets(w)
}

func (p *Params) buckets(w *AggregateRequest) error {
	granularity, err := p.One("granularity")
	if err != nil {
		return err
	}
	known := false
	if w.Granularity, known = timebucket.ParseGranularity(granularity); !known {
		return pdpp.BadParam("granularity", "group_by_time needs a granularity: minute, hour, day, week, month, quarter or year.")
	}
	if w.TimeZone, err = p.One("time_zone"); err != nil {
		return err
	}
	if w.TimeZone == "" {
		w.TimeZone = "UTC"
	}
	if w.zone, known = timebucket.LoadZone(w.TimeZone); !known {
		return pdpp.BadParam("time_zone", "time_zone is an IANA name, such as UTC or Europe/Berlin.")
	}
	w.Order, err = p.OneOf("order", "asc", "desc")
	return err
}

// groupLimit reads limit, which is never clamped (AG-6).
func (p *Params) groupLimit(w AggregateRequest) (int, error) {
	v, err := p.One("limit")
	switch {
	case err != nil:
		return 0, err
	case w.GroupBy == "" && w.GroupByTime == "":
		if v != "" {
			return 0, pdpp.BadParam("limit", "limit requires group_by or group_by_time.")
		}
		return 0, nil
	case v == "" && w.GroupBy != "":
		return pdpp.DefaultGroups, nil
	case v == "":
		return pdpp.DefaultBuckets, nil
	}
	n, err := integer(v)
	if err != nil || n < 1 || n > pdpp.MaxGroups {
		return 0, pdpp.BadParam("limit", "limit must be an integer from 1 to %d.", pdpp.MaxGroups)
	}
	return n, nil
}

// On validates a request against what a caller may see of a stream, and returns the
// conditions of its filters. Unknown names fail first, then names outside the grant,
// then undeclared uses (AG-4, C-20).
func (w AggregateRequest) On(a *grant.Access) ([]Condition, error) {
	declared := a.Stream.Aggregations
	var badMetric error
	switch w.Metric {
	case MetricCount:
		if !declared.Count {
			badMetric = pdpp.BadParam("metric", "Counting is not declared for stream %q. The schema lists the aggregations.", a.Stream.Name)
		}
	case MetricSum:
		badMetric = aggregated(a, w.Field, "field", declared.Sum)
	case MetricMin:
		badMetric = aggregated(a, w.Field, "field", declared.Min)
	case MetricMax:
		badMetric = aggregated(a, w.Field, "field", declared.Max)
	case MetricDistinct:
		badMetric = aggregated(a, w.Field, "field", declared.CountDistinct)
	}
	badGroup := aggregated(a, w.GroupBy, "group_by", declared.GroupBy)
	badTime := aggregated(a, w.GroupByTime, "group_by_time", declared.GroupByTime)
	where, badFilter := Where(w.Filters, a)
	return where, First(badMetric, badGroup, badTime, badFilter)
}

// aggregated checks that a named field is granted and declared for its use.
func aggregated(a *grant.Access, name, param string, declared []string) error {
	if name == "" {
		return nil
	}
	if _, err := a.Field(name, param); err != nil {
		return err
	}
	if !slices.Contains(declared, name) {
		e := pdpp.BadParam(param, "This aggregation is not declared for field %q. The schema lists the aggregations.", name)
		e.Field = name
		return e
	}
	return nil
}

// Aligned reports whether the named fields have the same kinds in two streams, so that
// their values can be aggregated together (AG-10).
func (w AggregateRequest) Aligned(a, b *pdpp.Stream) bool {
	for _, name := range []string{w.Field, w.GroupBy, w.GroupByTime} {
		if name == "" {
			continue
		}
		k, l := a.Field(name).Kind, b.Field(name).Kind
		if k != l && !(k.IsNumeric() && l.IsNumeric()) {
			return false
		}
	}
	return true
}

// Over returns the aggregate over sources that On accepted and that are aligned. Dates
// have no time of day, so they count on their own day in every zone (AG-3).
func (w AggregateRequest) Over(subject pdpp.SubjectID, sources []Source) Aggregate {
	a := Aggregate{Subject: subject, Sources: sources, Metric: w.Metric, Field: w.Field, Group: w.GroupBy, Limit: w.Limit}
	if w.GroupByTime == "" {
		return a
	}
	a.Group = w.GroupByTime
	a.Buckets = &TimeBuckets{Granularity: w.Granularity, Zone: w.zone, Desc: w.Order == "desc"}
	if a.Kind(a.Group) == pdpp.KindDate {
		a.Buckets.Zone = time.UTC
	}
	return a
}
