package mcp

import (
	"strings"
	"testing"
)

// TestErrorsLeadOn: an error offers a call that its tool accepts, by the names of its
// arguments.
func TestErrorsLeadOn(t *testing.T) {
	const (
		recordPath = "/v1/streams/items/records/x"
		choices    = `"available_connections":[{"connection_id":"cin_a1","connector_key":"bank","display_name":"Joint","grant_id":"grt_1"},{"connection_id":"c/2","grant_id":"grt_2"}]}}`
		ambiguous  = `409 {"error":{"code":"ambiguous_connection","message":"Which?",` + choices
	)
	failed := func(code, param string) string {
		return `400 {"error":{"type":"e","code":"` + code + `","message":"No.","param":"` + param + `"}}`
	}
	for _, c := range []struct {
		name, path, answer, tool, args string
		want                           []string
		not                            string
	}{
		{
			"ERR-1 each connection of an ambiguous fetch is a call", recordPath, ambiguous, "fetch", `{"id":"items:x","fields":["a"]}`,
			[]string{"\nnext: fetch {\"id\":\"cin_a1/items:x\",\"fields\":[\"a\"]}\n", "\nnext: fetch {\"id\":\"items:x\",\"fields\":[\"a\"],\"connection_id\":\"c/2\"}\n"},
			"grt_",
		},
		{
			"ERR-1 each connection of an ambiguous window is a call", recordPath + "/field-window", ambiguous, "read_record_field", `{"id":"items:x","field_path":"body"}`,
			[]string{"\nnext: read_record_field {\"id\":\"cin_a1/items:x\",\"field_path\":\"body\"}\n", "\nnext: read_record_field {\"id\":\"items:x\",\"field_path\":\"body\",\"connection_id\":\"c/2\"}\n"},
			"grt_",
		},
		{
			"ERR-1 each connection of an ambiguous list is a call", entriesPath, ambiguous, "query_records", `{"stream":"entries","limit":2}`,
			[]string{"\nconnection \"cin_a1\" connector_key=\"bank\" display_name=\"Joint\"\nnext: query_records {\"stream\":\"entries\",\"limit\":2,\"connection_id\":\"cin_a1\"}\n"},
			"grt_",
		},
		{
			"ERR-1 each connection of an ambiguous description is a call", "/v1/schema", strings.Replace(ambiguous, "ambiguous_connection", "ambiguous_schema_detail", 1), "schema", `{"stream":"entries","detail":"full"}`,
			[]string{"\nnext: schema {\"stream\":\"entries\",\"detail\":\"full\",\"connection_id\":\"cin_a1\"}\n"},
			"grt_",
		},
		{
			"ERR-1 a mode that a server lacks", "/v1/search", "", "search", `{"q":"rent","mode":"semantic"}`,
			[]string{"\nhint \"This server has no semantic search.\"\n", "\nnext: search {\"q\":\"rent\"}\n"},
			"",
		},
		{
			"ERR-1 a window's field is named as its argument", recordPath + "/field-window", failed("field_not_granted", "field"), "read_record_field", `{"id":"items:x","field_path":"body"}`,
			[]string{"\nparam=\"field_path\"\n"},
			`param="field"`,
		},
		{
			"ERR-1 a wrong place is named as the cursor that gave it", recordPath + "/field-window", failed("invalid_request", "offset_chars"), "read_record_field", `{"id":"items:x","field_path":"body","cursor":"7"}`,
			[]string{"\nparam=\"cursor\"\n"},
			"next: schema",
		},
		{
			"ERR-1 a field of a search in one stream leads to its schema", searchPath, failed("unknown_field", "filter"), "search", `{"q":"rent","streams":["entries"],"filter":{"nix":1}}`,
			[]string{"\nnext: schema {\"stream\":\"entries\"}\n"},
			"",
		},
		{
			"ERR-1 a server that takes no filter is read without one", entriesPath, failed("invalid_request", "filter"), "query_records", `{"stream":"entries","filter":{"memo":"x"},"limit":5}`,
			[]string{"\nhint \"This server does not support filters with this token.", "\nnext: query_records {\"stream\":\"entries\",\"limit\":5}\n"},
			"next: schema",
		},
		{
			"ERR-1 a count is not made over other records than asked", "/v1/streams/entries/aggregate", failed("invalid_request", "filter"), "aggregate", `{"stream":"entries","metric":"count","filter":{"memo":"x"}}`,
			[]string{"\nnext: query_records {\"stream\":\"entries\"}\n"},
			"next: aggregate",
		},
		{
			"ERR-1 a wrong value of a filter leads to the schema", entriesPath, `400 {"error":{"code":"invalid_request","message":"Not a date.","param":"filter","field":"memo"}}`, "query_records", `{"stream":"entries","filter":{"memo":"x"}}`,
			[]string{"\nnext: schema {\"stream\":\"entries\"}\n"},
			"does not filter",
		},
		{
			"ERR-1 MS-172 no fetch of a record that is missing", recordPath + "/field-window", `404 {"error":{"code":"not_found","message":"There is no such record."}}`, "read_record_field", `{"id":"cin_a1/items:x","field_path":"body"}`,
			[]string{"\nnext: query_records {\"stream\":\"items\",\"connection_id\":\"cin_a1\",\"limit\":10}\n"},
			"next: fetch",
		},
		{
			"ERR-1 a file that is missing leads to its record", recordPath + "/field-window", `404 {"error":{"code":"blob_not_found","message":"There is no such blob here."}}`, "read_record_field", `{"id":"items:x","field_path":"pages.1"}`,
			[]string{"\nnext: fetch {\"id\":\"items:x\"}\n"},
			"",
		},
		{
			"ERR-1 no schema says what a time zone is", "/v1/streams/entries/aggregate", failed("invalid_request", "time_zone"), "aggregate", `{"stream":"entries","metric":"count","time_zone":"Mars"}`,
			[]string{"\nparam=\"time_zone\"\n"},
			"next:",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript(t)
			if c.answer != "" {
				s.says(c.path, c.answer, true)
			}
			res := do(t, s.Surface, c.tool, c.args)
			if !res.IsError {
				t.Fatalf("%s", text(res))
			}
			conforms(t, c.tool, res.Structured)
			runnable(t, text(res))
			for _, want := range c.want {
				if !strings.Contains(text(res)+"\n", want) {
					t.Errorf("no %q in\n%s", want, text(res))
				}
			}
			if c.not != "" && strings.Contains(text(res), c.not) {
				t.Errorf("%q in\n%s", c.not, text(res))
			}
		})
	}
	t.Run("ERR-1 structured output says the same", func(t *testing.T) {
		s := newScript(t, recordPath+"/field-window", failed("field_not_granted", "field"))
		res := mustFail(t, s.Surface, "read_record_field", `{"id":"items:x","field_path":"body"}`, "field_not_granted")
		if got := find(t, res.Structured, "error.param"); got != "field_path" {
			t.Errorf("param %v", got)
		}
		res = mustFail(t, s.Surface, "search", `{"q":"x","mode":"hybrid"}`, "not_found")
		if got := find(t, res.Structured, "error.hint"); got != "This server has no hybrid search." {
			t.Errorf("hint %v", got)
		}
	})
	t.Run("MS-56 a stream that is a dot is refused before any call", func(t *testing.T) {
		s := newScript(t)
		for tool, args := range map[string]string{"query_records": `{"stream":"."}`, "schema": `{"stream":"."}`, "search": `{"q":"x","streams":["."]}`} {
			mustFail(t, s.Surface, tool, args, "invalid_name")
		}
		if sent := s.sent.take(); sent != nil {
			t.Errorf("sent %q", sent)
		}
	})
}

// TestWindowBesideConnection: a legacy id is read on the connection that is passed beside it.
func TestWindowBesideConnection(t *testing.T) {
	t.Run("MS-171 a handle without connection takes one beside it", func(t *testing.T) {
		d := newDrawer(t, wholeCabinet, filed("x", `"body":"Left"`))
		d.Ingest("cin_c2", "items", filed("x", `"body":"Right"`))
		res := mustDo(t, d.Surface, "read_record_field", `{"id":"items:x","connection_id":"cin_c2","field_path":"body"}`)
		if got := shownWindow(t, res); got != "Right" || find(t, res.Structured, "record.id") != "cin_c2/items:x" {
			t.Errorf("%s", res.Structured)
		}
	})
}
