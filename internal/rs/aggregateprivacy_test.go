package rs_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pdpp/internal/rs/resttest"
)

// sumPattern matches sums. A sum can look like the value of a record by chance.
var sumPattern = regexp.MustCompile(`"value":-?[0-9]{10,}`)

// drawAggregate draws an aggregate over granted and ungranted fields.
func (u *universe) drawAggregate(t *rapid.T, c *call, name string, q url.Values) {
	s := u.stream(name)
	field := func(kinds ...string) string {
		names := []string{}
		for _, f := range s.fields {
			if slices.Contains(kinds, f.kind) {
				names = append(names, f.name)
			}
		}
		if names = append(names, "undeclared"); len(names) > 1 && !rare(t, 4, "undeclared") {
			names = names[:len(names)-1]
		}
		return rapid.SampledFrom(names).Draw(t, "aggregated field")
	}
	metric := rapid.SampledFrom([]string{"count", "count", "sum", "min", "max", "count_distinct"}).Draw(t, "metric")
	q.Set("metric", metric)
	switch metric {
	case "sum":
		q.Set("field", field("integer"))
	case "min", "max":
		q.Set("field", field("integer", "date-time"))
	case "count_distinct":
		q.Set("field", field("string"))
	}
	switch rapid.IntRange(0, 4).Draw(t, "grouped") {
	case 0:
	case 1, 2:
		q.Set("group_by", field("string"))
	default:
		q.Set("group_by_time", field("date-time"))
		q.Set("granularity", rapid.SampledFrom([]string{"hour", "day", "week", "month"}).Draw(t, "granularity"))
		q.Set("time_zone", rapid.SampledFrom([]string{"UTC", "Asia/Kathmandu"}).Draw(t, "zone"))
		q.Set("order", rapid.SampledFrom([]string{"asc", "desc"}).Draw(t, "order"))
	}
	if (q.Has("group_by") || q.Has("group_by_time")) && rapid.Bool().Draw(t, "limited") {
		q.Set("limit", fmt.Sprint(rapid.IntRange(1, 4).Draw(t, "groups")))
	}
	u.drawFilters(t, c, s, q)
}

// drawFilters draws filters for a list or an aggregate.
func (u *universe) drawFilters(t *rapid.T, c *call, s *modelStream, q url.Values) {
	for rare(t, 2, "filter") && len(c.filters) < 2 {
		f := rapid.SampledFrom(s.fields).Draw(t, "filter field")
		op := rapid.SampledFrom([]string{"", "", "[gte]", "[lt]"}).Draw(t, "operator")
		operand := u.drawOperand(t, s, f)
		if _, twice := c.filters[f.name]; !twice {
			q.Set("filter["+f.name+"]"+op, operand)
			c.filters[f.name] = op + operand
		}
	}
}

// wireAggregate is an aggregate as a client reads it.
type wireAggregate struct {
	Metric  string          `json:"metric"`
	Field   *string         `json:"field"`
	GroupBy *string         `json:"group_by"`
	ByTime  *string         `json:"group_by_time"`
	Total   int             `json:"filtered_record_count"`
	Value   json.RawMessage `json:"value"`
	Other   int             `json:"other_count"`
	Groups  []struct {
		Key   *string         `json:"key"`
		Count int             `json:"count"`
		Value json.RawMessage `json:"value"`
	} `json:"groups"`
}

// checkAggregate compares an aggregate with the visible records of the model.
func (u *universe) checkAggregate(t *rapid.T, c call, a resttest.Answer) {
	if c.aggregate == "" || !c.plain {
		return
	}
	var got wireAggregate
	if err := json.Unmarshal(a.Body, &got); err != nil {
		t.Fatal(err)
	}
	var records []*modelRecord
	for _, r := range u.visible(u.grantOf(c.aggregate)) {
		if r.meets(c.filters) {
			records = append(records, r)
		}
	}
	wrong := func(what string, want any) {
		t.Fatalf("%s: %s differs, want %v under %s: %s", c.target, what, want, u.spec(), a.Body)
	}
	if got.Total != len(records) {
		wrong("filtered_record_count", len(records))
	}
	if got.Groups == nil && got.GroupBy == nil && got.ByTime == nil {
		if want := expectedValue(got, records); want != "" && string(got.Value) != want {
			wrong("value", want)
		}
		return
	}
	shown := got.Other
	for _, g := range got.Groups {
		shown += g.Count
		if got.GroupBy == nil {
			continue
		}
		members := slices.DeleteFunc(slices.Clone(records), func(r *modelRecord) bool { return !equalsKey(r.values[*got.GroupBy], g.Key) })
		if len(members) != g.Count {
			wrong("the count of a group", len(members))
		}
		if want := expectedValue(got, members); want != "" && string(g.Value) != want {
			wrong("the value of a group", want)
		}
	}
	if shown != len(records) {
		wrong("the sum of all groups", len(records))
	}
}

// equalsKey reports whether a raw value has the key of a group. The key of values that are
// not text is nil.
func equalsKey(raw string, key *string) bool {
	var text string
	isText := strings.HasPrefix(raw, `"`) && json.Unmarshal([]byte(raw), &text) == nil && len(text) <= 1024
	if key == nil || !isText {
		return (key == nil) == !isText
	}
	return text == *key
}

