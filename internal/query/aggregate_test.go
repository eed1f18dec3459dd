package query

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"pdpp"
	"pdpp/internal/grant"
	"pdpp/internal/manifest"
)

func aggregateOf(t testing.TB, raw string) (AggregateRequest, error) {
	t.Helper()
	p, err := Parse(raw, AggregateParams...)
	if err != nil {
		return AggregateRequest{}, err
	}
	return p.Aggregate()
}

func TestAggregateForm(t *testing.T) { // AG-1, AG-2, AG-3, AG-6: the form
	bad := func(param string) fault { return fault{pdpp.CodeInvalidRequest, param, ""} }
	for _, tc := range []struct {
		raw  string
		want AggregateRequest
		bad  fault
	}{
		{"metric=count", AggregateRequest{Metric: MetricCount}, fault{}},
		{"metric=sum&field=a", AggregateRequest{Metric: MetricSum, Field: "a"}, fault{}},
		{"metric=count&group_by=a", AggregateRequest{Metric: MetricCount, GroupBy: "a", Limit: 10}, fault{}},
		{"metric=min&field=b&group_by=a&limit=100", AggregateRequest{Metric: MetricMin, Field: "b", GroupBy: "a", Limit: 100}, fault{}},
		{
			"metric=count&group_by_time=a&granularity=week",
			AggregateRequest{Metric: MetricCount, GroupByTime: "a", Granularity: "week", TimeZone: "UTC", Order: "asc", Limit: 100},
			fault{},
		},
		{
			"metric=max&field=b&group_by_time=a&granularity=quarter&time_zone=Europe/Berlin&order=desc&limit=1",
			AggregateRequest{Metric: MetricMax, Field: "b", GroupByTime: "a", Granularity: "quarter", TimeZone: "Europe/Berlin", Order: "desc", Limit: 1},
			fault{},
		},
		{raw: "", bad: bad("metric")},
		{raw: "metric=", bad: bad("metric")},
		{raw: "metric=median&field=a", bad: bad("metric")},
		{raw: "metric=count&metric=count", bad: bad("metric")},
		{raw: "metric=count&field=a", bad: bad("field")},
		{raw: "metric=sum", bad: bad("field")},
		{raw: "metric=count_distinct&field=", bad: bad("field")},
		{raw: "metric=count&group_by=a&group_by_time=b&granularity=day", bad: bad("group_by_time")},
		{raw: "metric=count&group_by=", bad: bad("group_by")},
		{raw: "metric=count&group_by_time=", bad: bad("group_by_time")},
		{raw: "metric=count&group_by_time=a", bad: bad("granularity")},
		{raw: "metric=count&group_by_time=a&granularity=days", bad: bad("granularity")},
		{raw: "metric=count&group_by_time=a&granularity=day&time_zone=Berlin", bad: bad("time_zone")},
		{raw: "metric=count&group_by_time=a&granularity=day&time_zone=Local", bad: bad("time_zone")},
		{raw: "metric=count&group_by_time=a&granularity=day&time_zone=", bad: bad("time_zone")},
		{raw: "metric=count&group_by_time=a&granularity=day&order=up", bad: bad("order")},
		{raw: "metric=count&granularity=day", bad: bad("granularity")},
		{raw: "metric=count&group_by=a&time_zone=UTC", bad: bad("time_zone")},
		{raw: "metric=count&group_by=a&order=asc", bad: bad("order")},
		{raw: "metric=count&limit=5", bad: bad("limit")},
		{raw: "metric=count&group_by=a&limit=0", bad: bad("limit")},
		{raw: "metric=count&group_by=a&limit=101", bad: bad("limit")},
		{raw: "metric=count&group_by=a&limit=5.0", bad: bad("limit")},
		{raw: "metric=count&group_by=a&limit=99999999999999999999", bad: bad("limit")},
		{raw: "metric=count&group_by_time=a&granularity=day&limit=101", bad: bad("limit")},
		{raw: "metric=count&filter=a", bad: bad("filter")},
		{raw: "metric=count&sort=a", bad: bad("sort")},
		{raw: "metric=count&cursor=a", bad: bad("cursor")},
	} {
		got, err := aggregateOf(t, tc.raw)
		diff := cmp.Diff(tc.want, got, cmpopts.IgnoreUnexported(AggregateRequest{}))
		if err == nil && diff != "" || faultOf(err) != tc.bad {
			t.Errorf("Aggregate(%q): %v, want %+v\n%s", tc.raw, err, tc.bad, diff)
		}
	}
}

