package storetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/store"
	"pdpp/internal/timebucket"
)

var aggregateTests = []test{
	{"metrics", testMetrics},
	{"exact sums", testExactSums},
	{"scalar groups", testScalarGroups},
	{"group keys", testGroupKeys},
	{"time buckets", testTimeBuckets},
	{"buckets across clock changes", testBucketsAcrossChanges},
	{"stored extremes", testStoredExtremes},
	{"visibility of aggregates", testAggregateVisibility},
	{"cursor and key fields", testAggregateCursorAndKey},
	{"equals a map", testAggregateEqualsMap},
}

// aggregations declares what the types of the fields allow (M-5).
func (d decl) aggregations() object {
	out := object{"count": true}
	add := func(field string, names ...string) {
		for _, n := range names {
			list, _ := out[n].([]string)
			out[n] = append(list, field)
		}
	}
	for _, f := range d.fields {
		part := strings.Fields(f)
		switch {
		case part[1] == "array" || slices.Contains(d.except, part[0]):
			continue
		case part[1] == "number" || part[1] == "integer":
			add(part[0], "sum", "min", "max")
		case len(part) > 2:
			add(part[0], "min", "max", "group_by_time")
		}
		add(part[0], "group_by", "count_distinct")
	}
	return out
}

// counted returns the stream of these tests: entries with all aggregations.
func counted() decl {
	d := entries()
	d.aggregated = true
	return d
}

func (w *world) aggregate(q query.Aggregate) store.Aggregation {
	w.Helper()
	q.Subject = w.subject
	return read(w, func(v store.View) (store.Aggregation, error) { return v.Aggregate(q) })
}

// Lines formats an aggregation: a line per group, or one line without groups.
func Lines(a store.Aggregation) []string {
	out := []string{fmt.Sprintf("%d records, %d other", a.Records, a.Other)}
	if a.Groups == nil {
		return append(out, string(a.Value))
	}
	for _, g := range a.Groups {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %d %s", g.Key, g.Count, g.Value)))
	}
	return out
}

func (w *world) expect(q query.Aggregate, want ...string) {
	w.Helper()
	if diff := cmp.Diff(want, Lines(w.aggregate(q))); diff != "" {
		w.Errorf("%s of %q by %q (-want +got):\n%s", q.Metric, q.Field, q.Group, diff)
	}
}

// testMetrics: AG-12 without groups, over two connections together.
func testMetrics(t *testing.T, open Opener) {
	w := newWorld(t, open, counted())
	w.ingest(connA, put("a", `{"amount":1.50,"memo":"x"}`, 1), put("b", `{"amount":"7","memo":"y"}`, 1), put("c", `{"amount":null}`, 1))
	w.ingest(connB, put("a", `{"amount":-3,"memo":"x"}`, 1), put("d", `{"memo":""}`, 1))
	ask := func(m query.Metric, field string, want string) {
		w.Helper()
		w.expect(query.Aggregate{Sources: w.both(), Metric: m, Field: field}, "5 records, 0 other", want)
	}
	ask(query.MetricCount, "", "5")
	ask(query.MetricSum, "amount", "-1.5")
	ask(query.MetricMin, "amount", "-3")
	ask(query.MetricMax, "amount", "1.50")
	ask(query.MetricDistinct, "memo", "3")
	ask(query.MetricSum, "pieces", "0")
	ask(query.MetricMin, "due", "null")
	ask(query.MetricDistinct, "paid", "0")
	none := query.Aggregate{Sources: []query.Source{{Connection: "cin_nowhere", Stream: w.stream("entries")}}}
	for m, want := range map[query.Metric]string{query.MetricCount: "0", query.MetricSum: "0", query.MetricMax: "null", query.MetricDistinct: "0"} {
		none.Metric, none.Field = m, "amount"
		w.expect(none, "0 records, 0 other", want)
	}
	w.expect(query.Aggregate{Metric: query.MetricCount}, "0 records, 0 other", "0")
	w.expect(query.Aggregate{Metric: query.MetricSum, Field: "amount"}, "0 records, 0 other", "0")
}

