package mcp

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestRemedies: errors state what happened, where, and what to do next; their calls work.
func TestRemedies(t *testing.T) {
	d := newDrawer(t, wholeCabinet, filed("x", `"title":"T"`))
	for _, c := range []struct {
		name, tool, args, code string
		says                   []string
	}{
		{
			"FILTER-5 a filter value names its field", "query_records", `{"stream":"items","filter":{"title":null}}`, "invalid_filter",
			[]string{`param="filter.title"`, `"title\" must be`, `next: schema {"stream":"items"}`},
		},
		{
			"FILTER-5 a bracketed key is named", "query_records", `{"stream":"items","filter":{"filter[title]":"x"}}`, "invalid_filter",
			[]string{`filter[title]`, `next: schema {"stream":"items"}`},
		},
		{
			"EXPLIM-3 a bracketed relation is named", "query_records", `{"stream":"items","expand_limit":{"expand_limit[parts]":3}}`, "invalid_expand",
			[]string{`param="expand_limit"`, `expand_limit[parts]`, `{\"messages\":3}`},
		},
		{
			"FILTER-6 a search with a filter and no stream", "search", `{"q":"T","filter":{"title":"T"}}`, "invalid_request",
			[]string{`next: schema {}`},
		},
		{
			"ERR-1 a filter value that the server refuses", "query_records", `{"stream":"items","filter":{"nothing":"T"}}`, "unknown_field",
			[]string{`nothing`, `next: schema {"stream":"items"}`},
		},
		{
			"ERR-1 MS-172 a window of a record that is missing", "read_record_field", `{"id":"cin_c1/items:none","field_path":"body"}`, "not_found",
			[]string{`next: query_records {"stream":"items","connection_id":"cin_c1","limit":10}`},
		},
		{
			"TOOLS-3 two values for one argument", "search", `{"q":"a","query":"b"}`, "invalid_argument",
			[]string{`param="query"`, `Send one of them`},
		},
		{"TOOLS-3 neither q nor query", "search", `{}`, "invalid_argument", []string{`param="q"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := text(mustFail(t, d.Surface, c.tool, c.args, c.code))
			for _, want := range c.says {
				if !strings.Contains(got, want) {
					t.Errorf("no %s in\n%s", want, got)
				}
			}
			for line := range strings.SplitSeq(got, "\n") {
				if call, ok := strings.CutPrefix(line, "next: "); ok {
					tool, args, _ := strings.Cut(call, " ")
					mustDo(t, d.Surface, tool, args)
				}
			}
		})
	}
}

// TestQueryForQ: query is an alias of q.
func TestQueryForQ(t *testing.T) {
	t.Run("GPT-1 query is q", func(t *testing.T) {
		s := newScript(t, searchPath, twoHits())
		for _, args := range []string{`{"query":"rent"}`, `{"q":"rent","query":"rent"}`, `{"q":"rent"}`} {
			s.sent.take()
			mustDo(t, s.Surface, "search", args)
			if sent := s.sent.take(); len(sent) != 1 || !strings.HasPrefix(sent[0], "/v1/search?q=rent ") {
				t.Errorf("%s sent %q", args, sent)
			}
		}
		var schema struct{ Required []string }
		if err := json.Unmarshal(searchTool.args.schema(), &schema); err != nil || len(schema.Required) != 0 {
			t.Errorf("required %q, %v: one of the two names is enough", schema.Required, err)
		}
	})
}
