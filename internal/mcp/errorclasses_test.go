package mcp

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// errorClass is a way in which a tool call fails, made for real: by the arguments, or by a
// server that answers so.
type errorClass struct {
	code, tool, args string
	status           int    // of the server; 0: the call is not sent
	where            string // what the text names: an argument, a field or an address
	next             string // what the text says to do
}

const (
	askEntries = `{"stream":"entries"}`
	askWindow  = `{"id":"cin_a1/entries:ent_31","field_path":"note","q":"rent"}`
	askRecord  = `{"id":"cin_a1/entries:ent_31"}`
)

// relayedClasses are the codes of C-42 that a read can be answered with.
var relayedClasses = []errorClass{
	{"invalid_request", "query_records", askEntries, 400, `param="p"`, "next: schema"},
	{"invalid_argument", "query_records", askEntries, 400, `param="p"`, ""},
	{"unsupported_version", "query_records", askEntries, 400, "", ""},
	{"invalid_cursor", "query_records", `{"stream":"entries","cursor":"c"}`, 400, `param="p"`, "next: query_records"},
	{"invalid_sort", "query_records", askEntries, 400, `param="p"`, "next: schema"},
	{"invalid_expand", "query_records", askEntries, 400, `param="p"`, "next: schema"},
	{"unknown_field", "query_records", askEntries, 400, `param="p"`, "next: schema"},
	{"authentication_error", "query_records", askEntries, 401, "", "the owner must connect again"},
	{"invalid_token", "query_records", askEntries, 401, "", "the owner must connect again"},
	{"grant_stream_not_allowed", "query_records", askEntries, 403, "", "next: schema {}"},
	{"field_not_granted", "query_records", askEntries, 403, `param="p"`, "next: schema"},
	{"grant_revoked", "query_records", askEntries, 403, "", "the owner must connect again"},
	{"grant_expired", "query_records", askEntries, 403, "", "the owner must connect again"},
	{"grant_invalid", "query_records", askEntries, 403, "", "the owner must connect again"},
	{"not_found", "fetch", askRecord, 404, "", "next: query_records"},
	{"connection_not_found", "query_records", askEntries, 404, `param="p"`, "next: schema {}"},
	{"stream_not_declared", "query_records", askEntries, 404, "", "next: schema {}"},
	{"field_not_found", "read_record_field", askWindow, 404, "", "next: fetch"},
	{"query_not_found", "read_record_field", askWindow, 404, "", "next: read_record_field"},
	{"cursor_expired", "query_records", `{"stream":"entries","cursor":"c"}`, 410, `param="p"`, "next: query_records"},
	{"field_not_text", "read_record_field", askWindow, 422, "", "next: fetch"},
	{"ambiguous_connection", "query_records", askEntries, 409, "connection \"cin_a1\"", "next: query_records"},
	{"ambiguous_schema_detail", "schema", `{"stream":"entries","detail":"full"}`, 409, "connection \"cin_a1\"", "next: schema"},
	{"rate_limit_exceeded", "query_records", askEntries, 429, "", "retry_after_s=7"},
	{"timeout", "query_records", askEntries, 503, "", "retry_after_s=7"},
	{"temporarily_unavailable", "query_records", askEntries, 503, "", "retry_after_s=7"},
	{"overloaded", "query_records", askEntries, 503, "", "retry_after_s=7"},
	{"search_unavailable", "search", `{"q":"rent"}`, 503, "", "retry_after_s=7"},
}