func testExactSums(t *testing.T, open Opener) {
	for _, c := range []struct{ a, b, want string }{
		{"0.1", "0.2", "0.3"},
		{"123456789012345678901234567890", "0.000000000000000000000000000001", "123456789012345678901234567890.000000000000000000000000000001"},
		{"9007199254740993", "9007199254740993.0", "18014398509481986"},
		{"1e400", "-1e400", "0"},
		{"1.2e3", "1200", "2400"},
		{"1e999999", "1e-999999", "null"}, // two million digits
	} {
		w := newWorld(t, open, counted())
		w.ingest(connA, put("a", `{"memo":"x","amount":`+c.a+`}`, 1))
		w.ingest(connB, put("a", `{"memo":"x","amount":`+c.b+`}`, 1))
		q := query.Aggregate{Sources: w.both(), Metric: query.MetricSum, Field: "amount", Limit: 10}
		w.expect(q, "2 records, 0 other", c.want)
		q.Group = "memo"
		w.expect(q, "2 records, 0 other", `"x" 2 `+c.want)
	}
}

// testScalarGroups: AG-7 and AG-9 for groups by value.
func testScalarGroups(t *testing.T, open Opener) {
	w := newWorld(t, open, counted())
	w.ingest(connA, put("1", `{"memo":"rent","amount":5}`, 1), put("2", `{"memo":"rent","amount":1}`, 1), put("3", `{"memo":"tea","amount":9}`, 1),
		put("4", `{"amount":2}`, 1), put("5", `{"memo":null}`, 1), put("6", `{"memo":"b"}`, 1), put("7", `{"memo":"a!"}`, 1))
	w.ingest(connB, put("1", `{"memo":"rent","amount":4}`, 1), put("2", `{"memo":"a"}`, 1), put("3", `{"memo":7,"amount":3}`, 1))
	by := func(m query.Metric, field string, limit int, want ...string) {
		w.Helper()
		w.expect(query.Aggregate{Sources: w.both(), Metric: m, Field: field, Group: "memo", Limit: limit}, want...)
	}
	// Ties by the JSON text: the quote after a sorts after the mark.
	by(query.MetricCount, "", 10, "10 records, 0 other", `"rent" 3`, `null 3`, `"a!" 1`, `"a" 1`, `"b" 1`, `"tea" 1`)
	by(query.MetricCount, "", 2, "10 records, 4 other", `"rent" 3`, `null 3`)
	by(query.MetricCount, "", 1, "10 records, 7 other", `"rent" 3`)
	by(query.MetricSum, "amount", 10, "10 records, 0 other",
		`"rent" 3 10`, `"tea" 1 9`, `null 3 5`, `"a!" 1 0`, `"a" 1 0`, `"b" 1 0`)
	by(query.MetricMax, "amount", 3, "10 records, 3 other", `"tea" 1 9`, `"rent" 3 5`, `null 3 3`)
	by(query.MetricMin, "amount", 4, "10 records, 2 other", `"tea" 1 9`, `null 3 2`, `"rent" 3 1`, `"a!" 1 null`)
	by(query.MetricDistinct, "amount", 2, "10 records, 4 other", `"rent" 3 3`, `null 3 2`)
}

// testGroupKeys: AG-11: equal values are one group, whose key is one JSON value.
func testGroupKeys(t *testing.T, open Opener) {
	w := newWorld(t, open, counted())
	long := strings.Repeat("x", store.MaxIndexed)
	w.ingest(connA,
		put("1", `{"amount":12,"paid":true,"posted_at":"2026-01-01","due":"2026-01-01","memo":"\u0022x"}`, 1),
		put("2", `{"amount":12.0,"paid":true,"posted_at":"2026-01-01T01:00:00+01:00","due":"2026-01-01T00:00:00Z","memo":"\"x"}`, 1),
		put("3", `{"amount":1.2e1,"paid":"true","posted_at":"2026-01-01T00:00:00.250Z","due":"2026-01-01T12:00:00Z","memo":"`+long+`"}`, 1),
		put("4", `{"amount":1e-30,"paid":false,"posted_at":"soon","due":5,"memo":"`+long+`x"}`, 1))
	for _, c := range []struct{ field, want string }{
		{"amount", `12 3|1e-30 1`},
		{"paid", `true 2|false 1|null 1`},
		{"posted_at", `"2026-01-01T00:00:00Z" 2|"2026-01-01T00:00:00.25Z" 1|null 1`},
		{"due", `"2026-01-01" 2|"2026-01-01T12:00:00Z" 1|null 1`},
		{"memo", `"\"x" 2|"` + long + `" 1|null 1`}, // longer than an operand: no value
	} {
		q := query.Aggregate{Sources: w.both()[:1], Metric: query.MetricCount, Group: c.field, Limit: 10}
		w.expect(q, append([]string{"4 records, 0 other"}, strings.Split(c.want, "|")...)...)
	}
}

