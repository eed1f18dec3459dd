package rs_test

import (
	"fmt"
	"strings"
	"testing"

	"pdpp/internal/rs/resttest"
)

const entriesAggregate = "/v1/streams/entries/aggregate"

// TestAggregateAnswer compares whole answers (AG-8).
func TestAggregateAnswer(t *testing.T) {
	w := ledger(t)
	tok := first(w.Grant(`{"source":{"connector_key":"ledgerly"},"streams":[{"name":"entries"}]}`))
	for query, want := range map[string]string{
		"metric=count": `"metric":"count","field":null,"group_by":null,"group_by_time":null,"granularity":null,"time_zone":null,"order":null,` +
			`"approximate":false,"filtered_record_count":3,"value":3`,
		"metric=sum&field=amount_minor&filter[posted_at][gte]=2026-04-01": `"metric":"sum","field":"amount_minor","group_by":null,"group_by_time":null,"granularity":null,"time_zone":null,"order":null,` +
			`"approximate":false,"filtered_record_count":2,"value":125000`,
		"metric=max&field=posted_at": `"metric":"max","field":"posted_at","group_by":null,"group_by_time":null,"granularity":null,"time_zone":null,"order":null,` +
			`"approximate":false,"filtered_record_count":3,"value":"2026-04-30T09:00:00Z"`,
		"metric=count&group_by=memo&limit=2": `"metric":"count","field":null,"group_by":"memo","group_by_time":null,"granularity":null,"time_zone":null,"order":null,` +
			`"approximate":false,"filtered_record_count":3,"groups":[{"key":"April rent","count":1},{"key":"March rent","count":1}],"limit":2,"other_count":1`,
		"metric=sum&field=amount_minor&group_by=memo": `"metric":"sum","field":"amount_minor","group_by":"memo","group_by_time":null,"granularity":null,"time_zone":null,"order":null,` +
			`"approximate":false,"filtered_record_count":3,"groups":[{"key":"April rent","count":1,"value":125000},{"key":"March rent","count":1,"value":125000},{"key":null,"count":1,"value":0}],"limit":10,"other_count":0`,
		"metric=count_distinct&field=memo&group_by_time=posted_at&granularity=month&time_zone=Europe/Berlin&order=desc": `"metric":"count_distinct","field":"memo","group_by":null,"group_by_time":"posted_at","granularity":"month","time_zone":"Europe/Berlin","order":"desc",` +
			`"approximate":false,"filtered_record_count":3,"groups":[{"key":"2026-04-01","count":2,"value":1},{"key":"2026-03-01","count":1,"value":1}],"limit":100,"other_count":0`,
	} {
		target := entriesAggregate + "?" + query
		want = `{"object":"aggregation","stream":"entries",` + want + `,"links":{"self":"` + target + `"},"meta":{"count":{"kind":"none"},"warnings":[]}}` + "\n"
		if got := string(w.Get(tok, target).OK().Body); got != want {
			t.Errorf("%s\n got %swant %s", query, got, want)
		}
		if a := w.Do("HEAD", tok, target, ""); a.Status != 200 || a.Header.Get("Content-Length") != fmt.Sprint(len(want)) {
			t.Errorf("C-1 HEAD %s: status %d, Content-Length %s, want those of GET", query, a.Status, a.Header.Get("Content-Length"))
		}
	}
}

