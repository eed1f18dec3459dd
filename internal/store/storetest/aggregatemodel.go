package storetest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/sortkey"
	"pdpp/internal/store"
	"pdpp/internal/timebucket"
)

// Counted declares aggregations for most fields; the others have no index entries.
func (m *Model) Counted(t *rapid.T) {
	m.w.tb = t
	m.decl = someDecl(t)
	m.decl.aggregated = true
	m.decl.except = pick(t, "not aggregated", [][]string{nil, {"memo"}, {"memo", "paid"}, {"paid", "amount"}})
	m.w.declare(m.decl)
}

// Aggregate draws an aggregate over the records of a question.
func (m *Model) Aggregate(t *rapid.T, q Question) query.Aggregate {
	s := q.List.Sources[0].Stream
	declared := s.Aggregations
	a := query.Aggregate{Subject: m.w.subject, Sources: q.List.Sources, Limit: rapid.IntRange(1, 6).Draw(t, "groups")}
	fields := map[query.Metric][]string{
		query.MetricSum: declared.Sum, query.MetricMin: declared.Min, query.MetricMax: declared.Max, query.MetricDistinct: declared.CountDistinct,
	}
	a.Metric = pick(t, "metric", []query.Metric{query.MetricCount, query.MetricSum, query.MetricMin, query.MetricMax, query.MetricDistinct})
	if a.Metric != query.MetricCount {
		a.Field = pick(t, "of", fields[a.Metric])
	}
	switch rapid.IntRange(0, 4).Draw(t, "grouped") {
	case 0:
	case 1, 2:
		a.Group = pick(t, "group by", declared.GroupBy)
	default:
		a.Group = pick(t, "group by time", declared.GroupByTime)
		a.Buckets = &query.TimeBuckets{
			Granularity: pick(t, "granularity", timebucket.Granularities), Desc: rapid.Bool().Draw(t, "latest first"),
			Zone: mustZone(t, pick(t, "zone", []string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"})),
		}
	}
	return a
}

// modelGroup is a group of the model.
type modelGroup struct {
	key   string    // JSON text
	start time.Time // of a bucket
	rows  []modelValue
}

// modelValue is a record's part in a metric.
type modelValue struct {
	row   Row
	raw   string
	value any // nil if there is none
}

// Aggregated returns what the store should answer, as Lines.
func (m *Model) Aggregated(q Question, a query.Aggregate) []string {
	byKey := map[string]*modelGroup{}
	all := &modelGroup{}
	for _, row := range m.Answer(q) {
		r := m.records[row.Connection][row.ID]
		v := modelValue{row: row, raw: string(r.fields[a.Field])}
		if a.Field != "" {
			v.value = indexedValue(a.Kind(a.Field), r.fields[a.Field])
		}
		all.rows = append(all.rows, v)
		if a.Group == "" {
			continue
		}
		key, start := groupOf(a, r.fields[a.Group])
		if byKey[key] == nil {
			byKey[key] = &modelGroup{key: key, start: start}
		}
		byKey[key].rows = append(byKey[key].rows, v)
	}
	if a.Group == "" {
		value, _ := all.metric(a.Metric)
		return []string{fmt.Sprintf("%d records, 0 other", len(all.rows)), value}
	}
	var groups []*modelGroup
	for _, g := range byKey {
		groups = append(groups, g)
	}
	slices.SortFunc(groups, func(x, y *modelGroup) int { return x.compare(y, a) })
	other := 0
	for len(groups) > a.Limit {
		other += len(groups[len(groups)-1].rows)
		groups = groups[:len(groups)-1]
	}
	out := []string{fmt.Sprintf("%d records, %d other", len(all.rows), other)}
	if len(groups) == 0 {
		return out
	}
	for _, g := range groups {
		value, _ := g.metric(a.Metric)
		if a.Metric == query.MetricCount {
			value = ""
		}
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %d %s", g.key, len(g.rows), value)))
	}
	return out
}

// compare follows AG-7.
func (g *modelGroup) compare(o *modelGroup, a query.Aggregate) int {
	if a.Buckets != nil {
		c := cmp.Or(btoi(g.key == "null")-btoi(o.key == "null"), g.start.Compare(o.start))
		if a.Buckets.Desc && g.key != "null" && o.key != "null" {
			return -c
		}
		return c
	}
	_, x := g.metric(a.Metric)
	_, y := o.metric(a.Metric)
	switch {
	case x == nil && y != nil:
		return 1
	case x != nil && y == nil:
		return -1
	case x != nil:
		if c := compareValues(y, x); c != 0 {
			return c
		}
	}
	return strings.Compare(g.key, o.key)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// metric returns the value of a group as it is written and as it is compared.
func (g *modelGroup) metric(m query.Metric) (string, any) {
	sum, seen := new(big.Rat), map[string]bool{}
	var best *modelValue
	for i := range g.rows {
		v := &g.rows[i]
		if v.value == nil {
			continue
		}
		switch m {
		case query.MetricSum:
			sum.Add(sum, v.value.(*big.Rat))
		case query.MetricDistinct:
			seen[fmt.Sprint(v.value)] = true
		case query.MetricMin, query.MetricMax:
			if best == nil || v.beats(best, m) {
				best = v
			}
		}
	}
	switch {
	case m == query.MetricCount:
		n := int64(len(g.rows))
		return fmt.Sprint(n), new(big.Rat).SetInt64(n)
	case m == query.MetricDistinct:
		return fmt.Sprint(len(seen)), new(big.Rat).SetInt64(int64(len(seen)))
	case m == query.MetricSum:
		return decimalText(sum), sum
	case best == nil:
		return "null", nil
	}
	return best.raw, best.value
}

func (v *modelValue) beats(o *modelValue, m query.Metric) bool {
	c := compareValues(v.value, o.value)
	if m == query.MetricMax {
		c = -c
	}
	return cmp.Or(c, strings.Compare(v.row.ID, o.row.ID), strings.Compare(string(v.row.Connection), string(o.row.Connection))) < 0
}

// groupOf returns the JSON text of the key that a value counts under.
func groupOf(a query.Aggregate, raw json.RawMessage) (key string, start time.Time) {
	kind := a.Kind(a.Group)
	v := indexedValue(kind, raw)
	if v == nil {
		return "null", time.Time{}
	}
	if a.Buckets != nil {
		b := timebucket.Of(v.(time.Time), a.Buckets.Granularity, a.Buckets.Zone)
		return `"` + b.Key + `"`, b.Start
	}
	switch v := v.(type) {
	case *big.Rat:
		return decimalText(v), start
	case time.Time:
		if v = v.UTC(); kind == pdpp.KindDate && v.Hour()+v.Minute()+v.Second()+v.Nanosecond() == 0 {
			return v.Format(`"2006-01-02"`), start
		}
		return v.Format(`"2006-01-02T15:04:05.999999999Z"`), start
	}
	if kind == pdpp.KindBoolean {
		return v.(string), start
	}
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings always encode
	}
	return string(text), start
}

// indexedValue returns a value that has an index entry; nil when there is none.
func indexedValue(kind pdpp.Kind, raw json.RawMessage) any {
	v, ok := valueOf(kind, raw)
	if text, isText := v.(string); !ok || isText && len(text) > store.MaxIndexed {
		return nil
	}
	return v
}

// decimalText writes a number in the form of sortkey.Decimal, which has tests of
// its own.
func decimalText(r *big.Rat) string {
	text := r.FloatString(900)
	enc, ok := sortkey.FromText(pdpp.KindNumber, text)
	if !ok {
		panic("no number: " + text)
	}
	out, _ := sortkey.Decimal(enc)
	return out
}
