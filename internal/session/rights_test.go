package session

import (
	"strings"
	"time"
)

// What a grant allows, and the errors of refused reads.

// relayed checks that a call sends one request, and that its error is the one that the
// resource server returns.
func (s *session) relayed(tool, args, code string) answer {
	s.Helper()
	a := s.refused(tool, args, code)
	if len(a.requests) != 1 {
		s.Fatalf("%s sent %q, want one request", a.call, a.requests)
	}
	want := s.again(a)
	a.wants(map[string]any{
		"http_status": want.Status, "error.code": want.At("error.code"), "error.message": want.At("error.message"), "error.type": want.At("error.type"),
		"error.needs_broader_grant": want.At("error.needs_broader_grant"),
	})
	message, _ := want.At("error.message").(string)
	a.says(strings.Trim(quoted(message), `"`))
	return a
}

func errorsKept(v *visit) {
	v = v.other()
	s := v.as(noBCC)
	s.relayed("query_records", `{"stream":"notes"}`, "grant_stream_not_allowed").says("needs_broader_grant=true")
	for tool, args := range map[string]string{
		"query_records": `{"stream":"messages","fields":["bcc"]}`, "fetch": `{"id":"cin_home/messages:m2","fields":["bcc"]}`,
		"read_record_field": `{"id":"cin_home/messages:m2","field_path":"bcc"}`, "aggregate": `{"stream":"messages","metric":"count","filter":{"bcc":"x"}}`,
	} {
		a := s.relayed(tool, args, "field_not_granted")
		a.says("needs_broader_grant=true", "do not retry")
		a.wants(map[string]any{"error.needs_broader_grant": true, "http_status": 403})
	}
	s.relayed("query_records", `{"stream":"messages","sort":"pages"}`, "invalid_sort").wants(map[string]any{"http_status": 400})
	s.relayed("query_records", `{"stream":"messages","filter":{"subject":{"gte":"a"}}}`, "invalid_request")
	s.relayed("query_records", `{"stream":"messages","cursor":"pc1.nothing"}`, "invalid_cursor").wants(map[string]any{"http_status": 400})
	cursor := s.do("query_records", `{"stream":"messages","limit":1}`).handle("next", "cursor")
	found := s.do("search", `{"q":"rent","limit":1}`).handle("next", "cursor")
	v.Advance(25 * time.Hour)
	s.relayed("query_records", `{"stream":"messages","limit":1,"cursor":`+quoted(cursor)+`}`, "cursor_expired").wants(map[string]any{"http_status": 410})
	s.relayed("search", `{"q":"rent","limit":1,"cursor":`+quoted(found)+`}`, "cursor_expired").wants(map[string]any{"http_status": 410})
}

// tokenEnded revokes the token of a session. Over HTTP the endpoint itself refuses such
// a token, before any tool runs (CHAL-1).
func tokenEnded(v *visit) {
	v = v.other()
	token, id := v.Grant(everything)
	s := v.with(token)
	s.do("query_records", `{"stream":"messages"}`)
	v.Revoke(id)
	code := v.Get(token, "/v1/schema").Code()
	if code == "" {
		v.Fatal("the grant was not revoked")
	}
	for tool, args := range map[string]string{
		"schema": `{}`, "query_records": `{"stream":"messages"}`, "aggregate": `{"stream":"messages","metric":"count"}`, "search": `{"q":"rent"}`,
		"fetch": `{"id":"cin_home/messages:m1"}`, "read_record_field": `{"id":"cin_home/messages:m1","field_path":"body"}`,
	} {
		s.relayed(tool, args, code).hides("Rent", "Keys", "cin_home/messages:m3")
	}
	other := v.with("pdpp_at_unknown")
	other.relayed("query_records", `{"stream":"messages"}`, "invalid_token").wants(map[string]any{"http_status": 401})
}

// narrow grants one connection, few fields, and a time range that excludes m4 and older
// letters.
const narrow = `{"source":{"connector_key":"post"},"streams":[{"name":"messages","fields":["id","subject","sent_at"],` +
	`"connections":["cin_home"],"time_range":{"since":"2026-01-05T12:00:00Z"}}]}`

func neverBroader(v *visit) {
	s := v.as(narrow)
	secrets := []string{"cin_work", "Work post", "Office", "Rent is due", "zeppelin", "U123", "thread_id", "folder", `"m4"`}
	for _, c := range []struct{ tool, args, want string }{
		{"schema", `{}`, `stream "messages"`},
		{"schema", `{"stream":"messages"}`, "fields: id["},
		{"schema", `{"stream":"messages","detail":"full"}`, `stream="messages"`},
		{"query_records", `{"stream":"messages","count":"exact"}`, "count=exact:1"},
		{"query_records", `{"stream":"messages","changes_since":"beginning"}`, "returned=1"},
		{"aggregate", `{"stream":"messages","metric":"count"}`, "count(messages) = 1"},
		{"search", `{"q":"inventory"}`, "count=exact:1"},
		{"search", `{"q":"rent"}`, "hits=0"},
		{"search", `{"q":"lighthouse"}`, "hits=0"}, // in a field outside the grant
		{"fetch", `{"id":"cin_home/messages:long"}`, `"title":"The inventory"`},
		{"fetch", `{"id":"messages:long"}`, `"title":"The inventory"`},
	} {
		a := s.do(c.tool, c.args)
		a.says(c.want)
		a.hides(secrets...)
		a.hides("Line 0")
		if len(a.requests) != 1 {
			v.Errorf("%s sent %q", a.call, a.requests)
		}
	}
	for _, c := range []struct{ tool, args, code string }{
		{"query_records", `{"stream":"messages","connection_id":"cin_work"}`, "connection_not_found"},
		{"query_records", `{"stream":"threads"}`, "grant_stream_not_allowed"},
		{"query_records", `{"stream":"messages","filter":{"folder":"inbox"}}`, "field_not_granted"},
		{"aggregate", `{"stream":"messages","metric":"sum","field":"pages"}`, "field_not_granted"},
		{"search", `{"q":"rent","connection_id":"cin_work"}`, "connection_not_found"},
		{"fetch", `{"id":"cin_home/messages:m4"}`, "not_found"},
		{"fetch", `{"id":"cin_work/messages:m1"}`, "connection_not_found"},
		{"read_record_field", `{"id":"cin_home/messages:long","field_path":"body"}`, "field_not_granted"},
	} {
		s.relayed(c.tool, c.args, c.code).hides("Office", "Rent is due", "Enclosed", "Line 0", "Work post")
	}
}

// cleanOutput makes calls that fail in several ways. The transport checks every line of
// the output when the session ends.
func cleanOutput(v *visit) {
	s := v.as(everything)
	before := len(v.log.String())
	s.do("query_records", `{"stream":"messages"}`)
	s.refused("query_records", `{"stream":"nothing"}`, "grant_stream_not_allowed")
	s.refusedEarly("query_records", `{"stream":"messages","filter":"x"}`, "invalid_filter")
	v.requests.fault = func() { panic("out of cheese") }
	s.refused("query_records", `{"stream":"messages"}`, "internal_error").hides("cheese", "goroutine")
	s.do("query_records", `{"stream":"messages"}`)
	log := v.log.String()[before:]
	for _, want := range []string{`"tool":"query_records"`, "a tool failed", "goroutine"} {
		if !strings.Contains(log, want) {
			v.Errorf("%q is not in the log: %.600s", want, log)
		}
	}
	for _, secret := range []string{s.token, "Rent is due"} {
		if strings.Contains(log, secret) {
			v.Errorf("%q is in the log", secret)
		}
	}
}