func mustZone(t tb, name string) *time.Location {
	t.Helper()
	zone, ok := timebucket.LoadZone(name)
	if !ok {
		t.Fatalf("there is no zone %s", name)
	}
	return zone
}

// testTimeBuckets: AG-7, AG-9 and AG-11 for buckets.
func testTimeBuckets(t *testing.T, open Opener) {
	w := newWorld(t, open, counted())
	w.ingest(connA, put("1", `{"posted_at":"2026-01-31T23:30:00Z","amount":1}`, 1), put("2", `{"posted_at":"2026-02-01T00:30:00Z","amount":2}`, 1),
		put("3", `{"posted_at":"2026-06-01","amount":3,"seen_at":"2026-05-31T22:00:00Z"}`, 1), put("4", `{"posted_at":null,"amount":4}`, 1))
	w.ingest(connB, put("1", `{"posted_at":"2026-02-10","amount":5,"seen_at":"2026-06-01"}`, 1), put("2", `{}`, 1))
	month := func(zone string, desc bool) *query.TimeBuckets {
		return &query.TimeBuckets{Granularity: timebucket.Month, Zone: mustZone(t, zone), Desc: desc}
	}
	by := func(field string, m query.Metric, b *query.TimeBuckets, limit int, want ...string) {
		w.Helper()
		q := query.Aggregate{Sources: w.both(), Metric: m, Group: field, Buckets: b, Limit: limit}
		if m != query.MetricCount {
			q.Field = "amount"
		}
		w.expect(q, want...)
	}
	by("posted_at", query.MetricCount, month("UTC", false), 100, "6 records, 0 other", `"2026-01-01" 1`, `"2026-02-01" 2`, `"2026-06-01" 1`, `null 2`)
	by("posted_at", query.MetricCount, month("UTC", true), 100, "6 records, 0 other", `"2026-06-01" 1`, `"2026-02-01" 2`, `"2026-01-01" 1`, `null 2`)
	by("posted_at", query.MetricCount, month("UTC", false), 3, "6 records, 2 other", `"2026-01-01" 1`, `"2026-02-01" 2`, `"2026-06-01" 1`)
	by("posted_at", query.MetricCount, month("UTC", true), 2, "6 records, 3 other", `"2026-06-01" 1`, `"2026-02-01" 2`)
	by("posted_at", query.MetricCount, month("Europe/Berlin", false), 1, "6 records, 3 other", `"2026-02-01" 3`)
	by("posted_at", query.MetricSum, month("Europe/Berlin", false), 9, "6 records, 0 other", `"2026-02-01" 3 8`, `"2026-06-01" 1 3`, `null 2 4`)
	by("posted_at", query.MetricMax, month("UTC", true), 2, "6 records, 3 other", `"2026-06-01" 1 3`, `"2026-02-01" 2 5`)
	by("seen_at", query.MetricDistinct, month("Europe/Berlin", false), 9, "6 records, 0 other", `"2026-06-01" 2 2`, `null 4 3`)
}