// ledger declares some aggregations of its fields; quiet has none.
func ledger(t testing.TB, fields ...string) (access, quiet *grant.Access) {
	t.Helper()
	const schema = `"schema":{"type":"object","properties":{"id":{"type":"string"},"kind":{"type":"string"},"amount":{"type":"number"},
		"at":{"type":"string","format":"date-time"},"day":{"type":"string","format":"date"},"meta":{"type":"object"}}},
		"semantics":"append_only","primary_key":["id"],"selection":{"fields":true,"resources":false}`
	m, err := manifest.Parse([]byte(`{"protocol_version":"0.1.0","declaration_version":"1","source":{"kind":"connector","id":"https://reg.test/c/l"},
		"streams":[{"name":"lines",` + schema + `,"query":{"aggregations":{"count":true,"sum":["amount"],"min":["at"],"max":["amount"],
			"group_by":["kind"],"group_by_time":["at","day"],"count_distinct":["kind"]}}},{"name":"quiet",` + schema + `}]}`))
	if err != nil {
		t.Fatal(err)
	}
	c := &pdpp.Catalog{Manifests: []*pdpp.Manifest{m}, Connections: []pdpp.Connection{{ID: "cin_1", Connector: "l"}}}
	if fields == nil {
		r := grant.ForOwner("own_1", c)
		return r.Rows[0].Access, r.Rows[1].Access
	}
	r := grant.ForClient(&pdpp.Grant{ConnectorKey: "l", Streams: []pdpp.GrantStream{{Name: "lines", Fields: fields}, {Name: "quiet", Fields: fields}}}, c)
	return r.Rows[0].Access, r.Rows[1].Access
}

func TestAggregateOn(t *testing.T) { // AG-1, AG-4: the meaning
	all, quiet := ledger(t)
	narrow, _ := ledger(t, "id", "kind")
	unknown := func(param, field string) fault { return fault{pdpp.CodeUnknownField, param, field} }
	denied := func(param, field string) fault { return fault{pdpp.CodeFieldNotGranted, param, field} }
	undeclared := func(param, field string) fault { return fault{pdpp.CodeInvalidRequest, param, field} }
	for _, tc := range []struct {
		raw    string
		access *grant.Access
		bad    fault
		skip   bool // over several connectors the stream would be left out (C-25)
	}{
		{"metric=count", all, fault{}, false},
		{"metric=sum&field=amount&group_by=kind&filter[kind]=x", all, fault{}, false},
		{"metric=min&field=at&group_by_time=day&granularity=day", all, fault{}, false},
		{"metric=count_distinct&field=kind&group_by=kind", narrow, fault{}, false},
		{"metric=count", quiet, undeclared("metric", ""), true},
		{"metric=sum&field=nope", all, unknown("field", "nope"), true},
		{"metric=sum&field=amount", narrow, denied("field", "amount"), false},
		{"metric=sum&field=kind", all, undeclared("field", "kind"), true},
		{"metric=min&field=amount", all, undeclared("field", "amount"), true},
		{"metric=max&field=at", all, undeclared("field", "at"), true},
		{"metric=max&field=meta", all, undeclared("field", "meta"), true},
		{"metric=count_distinct&field=id", all, undeclared("field", "id"), true},
		{"metric=count&group_by=nope", all, unknown("group_by", "nope"), true},
		{"metric=count&group_by=amount", narrow, denied("group_by", "amount"), false},
		{"metric=count&group_by=amount", all, undeclared("group_by", "amount"), true},
		{"metric=count&group_by_time=nope&granularity=day", all, unknown("group_by_time", "nope"), true},
		{"metric=count&group_by_time=at&granularity=day", narrow, denied("group_by_time", "at"), false},
		{"metric=count&group_by_time=kind&granularity=day", all, undeclared("group_by_time", "kind"), true},
		{"metric=count&filter[nope]=1", all, unknown("filter", "nope"), true},
		{"metric=count&filter[amount]=1", narrow, denied("filter", "amount"), false},
		// C-20: unknown, then not granted, then not declared.
		{"metric=sum&field=kind&group_by=amount", narrow, denied("group_by", "amount"), false},
		{"metric=sum&field=amount&group_by=nope", narrow, unknown("group_by", "nope"), true},
		{"metric=count&group_by=kind&filter[amount]=1", narrow, denied("filter", "amount"), false},
	} {
		w, err := aggregateOf(t, tc.raw)
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.On(tc.access)
		if faultOf(err) != tc.bad || Undeclared(err) != tc.skip {
			t.Errorf("%s: %v, want %+v; left out: %v, want %v", tc.raw, err, tc.bad, Undeclared(err), tc.skip)
		}
	}
}

