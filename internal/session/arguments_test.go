package session

import (
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// How arguments become parameters of requests to the resource server.

const records = "/v1/streams/messages/records"

func forwarded(v *visit) {
	s := v.as(everything)
	first := s.do("query_records", `{"stream":"messages","connection_id":"cin_home","fields":["subject","pages"],"sort":"-sent_at","limit":2}`)
	query := "?connection_id=cin_home&fields=subject&fields=pages&sort=-sent_at&limit=2"
	first.wantRequests(records + query)
	cursor := first.handle("next", "cursor")
	s.do("query_records", `{"stream":"messages","connection_id":"cin_home","fields":["subject","pages"],"sort":"-sent_at","limit":2,"cursor":`+quoted(cursor)+`}`).
		wantRequests(records + query + "&cursor=" + cursor)
	s.do("query_records", `{"stream":"messages","view":"brief","order":"asc","count":"exact"}`).wantRequests(records + "?view=brief&order=asc&count=exact")
	s.do("query_records", `{"stream":"messages","filter":{"folder":"inbox"}}`).wantRequests(records + "?filter[folder]=inbox")
	s.do("query_records", `{"stream":"messages","changes_since":"beginning"}`).wantRequests(records + "?changes_since=beginning")
	s.do("query_records", `{"stream":"messages"}`).wantRequests(records)
	for _, extra := range []string{`"where":"x"`, `"offset":3`, `"connector_instance_id":"cin_home"`, `"limit":"10"`, `"limit":101`} {
		s.refusedEarly("query_records", `{"stream":"messages",`+extra+`}`, "invalid_argument").says(strings.SplitN(extra, `"`, 3)[1])
	}
}

func exactFilter(v *visit) {
	a := v.as(everything).do("query_records", `{"stream":"messages","connection_id":"cin_home","filter":{"user_id":"U123"},"order":"asc"}`)
	a.wantRequests(records + "?connection_id=cin_home&filter[user_id]=U123&order=asc")
	a.wants(map[string]any{"ids": "[cin_home/messages:m1 cin_home/messages:m3 cin_home/messages:long]"})
}

func rangeFilter(v *visit) {
	s := v.as(everything)
	a := s.do("query_records", `{"stream":"messages","connection_id":"cin_home","filter":{"created_at":{"gte":"2026-01-05T00:00:00Z"}},"order":"asc"}`)
	a.wantRequests(records + "?connection_id=cin_home&filter[created_at][gte]=2026-01-05T00:00:00Z&order=asc")
	a.wants(map[string]any{"ids": "[cin_home/messages:m4 cin_home/messages:long]"})
	for op, want := range map[string]string{"gte": "[m4 m2]", "gt": "[m4]", "lte": "[m3 m2 m1]", "lt": "[m3 m1]"} {
		a := s.do("query_records", fmt.Sprintf(`{"stream":"messages","connection_id":"cin_home","filter":{"pages":{%q:4},"sent_at":{"lt":"2026-01-06T00:00:00Z"}}}`, op))
		var got []string
		for _, id := range a.ids() {
			got = append(got, strings.TrimPrefix(id, "cin_home/messages:"))
		}
		if fmt.Sprint(got) != want {
			v.Errorf("%s: %v, want %s", op, got, want)
		}
	}
	for _, op := range []string{"eq", "ne", "in", "$gte", "GTE"} {
		s.refusedEarly("query_records", `{"stream":"messages","filter":{"pages":{"`+op+`":4}}}`, "invalid_filter").says("gte")
	}
}

// filtered lists the tools with a filter, and the other arguments that they need.
var filtered = map[string]string{"query_records": `"stream":"messages"`, "aggregate": `"stream":"messages","metric":"count"`, "search": `"q":"rent"`}

func stringFilter(v *visit) {
	s := v.as(everything)
	for _, filter := range []string{"filter[user_id]=U123", "amount>100", "rent", "", `{"user_id":"U123"}`} {
		a := s.refusedEarly("query_records", `{"stream":"messages","filter":`+quoted(filter)+`}`, "invalid_filter")
		a.says(`{\"created_at\":{\"gte\":\"2026-01-01\"}}`)
		a.wants(map[string]any{"error.type": "adapter_error", "error.param": "filter", "error.next.tool": "schema"})
	}
}

func brokenFilter(v *visit) {
	s := v.as(everything)
	for filter, param := range map[string]string{`{}`: "filter", `{"filter[user_id]":"U123"}`: "filter.filter[user_id]", `{"created_at[gte]":"2026-01-01"}`: "filter.created_at[gte]"} {
		a := s.refusedEarly("query_records", `{"stream":"messages","filter":`+filter+`}`, "invalid_filter")
		a.says(`{\"created_at\":{\"gte\":\"2026-01-01\"}}`)
		a.wants(map[string]any{"error.param": param})
	}
}

func sameFilter(v *visit) {
	s := v.as(everything)
	const filter = `"filter":{"user_id":"U123","created_at":{"gte":"2026-01-03T00:00:00Z","lt":"2026-01-05T00:00:00Z"}}`
	const sent = "filter[user_id]=U123&filter[created_at][gte]=2026-01-03T00:00:00Z&filter[created_at][lt]=2026-01-05T00:00:00Z"
	a := s.do("aggregate", `{"stream":"messages","metric":"count",`+filter+`}`)
	a.wantRequests("/v1/streams/messages/aggregate?metric=count&" + sent)
	a.wants(map[string]any{"data.value": 1})
	a = s.do("search", `{"q":"keys","streams":["messages"],`+filter+`}`)
	a.wantRequests("/v1/search?q=keys&streams=messages&" + sent)
	a.wants(map[string]any{"results.0.id": "cin_home/messages:m3", "results.1": nil})
	for _, filter := range []string{`"filter[user_id]=U123"`, `""`, `{}`, `{"user_id[gte]":1}`, `{"user_id":{"like":"U"}}`} {
		want := s.refusedEarly("query_records", `{`+filtered["query_records"]+`,"filter":`+filter+`}`, "invalid_filter")
		for tool, args := range filtered {
			a := s.refusedEarly(tool, `{`+args+`,"filter":`+filter+`}`, "invalid_filter")
			for _, part := range []string{"error.type", "error.param", "error.message"} {
				if diff := cmp.Diff(want.sc.At(part), a.sc.At(part)); diff != "" {
					v.Errorf("%s of %s differs from query_records:\n%s", part, a.call, diff)
				}
			}
		}
	}
}

func expandLimit(v *visit) {
	a := v.as(everything).do("query_records", `{"stream":"threads","connection_id":"cin_home","expand":["messages"],"expand_limit":{"messages":3}}`)
	a.wantRequests("/v1/schema?view=compact&stream=threads&connection_id=cin_home",
		"/v1/streams/threads/records?connection_id=cin_home&expand=messages&expand_limit[messages]=3")
	if n := len(a.list("data.data.0.expanded.messages.data")); n != 3 {
		v.Errorf("%d messages, want 3: %.600s", n, a.sc.Body)
	}
	a.wants(map[string]any{"data.data.0.expanded.messages.has_more": true})
}

func expandLimitOfFetch(v *visit) {
	a := v.as(everything).do("fetch", `{"id":"cin_home/threads:t1","expand":["messages"],"expand_limit":{"messages":3}}`)
	a.wantRequests("/v1/schema?view=compact&stream=threads&connection_id=cin_home",
		"/v1/streams/threads/records/t1?expand=messages&expand_limit[messages]=3&connection_id=cin_home")
	if got := a.str("text"); !strings.Contains(got, "messages (3 records, has_more)") || strings.Count(got, `. "cin_home/messages:`) != 3 {
		v.Errorf("the document does not show three messages: %s", got)
	}
}

func brokenExpandLimit(v *visit) {
	s := v.as(everything)
	for _, limit := range []string{`{}`, `{"expand_limit[messages]":3}`, `{"messages[x]":3}`, `{"messages":0}`, `"messages=3"`} {
		for tool, args := range map[string]string{"query_records": `"stream":"threads"`, "fetch": `"id":"cin_home/threads:t1"`} {
			a := s.refusedEarly(tool, `{`+args+`,"expand":["messages"],"expand_limit":`+limit+`}`, "invalid_expand")
			a.wants(map[string]any{"error.type": "adapter_error"})
			a.says("expand_limit", "GET /v1/schema (expand_capabilities)")
		}
	}
}

func gateOpen(v *visit) {
	s := v.as(everything)
	a := s.do("query_records", `{"stream":"threads","connection_id":"cin_home","expand":["messages"],"fields":["topic"]}`)
	a.wantRequests("/v1/schema?view=compact&stream=threads&connection_id=cin_home", "/v1/streams/threads/records?connection_id=cin_home&fields=topic&expand=messages")
	a.isBody("data", s.again(a))
	if n := len(a.list("data.data.0.expanded.messages.data")); n != 2 {
		v.Errorf("%d messages, want 2", n)
	}
}

func gateShut(v *visit) {
	s := v.as(everything)
	for _, extra := range []string{`"expand":["replies"]`, `"expand_limit":{"replies":3}`, `"expand":["replies"],"expand_limit":{"replies":3}`} {
		for tool, args := range map[string]string{"query_records": `"stream":"messages","connection_id":"cin_home"`, "fetch": `"id":"cin_home/messages:m1"`} {
			a := s.refused(tool, `{`+args+`,`+extra+`}`, "invalid_expand")
			a.wantRequests("/v1/schema?view=compact&stream=messages&connection_id=cin_home")
			a.says("messages", "GET /v1/schema (expand_capabilities)")
			a.wants(map[string]any{"error.type": "adapter_error"})
		}
	}
	// The error lists the relations of a stream that has some.
	a := s.refused("query_records", `{"stream":"threads","expand":["replies"]}`, "invalid_expand")
	a.wantRequests("/v1/schema?view=compact&stream=threads")
	a.says(`it has \"messages\"`)
}
