package pkgreader_test

import (
	"strings"
	"testing"

	"pdpp/internal/pkgreader"
)

// Every error that a package makes says what happened, where and what to do next, in the
// text and in the structure.
func TestErrorClassesOfPackages(t *testing.T) {
	ended := func(p *pkgreader.Package) { p.Members[0].Unusable = "grant_revoked" }
	allEnded := func(p *pkgreader.Package) {
		p.Members[0].Unusable, p.Members[1].Unusable = "grant_expired", "grant_expired"
	}
	for _, c := range []struct {
		code, tool, args string
		change           func(*pkgreader.Package)
		where, next      string // in the text
		at, step         string // in the structure: a path, and what is there
	}{
		{"ambiguous_connection", "query_records", `{"stream":"messages"}`, nil, `connection "cin_2"`, `next: query_records {"stream":"messages","connection_id":"cin_1"}`, "error.retry_with", "connection_id"},
		{"ambiguous_schema_detail", "schema", `{"stream":"messages","detail":"full"}`, nil, `connection "cin_2"`, `"connection_id":"cin_1"`, "error.retry_with", "connection_id"},
		{"connection_not_found", "query_records", `{"stream":"messages","connection_id":"cin_9"}`, nil, `param="connection_id"`, "next: schema {}", "error.next.tool", "schema"},
		{"grant_stream_not_allowed", "query_records", `{"stream":"nowhere"}`, nil, "nowhere", "next: schema {}", "error.next.tool", "schema"},
		{"invalid_cursor", "search", `{"q":"x","cursor":"c"}`, nil, `param="cursor"`, `next: search {"q":"x"}`, "error.next.tool", "search"},
		{"grant_revoked", "query_records", `{"stream":"messages","connection_id":"cin_1"}`, ended, "this source", "choose another connection", "error.next_step", "choose another connection"},
		{"grant_expired", "search", `{"q":"x"}`, allEnded, `unavailable "cin_1"`, "Ask the owner to approve", "error.next_step", "Ask the owner to approve"},
	} {
		t.Run("ERR-1 "+c.code+" of "+c.tool, func(t *testing.T) {
			p := scripted(t, &calls{}, says(200, list()), says(200, list()))
			if c.change != nil {
				c.change(p)
			}
			res := tool(p, c.tool, c.args)
			text := res.Content[0].Text
			if !res.IsError || at(t, res.Structured, "error.code") != c.code || at(t, res.Structured, "provider_url") != p.URL {
				t.Fatalf("%s\n%s", text, res.Structured)
			}
			for _, want := range []string{"error " + c.code, c.where, c.next} {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
			if got, _ := at(t, res.Structured, c.at).(string); !strings.Contains(got, c.step) {
				t.Errorf("%s is %q in %s", c.at, got, res.Structured)
			}
		})
	}
}
