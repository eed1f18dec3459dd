package session

import (
	"fmt"
	"slices"
	"strings"

	"pdpp/internal/mcp/limits"
)

// What schema returns, and which calls can be built from it.

func compactSchema(v *visit) {
	s := v.as(everything)
	for args, target := range map[string]string{
		`{}`:                    "/v1/schema?view=compact",
		`{"detail":"compact"}`:  "/v1/schema?view=compact",
		`{"stream":"messages"}`: "/v1/schema?view=compact&stream=messages",
		`{"stream":"messages","connection_id":"cin_work"}`: "/v1/schema?view=compact&stream=messages&connection_id=cin_work",
	} {
		a := s.do("schema", args)
		a.wantRequests(target)
		a.isBody("data", v.Get(s.token, target))
	}
}

func fullSchema(v *visit) {
	s := v.as(everything)
	a := s.do("schema", `{"stream":"messages","connection_id":"cin_home","detail":"full"}`)
	const target = "/v1/schema?detail=full&stream=messages&connection_id=cin_home"
	a.wantRequests(target)
	a.isBody("data", v.Get(s.token, target))
	a.wants(map[string]any{"data.connectors.0.streams.0.schema.properties.created_at.format": "date-time", "projected": nil, "field_capability_legend": nil})
}

// wideIndex checks an index with more streams than rows fit into the text.
func wideIndex(v *visit) {
	s := v.as(everything)
	a := s.do("schema", `{}`)
	a.says(`stream "threads"`, `stream "messages"`, `stream "notes"`, `stream "pages"`, `stream "scans"`, `connector "post"`, `next: schema {"stream":`)
	a.hides("thread_id", "created_at", "range filter operators |") // an index, not a list of fields

	v = v.other()
	var streams, names []string
	for i := range 200 {
		name := fmt.Sprintf("a_stream_with_a_long_name_%03d", i)
		names = append(names, name)
		streams = append(streams, `{"name":"`+name+`","semantics":"append_only","schema":{"type":"object","properties":{"id":{"type":"string"}}},"primary_key":["id"],"selection":{}}`)
	}
	v.Manifest(`{"protocol_version":"0.1.0","declaration_version":"1","connector_key":"wide","source":{"kind":"connector","id":"https://reg.acme.test/c/wide"},` +
		`"display":{"name":"Wide"},"streams":[` + strings.Join(streams, ",") + `]}`)
	v.Connect("wide", "cin_wide", "Wide")
	a = v.as(`{"source":{"connector_key":"wide"},"streams":[{"name":"*"}]}`).do("schema", `{}`)
	a.says(names...)
	a.says(`"wide" connections="cin_wide":`)
	if strings.Contains(a.text, "fields=") || len(a.text) > limits.SchemaTextMax {
		v.Errorf("%d bytes of text, rows are not capped: %.300s", len(a.text), a.text)
	}
	step := a.offer("next")
	v.as(`{"source":{"connector_key":"wide"},"streams":[{"name":"*"}]}`).do(step.tool, step.args).says("row connector_key=")
}

func sharedStream(v *visit) {
	s := v.as(everything)
	a := s.do("schema", `{"stream":"messages"}`)
	a.says(`connection "cin_home" "Home post"`, `connection "cin_work" "Work post"`, "\n fields: id[", "\n aggregation: count; sum=\"pages\"")
	_, rest, _ := strings.Cut(a.text, "\nrow ")
	for _, connection := range []string{"cin_home", "cin_work"} {
		if row, _, _ := strings.Cut(rest, "\n"); !strings.Contains(row, quoted(connection)) {
			v.Errorf("%s has no row with fields and aggregations: %s", connection, a.text)
		}
		s.do("query_records", `{"stream":"messages","connection_id":"`+connection+`","fields":["subject"],"filter":{"folder":"inbox"},"sort":"-sent_at"}`)
		s.do("aggregate", `{"stream":"messages","connection_id":"`+connection+`","metric":"sum","field":"pages","group_by":"folder"}`)
	}
}