// TestAggregateRefusals has every refusal of AG-1 to AG-6, with the codes of C-42.
func TestAggregateRefusals(t *testing.T) {
	w := filledCabinet(t)
	tok := first(w.Grant(`{"source":{"connector_key":"cabinet"},"streams":[{"name":"items","fields":["id","title","done","price","at","mixed"]},{"name":"ticks"}]}`))
	bad := func(param string) refusal { return refusal{status: 400, code: "invalid_request", param: param} }
	undeclared := func(param, field string) refusal { return refusal{400, "invalid_request", param, field, ""} }
	unknown := func(param string) refusal { return refusal{400, "unknown_field", param, "nope", ""} }
	denied := func(param, field string) refusal { return refusal{403, "field_not_granted", param, field, ""} }
	for query, want := range map[string]refusal{
		"":                                  bad("metric"),
		"metric=average&field=price":        bad("metric"),
		"metric=count&field=price":          bad("field"),
		"metric=sum":                        bad("field"),
		"metric=sum&field=nope":             unknown("field"),
		"metric=sum&field=qty":              denied("field", "qty"),
		"metric=sum&field=at":               undeclared("field", "at"),
		"metric=min&field=title":            undeclared("field", "title"),
		"metric=max&field=at":               undeclared("field", "at"),
		"metric=count_distinct&field=mixed": undeclared("field", "mixed"),
		"metric=count&group_by=done&group_by_time=at&granularity=day":  bad("group_by_time"),
		"metric=count&group_by=nope":                                   unknown("group_by"),
		"metric=count&group_by=author":                                 denied("group_by", "author"),
		"metric=count&group_by=title":                                  undeclared("group_by", "title"),
		"metric=count&group_by_time=at":                                bad("granularity"),
		"metric=count&group_by_time=at&granularity=fortnight":          bad("granularity"),
		"metric=count&group_by_time=nope&granularity=day":              unknown("group_by_time"),
		"metric=count&group_by_time=day&granularity=day":               denied("group_by_time", "day"),
		"metric=count&group_by_time=title&granularity=day":             undeclared("group_by_time", "title"),
		"metric=count&group_by_time=at&granularity=day&time_zone=Mars": bad("time_zone"),
		"metric=count&group_by_time=at&granularity=day&order=newest":   bad("order"),
		"metric=count&granularity=day":                                 bad("granularity"),
		"metric=count&time_zone=UTC":                                   bad("time_zone"),
		"metric=count&group_by=done&order=asc":                         bad("order"),
		"metric=count&limit=3":                                         bad("limit"),
		"metric=count&group_by=done&limit=0":                           bad("limit"),
		"metric=count&group_by=done&limit=101":                         bad("limit"),
		"metric=count&group_by=done&limit=x":                           bad("limit"),
		"metric=count&group_by_time=at&granularity=day&limit=101":      bad("limit"),
		"metric=count&filter[nope]=1":                                  unknown("filter"),
		"metric=count&filter[qty]=1":                                   denied("filter", "qty"),
		"metric=count&filter[price][gte]=1":                            undeclared("filter", "price"),
		"metric=count&cursor=x":                                        bad("cursor"),
		"metric=count&fields=id":                                       bad("fields"),
		"metric=count&connection_id=cin_none":                          {status: 404, code: "connection_not_found", param: "connection_id"},
		"metric=sum&field=qty&group_by=nope":                           unknown("group_by"), // C-20
	} {
		t.Run(query, func(t *testing.T) { refused(t, w.Get(tok, "/v1/streams/items/aggregate?"+query), want) })
	}
	refused(t, w.Get(tok, "/v1/streams/ticks/aggregate?metric=count"), bad("metric"))
	refused(t, w.Get(tok, "/v1/streams/notes/aggregate?metric=count"), refusal{403, "grant_stream_not_allowed", "", "", "notes"})
	refused(t, w.Get(w.OwnerToken(), "/v1/streams/none/aggregate?metric=count"), refusal{404, "not_found", "", "", "none"})
	refused(t, w.Do("POST", tok, "/v1/streams/items/aggregate?metric=count", ""), refusal{status: 405, code: "method_not_allowed"})
	refused(t, w.Get(tok, "/v1/streams/items/aggregate/?metric=count"), refusal{status: 404, code: "not_found"})
	refused(t, w.Get("", "/v1/streams/items/aggregate?metric=count"), refusal{status: 401, code: "authentication_error"})
}

// groupsOf returns the groups of an answer in a short form.
func groupsOf(t testing.TB, a resttest.Answer) string {
	t.Helper()
	return strings.NewReplacer(`{"key":`, "", `,"count":`, " ", `,"value":`, " ", "}", "").Replace(strings.Trim(rawMember(t, a, "groups"), "[]"))
}