func TestAggregateOver(t *testing.T) {
	access, _ := ledger(t)
	for raw, want := range map[string]string{ // AG-3: dates have no time of day
		"metric=count&group_by_time=at&granularity=day&time_zone=Europe/Berlin":  "Europe/Berlin",
		"metric=count&group_by_time=day&granularity=day&time_zone=Europe/Berlin": "UTC",
	} {
		w, err := aggregateOf(t, raw)
		if err != nil {
			t.Fatal(err)
		}
		a := w.Over("own_1", []Source{{Stream: access.Stream}})
		if a.Buckets.Zone.String() != want || a.Buckets.Desc || a.Group != w.GroupByTime || a.Limit != 100 {
			t.Errorf("%s: %+v in %s, want %s", raw, a, a.Buckets.Zone, want)
		}
	}
	w, _ := aggregateOf(t, "metric=count&group_by_time=at&granularity=day&order=desc")
	if a := w.Over("own_1", nil); !a.Buckets.Desc || a.Buckets.Zone != time.UTC {
		t.Errorf("%+v", a.Buckets)
	}
}

func TestAligned(t *testing.T) { // AG-10
	stream := func(amount, group pdpp.Kind) *pdpp.Stream {
		s := &pdpp.Stream{Fields: []*pdpp.Field{{Name: "amount", Kind: amount}, {Name: "group", Kind: group}}}
		m := &pdpp.Manifest{Streams: []*pdpp.Stream{s}}
		m.BuildIndex()
		return s
	}
	base := stream(pdpp.KindInteger, pdpp.KindString)
	w := AggregateRequest{Metric: MetricSum, Field: "amount", GroupBy: "group"}
	for _, c := range []struct {
		other *pdpp.Stream
		want  bool
	}{
		{stream(pdpp.KindInteger, pdpp.KindString), true},
		{stream(pdpp.KindNumber, pdpp.KindString), true},
		{stream(pdpp.KindDate, pdpp.KindString), false},
		{stream(pdpp.KindInteger, pdpp.KindBoolean), false},
	} {
		if got := w.Aligned(base, c.other); got != c.want {
			t.Errorf("Aligned with %v, %v = %v", c.other.Fields[0].Kind, c.other.Fields[1].Kind, got)
		}
	}
	if !(AggregateRequest{Metric: MetricCount}).Aligned(base, stream(pdpp.KindDate, pdpp.KindBoolean)) {
		t.Error("fields that are not named matter")
	}
}