// expectedValue returns the metric over records as JSON, or "" where the model does not
// compute it.
func expectedValue(got wireAggregate, records []*modelRecord) string {
	sum, distinct := 0, map[string]bool{}
	for _, r := range records {
		if got.Field == nil {
			continue
		}
		raw := r.values[*got.Field]
		if n, err := strconv.Atoi(raw); err == nil {
			sum += n
		}
		if strings.HasPrefix(raw, `"`) && len(raw) <= 1026 {
			distinct[raw] = true
		}
	}
	switch got.Metric {
	case "count":
		if got.GroupBy == nil {
			return fmt.Sprint(len(records))
		}
	case "sum":
		return fmt.Sprint(sum)
	case "count_distinct":
		return fmt.Sprint(len(distinct))
	}
	return ""
}

type advertisedAggregate struct {
	Metrics       []string `json:"metrics"`
	GroupBy       []string `json:"group_by"`
	GroupByTime   []string `json:"group_by_time"`
	Granularities []string `json:"granularities"`
	MaxLimit      int      `json:"max_limit"`
}

// aggregates tests X-4 for every metric and grouping of every field.
func (p *probe) aggregates() {
	offer := p.row.Query.Aggregate
	if offer == nil {
		offer = &advertisedAggregate{}
	}
	expect := func(isAdvertised bool, query string) {
		p.rt.Helper()
		a := p.w.Get(p.token, "/v1/streams/"+p.stream.Name+"/aggregate?"+query)
		if accepted := a.Status == 200; accepted != isAdvertised || !accepted && a.Status != 400 && a.Status != 403 {
			p.rt.Fatalf("X-4 %s/aggregate?%s: advertised: %v, status %d: %s", p.stream.Name, query, isAdvertised, a.Status, a.Body)
		}
	}
	expect(slices.Contains(offer.Metrics, "count"), "metric=count")
	for _, metric := range []string{"sum", "min", "max", "count_distinct"} {
		some := false
		for _, f := range p.stream.Fields {
			usable := p.row.Fields[f.Name].Aggregation[metric].Usable
			some = some || usable
			expect(usable, "metric="+metric+"&field="+url.QueryEscape(f.Name))
		}
		if listed := slices.Contains(offer.Metrics, metric); listed != some {
			p.rt.Fatalf("X-11 metric %s: listed %v, usable with a field %v", metric, listed, some)
		}
	}
	if !slices.Contains(offer.Metrics, "count") {
		return
	}
	for _, f := range p.stream.Fields {
		c, name := p.row.Fields[f.Name].Aggregation, url.QueryEscape(f.Name)
		if c["group_by"].Usable != slices.Contains(offer.GroupBy, f.Name) || c["group_by_time"].Usable != slices.Contains(offer.GroupByTime, f.Name) {
			p.rt.Fatalf("field_capabilities (X-9) and query_capabilities (X-11) differ for %s", f.Name)
		}
		expect(c["group_by"].Usable, fmt.Sprintf("metric=count&group_by=%s&limit=%d", name, max(1, offer.MaxLimit)))
		for _, g := range []string{"minute", "day", "year", "decade"} {
			expect(c["group_by_time"].Usable && slices.Contains(offer.Granularities, g), "metric=count&group_by_time="+name+"&granularity="+g)
		}
	}
}

// TestAggregatesIgnoreUngrantedRecords: two worlds that differ only outside the grant answer
// with the same bytes, even if the difference affects order, ties and query plans (REC-27 to
// REC-30). TestUngrantedDataDoesNotChangeAnswers draws small worlds. These are large enough
// for every query plan.
func TestAggregatesIgnoreUngrantedRecords(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("writes thousands of records")
	}
	const spec = `{"source":{"connector_key":"cabinet"},"streams":[{"name":"items","fields":["id","author","price","qty","a.b"],
		"instance_ids":["cin_c1"],"time_range":{"since":"2026-01-01T00:00:00Z","until":"2026-02-01T00:00:00Z"}}]}`
	world := func(hidden bool) (*resttest.World, string) {
		w := resttest.Cabinet(t)
		var lines []string
		for i := range 6000 {
			inside := i < 3000
			if !inside && !hidden {
				break
			}
			members := fmt.Sprintf(`"author":"a%d","price":%d.%d0,"qty":%d,"a.b":"b%d","day":"2026-%02d-%02d"`, i%7, i%11, i%2, i%5, i%3, 1+btoi(!inside), 1+i%28)
			if hidden {
				members += fmt.Sprintf(`,"at":"2026-01-01T00:00:%02dZ","title":"t%d"`, i*31%60, i)
			}
			lines = append(lines, item(fmt.Sprintf("i%04d", i), members))
		}
		w.Ingest("cin_c1", "items", lines...)
		if hidden {
			w.Ingest("cin_c2", "items", lines...)
		}
		return w, first(w.Grant(spec))
	}
	full, fullToken := world(true)
	lean, leanToken := world(false)
	for _, query := range []string{
		"metric=count", "metric=count&group_by=author", "metric=sum&field=price&group_by=a.b", "metric=max&field=price&group_by=author",
		"metric=min&field=price", "metric=count_distinct&field=qty&group_by=author", "metric=count&group_by=price&limit=3&filter[a.b]=b1",
		"metric=sum&field=qty&filter[author]=a3&filter[a.b]=b1", "metric=max&field=price&filter[qty][gte]=2&group_by=a.b",
	} {
		got := full.Get(fullToken, "/v1/streams/items/aggregate?"+query).OK()
		want := lean.Get(leanToken, "/v1/streams/items/aggregate?"+query).OK()
		if string(got.Body) != string(want.Body) {
			t.Errorf("%s differs:\nwithout ungranted data: %swith ungranted data: %s", query, want.Body, got.Body)
		}
		if got.At("filtered_record_count") == json.Number("0") {
			t.Errorf("%s: no record matches", query)
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