// TestAggregateValues has values of every type, from two connections (AG-10 to AG-12).
func TestAggregateValues(t *testing.T) {
	w := filledCabinet(t)
	tok := first(w.Grant(cabinetGrant))
	get := func(query string) resttest.Answer { return w.Get(tok, "/v1/streams/items/aggregate?"+query).OK() }
	for query, want := range map[string]string{
		"metric=sum&field=price":                                     `110.5`,
		"metric=max&field=price":                                     `1e2`,
		"metric=min&field=price":                                     `10.50`,
		"metric=min&field=at":                                        `"2025-12-01T00:00:00Z"`,
		"metric=max&field=day":                                       `"2026-01-11"`,
		"metric=count_distinct&field=id":                             `8`,
		"metric=count_distinct&field=title":                          `7`,
		"metric=count&connection_id=cin_c2":                          `3`,
		"metric=count&filter[title]=Left tie":                        `1`,
		"metric=sum&field=price&filter[qty][gte]=4":                  `100`,
		"metric=min&field=price&filter[done]=true&filter[id]=nobody": `null`,
	} {
		sameRaw(t, get(strings.ReplaceAll(query, " ", "%20")), want, "value")
	}
	for query, want := range map[string]string{
		"metric=count&group_by=done":                                            `null 7,false 1,true 1`,
		"metric=count&group_by=price":                                           `null 7,10.5 1,100 1`,
		"metric=sum&field=qty&group_by=done":                                    `false 1 12,true 1 3,null 7 0`,
		"metric=count&group_by_time=at&granularity=year":                        `"2025-01-01" 1,"2026-01-01" 5,null 3`,
		"metric=count&group_by_time=at&granularity=year&order=desc&limit=2":     `"2026-01-01" 5,"2025-01-01" 1`,
		"metric=count&group_by_time=day&granularity=day":                        `"2026-01-10" 1,"2026-01-11" 1,null 7`,
		"metric=count&group_by_time=day&granularity=day&time_zone=Asia/Tokyo":   `"2026-01-10" 1,"2026-01-11" 1,null 7`, // AG-3: dates have no time zone
		"metric=count&group_by_time=day&granularity=day&time_zone=Pacific/Niue": `"2026-01-10" 1,"2026-01-11" 1,null 7`,
		"metric=count&group_by_time=at&granularity=hour&limit=2":                `"2025-12-01T00:00" 1,"2026-01-01T00:00" 1`,
	} {
		if got := groupsOf(t, get(query)); got != want {
			t.Errorf("%s = %s, want %s", query, got, want)
		}
	}
}

// TestAggregateUnderGrant has grants limited by resources, time and fields (REC-27 to REC-30).
func TestAggregateUnderGrant(t *testing.T) {
	w := filledCabinet(t)
	grant := func(more string) string {
		return first(w.Grant(`{"source":{"connector_key":"cabinet"},"streams":[{"name":"items",` + more + `}]}`))
	}
	for _, c := range []struct{ more, query, member, want string }{
		{`"resources":["tie","left","nobody"]`, "metric=count", "value", "3"},
		{`"resources":["tie","left","nobody"]`, "metric=max&field=price", "value", "1e2"},
		{`"resources":["tie"]`, "metric=count&group_by=done", "groups", `[{"key":null,"count":1},{"key":true,"count":1}]`},
		{`"time_range":{"since":"2026-01-11T00:00:00Z"}`, "metric=sum&field=price", "value", "100"},
		{`"time_range":{"since":"2026-01-11T00:00:00Z"}`, "metric=count&group_by_time=at&granularity=day", "groups", `[{"key":"2026-01-11","count":1}]`},
		// The time range applies although the time field is not granted.
		{`"fields":["price"],"time_range":{"until":"2026-01-11T00:00:00Z"}`, "metric=min&field=price", "value", "10.50"},
		{`"fields":["price"],"time_range":{"until":"2026-01-11T00:00:00Z"}`, "metric=count", "filtered_record_count", "1"},
		{`"instance_ids":["cin_c2"]`, "metric=count", "value", "3"},
		{`"instance_ids":["cin_c2"]`, "metric=count_distinct&field=title", "value", "3"},
	} {
		a := w.Get(grant(c.more), "/v1/streams/items/aggregate?"+c.query)
		if got := rawMember(t, a, c.member); got != c.want {
			t.Errorf("%s under %s: %s, want %s", c.query, c.more, got, c.want)
		}
	}
}

// TestAggregateTiesRevealNothing: which of two equal values is shown depends neither on an
// ungranted cursor field nor on the order of writing (AG-12).
func TestAggregateTiesRevealNothing(t *testing.T) {
	for _, times := range [][2]string{{"2026-01-01", "2026-01-02"}, {"2026-01-02", "2026-01-01"}} {
		for _, order := range [][]int{{0, 1}, {1, 0}} {
			w := resttest.Cabinet(t)
			lines := []string{
				item("x", `"author":"ann","price":1.5,"at":"`+times[0]+`"`), item("y", `"author":"ann","price":1.50,"at":"`+times[1]+`"`),
			}
			for _, i := range order {
				w.Ingest("cin_c1", "items", lines[i])
			}
			tok := first(w.Grant(`{"source":{"connector_key":"cabinet"},"streams":[{"name":"items","fields":["author","price"]}]}`))
			if got := rawMember(t, w.Get(tok, "/v1/streams/items/aggregate?metric=max&field=price"), "value"); got != "1.5" {
				t.Errorf("times %v, write order %v: %s, want the value of x", times, order, got)
			}
			if got := groupsOf(t, w.Get(tok, "/v1/streams/items/aggregate?metric=max&field=price&group_by=author")); got != `"ann" 2 1.5` {
				t.Errorf("times %v, write order %v: %s, want the value of x", times, order, got)
			}
		}
	}
}