func oneRow(v *visit) {
	s := v.as(everything)
	a := s.do("schema", `{"stream":"messages","connection_id":"cin_work"}`)
	a.says(`row connector_key="post" display_name="Work post" connection_id="cin_work" stream="messages" label="Your letters"`,
		"\n fields: id[t=string,eq]", "\n projection: fields=any listed; views=\"brief\"(\"id\",\"subject\")", "\n sort: \"sent_at\" or \"-sent_at\"",
		"\n count: none|estimated|exact", "\n expand: none", "\n search: lexical", "\n aggregation: count; ")
	a.hides("cin_home", "Home post", `"threads"`)
	if n := len(a.list("data.connectors")); n != 1 {
		v.Errorf("%d connectors", n)
	}
	if n := len(a.list("data.connectors.0.streams")); n != 1 {
		v.Errorf("%d rows", n)
	}
	s.do("schema", `{"stream":"threads","connection_id":"cin_home"}`).says("\n expand: \"messages\" has_many max=10")
}

// enoughToCall builds all calls that the text of one row describes, and makes them.
func enoughToCall(v *visit) {
	s := v.as(everything)
	a := s.do("schema", `{"stream":"messages","connection_id":"cin_home"}`)
	line := func(label string) string {
		_, rest, ok := strings.Cut(a.text, "\n"+label+": ")
		if !ok {
			v.Fatalf("the line %s is missing:\n%s", label, a.text)
		}
		rest, _, _ = strings.Cut(rest, "\n")
		return rest
	}
	var legend []string
	for entry := range strings.SplitSeq(line("legend"), " | ") {
		flag, _, _ := strings.Cut(entry, "=")
		legend = append(legend, flag)
	}
	const scope = `{"stream":"messages","connection_id":"cin_home",`
	calls := 0
	do := func(tool, args string) {
		calls++
		s.do(tool, scope+args+"}")
	}
	for field := range strings.SplitSeq(line(" fields"), " ") {
		name, flags, _ := strings.Cut(strings.TrimSuffix(field, "]"), "[")
		do("query_records", `"fields":["`+name+`"]`)
		for flag := range strings.SplitSeq(flags, ",") {
			kind, values, _ := strings.Cut(flag, "=")
			if !slices.Contains(legend, kind) {
				v.Errorf("the legend does not explain %q", kind)
			}
			if kind == "eq" {
				do("query_records", `"filter":{"`+name+`":`+sample(flags)+`}`)
			}
			for value := range strings.SplitSeq(values, "|") {
				switch {
				case kind == "r":
					do("query_records", `"filter":{"`+name+`":{"`+value+`":`+sample(flags)+`}}`)
				case kind == "a" && value == "group_by_time":
					do("aggregate", `"metric":"count","group_by_time":"`+name+`","granularity":"month"`)
				case kind == "a" && value == "group_by":
					do("aggregate", `"metric":"count","group_by":"`+name+`"`)
				case kind == "a":
					do("aggregate", `"metric":"`+value+`","field":"`+name+`"`)
				}
			}
		}
	}
	_, sort, _ := strings.Cut(line(" sort"), `default `)
	sort, _, _ = strings.Cut(sort, ";")
	do("query_records", `"sort":`+sort)
	if calls < 35 {
		v.Errorf("only %d calls could be built", calls)
	}
}

// sample returns a value of the type that flags name, in JSON.
func sample(flags string) string {
	switch {
	case strings.Contains(flags, "date-time"):
		return `"2026-01-03T00:00:00Z"`
	case strings.Contains(flags, "t=integer"):
		return "5"
	}
	return `"x"`
}

func fullNeedsStream(v *visit) {
	s := v.as(everything)
	for _, args := range []string{`{"detail":"full"}`, `{"detail":"full","connection_id":"cin_home"}`} {
		a := s.refusedEarly("schema", args, "invalid_request")
		a.says(`schema(stream, connection_id, detail:\"full\")`)
		a.wants(map[string]any{"error.param": "detail"})
	}
}