// ownClasses are the codes of MS-45 that arguments alone bring about.
var ownClasses = []errorClass{
	{"invalid_argument", "query_records", `{"stream":"entries","limit":1e400}`, 0, `param="limit"`, "from 1 to 100"},
	{"invalid_argument", "query_records", `{"stream":"entries","where":"x"}`, 0, `param="where"`, "stream"},
	{"invalid_filter", "query_records", `{"stream":"entries","filter":"a=b"}`, 0, `param="filter"`, "next: schema"},
	{"invalid_expand", "query_records", `{"stream":"entries","expand_limit":{"a":0}}`, 0, `param="expand_limit"`, "The tool schema lists"},
	{"invalid_id", "fetch", `{"id":"x"}`, 0, `param="id"`, "pdpp://record/"},
	{"invalid_name", "query_records", `{"stream":".."}`, 0, `param="stream"`, ""},
	{"conflicting_connection_id", "fetch", `{"id":"cin_a1/entries:ent_31","connection_id":"cin_b2"}`, 0, `param="connection_id"`, "next: fetch"},
	{"invalid_field_window_selector", "read_record_field", `{"id":"cin_a1/entries:ent_31","field_path":"note","cursor":"9","offset_chars":4}`, 0, "param=", ""},
	{"invalid_request", "schema", `{"detail":"full"}`, 0, `param="detail"`, "next: schema {}"},
	{"request_too_long", "search", `{"q":"` + strings.Repeat("x", 17<<10) + `"}`, 0, "q", ""},
}

// refusing is a server that refuses a read with a code, and answers the others.
func refusing(t *testing.T, c errorClass) *script {
	t.Helper()
	s := scripted(t, plausible)
	left := 1
	if c.status == http.StatusServiceUnavailable {
		left = 2 // such a read is repeated once
	}
	s.does(func(target string) (int, string) {
		if left == 0 || c.status == 0 {
			return plausible(target)
		}
		left--
		return c.status, `{"error":{"type":"some_error","code":"` + c.code + `","message":"It did not work: ` + c.code + `.","param":"p","retry_after_s":7,` +
			`"available_connections":[{"connection_id":"cin_a1"},{"connection_id":"cin_b2"}]}}`
	})
	return s
}

// Every class of error says what happened, where and what to do next, in the text and in
// the structure, and every call that it offers runs.
func TestErrorClasses(t *testing.T) {
	for _, c := range append(relayedClasses, ownClasses...) {
		t.Run("ERR-1 "+c.code+" of "+c.tool, func(t *testing.T) {
			s := refusing(t, c)
			res := mustFail(t, s.Surface, c.tool, c.args, c.code)
			conforms(t, c.tool, res.Structured)
			got := text(res)
			for _, want := range []string{"error " + c.code, c.where, c.next} {
				if !strings.Contains(got, want) {
					t.Errorf("no %q in\n%s", want, got)
				}
			}
			if message, _ := find(t, res.Structured, "error.message").(string); len(message) < 10 {
				t.Errorf("the message is %q", message)
			}
			switch {
			case strings.HasPrefix(c.next, "next: ") && !strings.HasPrefix(c.code, "ambiguous_"):
				if find(t, res.Structured, "error.next.tool") == nil {
					t.Errorf("no next in %s", res.Structured)
				}
			case strings.HasPrefix(c.next, "the owner"):
				if step, _ := find(t, res.Structured, "error.next_step").(string); !strings.Contains(step, c.next) {
					t.Errorf("next_step %q", step)
				}
			case strings.HasPrefix(c.next, "retry_after_s"):
				if find(t, res.Structured, "error.retry_after_s") == nil {
					t.Errorf("no time in %s", res.Structured)
				}
			}
			for line := range strings.SplitSeq(got, "\n") {
				if call, ok := strings.CutPrefix(line, "next: "); ok {
					tool, args, _ := strings.Cut(call, " ")
					mustDo(t, s.Surface, tool, args)
				}
			}
		})
	}
}

// Errors on the way to the server name its address, and say what to do.
func TestErrorsOnTheWay(t *testing.T) {
	for code, answer := range map[string]http.HandlerFunc{
		"upstream_invalid":  func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>")) },
		"upstream_redirect": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) },
		"upstream_unreachable": func(http.ResponseWriter, *http.Request) {
			panic(http.ErrAbortHandler) // the connection ends without an answer
		},
	} {
		t.Run("ERR-1 "+code, func(t *testing.T) {
			srv := httptest.NewServer(answer)
			defer srv.Close()
			res := mustFail(t, surface(t, srv.URL, "token", &requests{}), "query_records", askEntries, code)
			if got := text(res); !strings.Contains(got, srv.URL) || !strings.Contains(got, "heck that") {
				t.Errorf("no address, or nothing to do, in\n%s", got)
			}
		})
	}
}