// TestAggregateOverConnectors: two connectors have a stream of the same name (C-25, AG-10).
func TestAggregateOverConnectors(t *testing.T) {
	w := twoSources(t)
	tok := w.OwnerToken()
	w.Ingest("cin_z9", "events", `{"key":"ev_9","data":{"id":"ev_9","title":"Run"}}`)
	get := func(query string) resttest.Answer { return w.Get(tok, "/v1/streams/events/aggregate?"+query) }
	both := get("metric=count&group_by=title").OK()
	if got := groupsOf(t, both); got != `"Run" 2,"Review" 1,"Standup" 1,"Swim" 1` || rawMember(t, both, "meta", "warnings") != "[]" {
		t.Errorf("want the groups of both connectors and no warning: %s", both.Body)
	}
	for query, skipped := range map[string]string{
		"metric=sum&field=score":                               `{"connector_key":"alpha","connection_id":"cin_z9"}`,
		"metric=count&group_by=room":                           `{"connector_key":"beta","connection_id":"cin_b1"}`,
		"metric=count&group_by_time=starts_at&granularity=day": `{"connector_key":"beta","connection_id":"cin_b1"}`,
		"metric=count&filter[score]=4":                         `{"connector_key":"alpha","connection_id":"cin_z9"}`,
	} {
		a := get(query).OK()
		if got := rawMember(t, a, "meta", "warnings", "0", "detail"); got != skipped || a.At("meta.warnings.0.code") != "source_skipped_not_applicable" {
			t.Errorf("%s: want a warning about %s: %s", query, skipped, a.Body)
		}
	}
	sameRaw(t, get("metric=sum&field=score"), "13", "value")
	// No binding is left. The error is that of the first one, which is beta's.
	refused(t, get("metric=sum&field=happened_at"), refusal{400, "invalid_request", "field", "happened_at", ""})
	refused(t, get("metric=sum&field=nope"), refusal{400, "unknown_field", "field", "nope", ""})
	w.Manifest(strings.NewReplacer(`"room": {"type": "string"}`, `"room": {"type": "string"}, "score": {"type": "number"}`,
		`"group_by": ["title", "room"]`, `"sum": ["score"], "group_by": ["title", "room"]`).Replace(testManifest(t, "testdata/alpha.json")))
	w.Ingest("cin_z9", "events", `{"key":"ev_8","data":{"id":"ev_8","score":0.5}}`)
	if a := get("metric=sum&field=score"); rawMember(t, a, "value") != "13.5" || rawMember(t, a, "meta", "warnings") != "[]" {
		t.Errorf("want the sum of an integer and a number field, 13.5, and no warning: %s", a.Body)
	}
	w.Manifest(strings.NewReplacer(`"title": {"type": "string", "x_pdpp_role": "primary-title"}`, `"title": {"type": "boolean"}`).Replace(testManifest(t, "testdata/alpha.json")))
	a := get("metric=count&group_by=title")
	if got := groupsOf(t, a); got != `"Run" 1,"Swim" 1` || rawMember(t, a, "meta", "warnings", "0", "detail") != `{"connector_key":"alpha","connection_id":"cin_z9"}` {
		t.Errorf("AG-10 want alpha skipped, because its field has another type: %s", a.Body)
	}
}

// TestAggregateWithoutConnections: a granted stream has no connection.
func TestAggregateWithoutConnections(t *testing.T) {
	w := resttest.New(t)
	w.ManifestFile("testdata/cabinet.json")
	tok := w.OwnerToken()
	for query, want := range map[string]string{
		"metric=count": "0", "metric=sum&field=price": "0", "metric=max&field=price": "null", "metric=count_distinct&field=id": "0",
	} {
		sameRaw(t, w.Get(tok, "/v1/streams/items/aggregate?"+query), want, "value")
	}
	a := w.Get(tok, "/v1/streams/items/aggregate?metric=count&group_by_time=day&granularity=day")
	if rawMember(t, a, "groups") != "[]" || rawMember(t, a, "other_count") != "0" {
		t.Errorf("want no groups: %s", a.Body)
	}
}