// testBucketsAcrossChanges: a local time that occurs twice is one bucket, and no record is
// missing between two buckets.
func testBucketsAcrossChanges(t *testing.T, open Opener) {
	w := newWorld(t, open, counted())
	var in []store.Input
	for _, night := range []time.Time{time.Date(2026, 3, 28, 22, 0, 0, 0, time.UTC), time.Date(2026, 10, 24, 22, 0, 0, 0, time.UTC)} {
		for i := range 12 { // every half hour
			at := night.Add(time.Duration(i) * 30 * time.Minute)
			in = append(in, put(at.Format("0102-1504"), `{"posted_at":"`+at.Format(time.RFC3339)+`"}`, i))
		}
	}
	w.ingest(connA, in...)
	q := query.Aggregate{Sources: w.both()[:1], Metric: query.MetricCount, Group: "posted_at", Limit: 100}
	q.Buckets = &query.TimeBuckets{Granularity: timebucket.Hour, Zone: mustZone(t, "Europe/Berlin")}
	w.expect(q, "24 records, 0 other",
		`"2026-03-28T23:00" 2`, `"2026-03-29T00:00" 2`, `"2026-03-29T01:00" 2`, `"2026-03-29T03:00" 2`, `"2026-03-29T04:00" 2`, `"2026-03-29T05:00" 2`,
		`"2026-10-25T00:00" 2`, `"2026-10-25T01:00" 2`, `"2026-10-25T02:00" 4`, `"2026-10-25T03:00" 2`, `"2026-10-25T04:00" 2`)
	q.Buckets.Granularity = timebucket.Day
	w.expect(q, "24 records, 0 other", `"2026-03-28" 2`, `"2026-03-29" 10`, `"2026-10-25" 12`)
	rapid.Check(t, func(rt *rapid.T) {
		q.Buckets = &query.TimeBuckets{
			Granularity: pick(rt, "granularity", timebucket.Granularities), Desc: rapid.Bool().Draw(rt, "desc"),
			Zone: mustZone(t, pick(rt, "zone", []string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Kathmandu"})),
		}
		sum := int64(0)
		for _, g := range w.aggregate(q).Groups {
			sum += g.Count
		}
		if sum != 24 {
			rt.Errorf("buckets of a %s in %s hold %d records, want 24", q.Buckets.Granularity, q.Buckets.Zone, sum)
		}
	})
}

// testStoredExtremes: AG-12: the stored value, of the least id among equals.
func testStoredExtremes(t *testing.T, open Opener) {
	w := newWorld(t, open, counted())
	w.ingest(connA, put("c", `{"memo":"x","amount":1.5,"posted_at":"2026-01-01"}`, 1), put("b", `{"memo":"x","amount":1.50,"posted_at":"2026-01-09"}`, 2),
		put("d", `{"memo":"x","amount":-0.0,"due":"2026-01-02"}`, 1), put("e", `{"memo":"x","due":"2026-01-02T00:00:00Z"}`, 1))
	w.ingest(connB, put("b", `{"memo":"x","amount":15e-1}`, 1), put("a", `{"memo":"y","amount":0,"due":"2026-01-01"}`, 1))
	for _, group := range []string{"", "memo"} {
		for _, where := range []bool{false, true} {
			sources := w.both()
			if where {
				for i := range sources {
					sources[i].Where = []query.Condition{w.where(sources[i].Stream, "memo", pdpp.OpEq, "x")}
				}
			}
			check := func(m query.Metric, field, want string) {
				w.Helper()
				got := w.aggregate(query.Aggregate{Sources: sources, Metric: m, Field: field, Group: group, Limit: 10})
				value := string(got.Value)
				for _, g := range got.Groups {
					if string(g.Key) == `"x"` {
						value = string(g.Value)
					}
				}
				if value != want {
					t.Errorf("%s of %s by %q, filtered %v = %s, want %s", m, field, group, where, value, want)
				}
			}
			check(query.MetricMax, "amount", "1.50")
			check(query.MetricMax, "due", `"2026-01-02"`)
			if group == "memo" || where {
				check(query.MetricMin, "amount", "-0.0")
			} else {
				check(query.MetricMin, "amount", "0") // a@b before d@a
			}
		}
	}
}

// testAggregateVisibility: REC-28 to REC-30 and filters, before everything else.
func testAggregateVisibility(t *testing.T, open Opener) {
	w := newWorld(t, open, counted())
	w.ingest(connA,
		put("a", `{"memo":"x","amount":1,"due":"2026-02-01","posted_at":"2026-02-01"}`, 1), put("b", `{"memo":"x","amount":2,"due":"2026-02-02","posted_at":"2026-02-02"}`, 1),
		put("c", `{"memo":"y","amount":4,"due":"2026-03-01","posted_at":"2026-03-01"}`, 1), put("d", `{"memo":"y","amount":8}`, 1))
	until := &pdpp.TimeConstraint{Field: "due", Since: day(2, 1), Until: day(3, 1)}
	posted := &pdpp.TimeConstraint{Field: "posted_at", Since: day(2, 1), Until: day(3, 1)}
	gone := &pdpp.TimeConstraint{Field: "gone", Since: day(2, 1)}
	for name, c := range map[string]struct {
		time      *pdpp.TimeConstraint
		resources []pdpp.RecordID
		where     []cond
		sum       string
		groups    string
	}{
		"everything": {nil, nil, nil, "15", `"y" 2 12|"x" 2 3`},
		"in time":    {until, nil, nil, "3", `"x" 2 3`},
		"by cursor":  {posted, nil, nil, "3", `"x" 2 3`},
		"no time":    {gone, nil, nil, "0", ""},
		"resources":  {nil, []pdpp.RecordID{"b", "d", "z"}, nil, "10", `"y" 1 8|"x" 1 2`},
		"nothing":    {nil, []pdpp.RecordID{}, nil, "0", ""},
		"both":       {until, []pdpp.RecordID{"b", "d"}, nil, "2", `"x" 1 2`},
		"filtered":   {nil, nil, one("amount", pdpp.OpGte, "2"), "14", `"y" 2 12|"x" 1 2`},
		"by group":   {nil, nil, one("memo", pdpp.OpEq, "y"), "12", `"y" 2 12`},
		"all of it":  {until, nil, []cond{{"amount", pdpp.OpLt, "2"}, {"memo", pdpp.OpEq, "x"}}, "1", `"x" 1 1`},
	} {
		src := w.from(connA, "entries")
		src.Time, src.Resources = c.time, c.resources
		for _, f := range c.where {
			src.Where = append(src.Where, w.where(src.Stream, f.field, f.op, f.operand))
		}
		q := query.Aggregate{Sources: []query.Source{src}, Metric: query.MetricSum, Field: "amount", Limit: 10}
		if got := string(w.aggregate(q).Value); got != c.sum {
			t.Errorf("%s: sum %s, want %s", name, got, c.sum)
		}
		q.Group = "memo"
		if got := strings.Join(Lines(w.aggregate(q))[1:], "|"); got != c.groups {
			t.Errorf("%s: groups %s, want %s", name, got, c.groups)
		}
	}
}

// testAggregateCursorAndKey: what is found by order key and id is aggregated like
// the rest, also after its record changed and when it is declared later.
func testAggregateCursorAndKey(t *testing.T, open Opener) {
	d := decl{name: "entries", fields: []string{"id string", "seq integer", "memo string"}, cursor: "seq"}
	w := newWorld(t, open, d)
	w.ingest(connA, put("a", `{"id":"a","seq":5}`, 1), put("b", `{"id":"b","seq":5.0}`, 1), put("c", `{"seq":"5"}`, 1))
	d.aggregated = true
	w.declare(d)
	w.ingest(connB, put("a", `{"id":"a","seq":7}`, 1), put("e", `{"id":"e","seq":1}`, 1))
	w.ingest(connB, put("e", `{"id":"e","seq":2}`, 1), drop("none", 1))
	q := query.Aggregate{Sources: w.both(), Metric: query.MetricCount, Group: "seq", Limit: 9}
	w.expect(q, "5 records, 0 other", "5 2", "2 1", "7 1", "null 1")
	q.Group = "id"
	w.expect(q, "5 records, 0 other", `"a" 2`, `"b" 1`, `"e" 1`, `null 1`)
	w.expect(query.Aggregate{Sources: w.both(), Metric: query.MetricDistinct, Field: "id"}, "5 records, 0 other", "3")
	w.expect(query.Aggregate{Sources: w.both(), Metric: query.MetricSum, Field: "seq"}, "5 records, 0 other", "19")
	w.expect(query.Aggregate{Sources: w.both(), Metric: query.MetricMax, Field: "seq", Group: "id", Limit: 2}, "5 records, 2 other", `"a" 2 7`, `"b" 1 5.0`)
}

// testAggregateEqualsMap: after any operations, any aggregate is the one of a map.
func testAggregateEqualsMap(t *testing.T, open Opener) {
	t.Parallel()
	EachModel(t, open(t), func(rt *rapid.T, m *Model) {
		m.Counted(rt)
		for range 6 {
			q := m.Question(rt)
			a := m.Aggregate(rt, q)
			if diff := cmp.Diff(m.Aggregated(q, a), Lines(m.w.aggregate(a)), cmpopts.EquateEmpty()); diff != "" {
				rt.Errorf("%s of %q by %q, %+v, limit %d; %s (-want +got):\n%s", a.Metric, a.Field, a.Group, a.Buckets, a.Limit, q, diff)
			}
		}
	})
}