func fullOfOne(v *visit) {
	s := v.as(everything)
	a := s.refused("schema", `{"stream":"messages","detail":"full"}`, "ambiguous_schema_detail")
	a.wants(map[string]any{
		"error.retry_with": "connection_id", "data": nil,
		"error.available_connections.0.connection_id": "cin_home", "error.available_connections.1.connection_id": "cin_work",
		"error.available_connections.0.connector_key": "post", "error.available_connections.2": nil,
	})
	if retry, choice := strings.Index(a.text, `retry_with "connection_id"`), strings.Index(a.text, `connection "cin_home"`); retry < 0 || choice < retry {
		v.Errorf("retry_with does not come before the choices: %s", a.text)
	}
	a.hides("properties", "x_pdpp_role")

	a = s.do("schema", `{"stream":"messages","connection_id":"cin_work","detail":"full"}`)
	a.wants(map[string]any{
		"data.object": "schema", "data.data": nil, "data.connectors.1": nil, "data.connectors.0.streams.1": nil,
		"data.connectors.0.streams.0.name": "messages", "data.connectors.0.streams.0.connection_id": "cin_work",
		"data.streams": nil, // they are under connectors
	})
	a.hides("cin_home", `"topic"`)
	if n := len(a.sc.Body); n > limits.FullStructuredMax {
		v.Errorf("%d bytes", n)
	}
}

// Numbers of aggregate.

func oneNumber(v *visit) {
	s := v.as(everything)
	for args, want := range map[string]string{
		`{"stream":"messages","metric":"count"}`:                                           "count(messages) = 6",
		`{"stream":"messages","metric":"count","connection_id":"cin_work"}`:                "count(messages) = 1",
		`{"stream":"messages","metric":"sum","field":"pages"}`:                             "sum(messages.pages) = 89 over 6 records",
		`{"stream":"messages","metric":"max","field":"pages","filter":{"folder":"bills"}}`: "max(messages.pages) = 9 over 1 records",
	} {
		a := s.do("aggregate", args)
		if a.text != want {
			v.Errorf("%s: %q, want %q", args, a.text, want)
		}
		a.isBody("data", s.again(a))
		a.wants(map[string]any{"data.object": "aggregation"})
	}
}

func groups(v *visit) {
	s := v.as(everything)
	a := s.do("aggregate", `{"stream":"messages","metric":"count","group_by":"folder"}`)
	a.says(`count(messages) by folder: "inbox"=4 `, `"bills"=1`, `"sent"=1`, "groups=3 shown=3")
	a.isBody("data", s.again(a))
	a = s.do("aggregate", `{"stream":"messages","metric":"sum","field":"pages","group_by":"folder"}`)
	a.says("sum(messages.pages) by folder: ", `(count:4)`, `(count:1)`)

	v = v.other()
	var lines []string
	for i := range 100 {
		lines = append(lines, message(fmt.Sprintf("g%d", i), fmt.Sprintf(`"user_id":"%s %d"`, strings.Repeat("long name ", 9), i), 1+i%28))
	}
	v.Ingest("cin_work", "messages", lines...)
	s = v.as(everything)
	a = s.do("aggregate", `{"stream":"messages","metric":"count","group_by":"user_id","limit":100}`)
	if n := len(a.list("data.groups")); n != 100 {
		v.Errorf("%d groups in structured output, want 100", n)
	}
	shown := 0
	if _, rest, ok := strings.Cut(a.text, " shown="); ok {
		fmt.Sscan(rest, &shown)
	}
	if shown < 20 || len(a.text) > limits.AggTextMax || strings.Count(a.text, "=1 ")+strings.Count(a.text, "=3 ") < 20 {
		v.Errorf("%d groups shown in %d bytes: %.300s", shown, len(a.text), a.text)
	}
}

func otherCount(v *visit) {
	s := v.as(everything)
	a := s.do("aggregate", `{"stream":"messages","metric":"count","group_by":"user_id","limit":2}`)
	a.wants(map[string]any{"data.other_count": 2})
	first, _, _ := strings.Cut(a.text, "\n")
	if !strings.Contains(first, `"U123"=3`) || !strings.Contains(first, "other_count=2") {
		v.Errorf("other_count is not beside the groups: %s", a.text)
	}
	s.do("aggregate", `{"stream":"messages","metric":"count","group_by":"user_id"}`).says("groups=4 shown=4 other_count=0")
}
