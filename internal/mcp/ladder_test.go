package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pdpp/internal/mcp/limits"
)

// TestLadder: a ladder has the calls that read on, text first, and is bounded (MS-190 …).
func TestLadder(t *testing.T) {
	s := newScript(t, entriesPath, `{"data":[`+
		`{"id":"e1","stream":"entries","connection_id":"c/1","data":{"file":{"blob_id":"b 1","mime_type":"image/png"},"pages":[{"blob_id":"b2"}],"tree":"[\"0","whole":`+jsonText(letter(300))+`,"raw":{"mime_type":"text/plain","size":2},"cut":"ab","scan":""},`+
		`"truncated_fields":{"cut":{"total_chars":9000,"shown_chars":2},"tree":{"total_chars":800,"shown_chars":3,"as":"json"},"scan":{"total_chars":900,"shown_chars":0,"binary":{"kind":"base64_text","size_bytes":600}}}},`+
		`{"id":"e2","stream":"entries","connection_id":"c/1","data":{"short":"nothing to read on"}}]}`)
	res := mustDo(t, s.Surface, "query_records", `{"stream":"entries"}`)
	type rung struct{ field, kind, tool, args, url string }
	var got []rung
	fields, _ := find(t, res.Structured, "content_ladder.records.0.fields").([]any)
	for i := range fields {
		at := fmt.Sprintf("content_ladder.records.0.fields.%d.", i)
		text := func(path string) string {
			v, _ := find(t, res.Structured, at+path).(string)
			return strings.ReplaceAll(v, s.URL, "P")
		}
		args := ""
		if v, ok := find(t, res.Structured, at+"read.args").(map[string]any); ok {
			args = fmt.Sprint(v)
		} else if v := find(t, res.Structured, at+"offset_chars"); v != nil {
			args = fmt.Sprint("offset_chars:", v)
		}
		got = append(got, rung{text("field_path"), text("kind"), text("read.tool"), args, text("export.url")})
	}
	window := func(field string, offset int) string {
		return fmt.Sprintf("map[connection_id:c/1 field_path:%s limit_chars:4096 offset_chars:%d record_id:e1 stream:entries]", field, offset)
	}
	want := []rung{
		{"cut", "text", "", "offset_chars:2", ""},
		{"pages.0", "binary", "read_record_field", "map[connection_id:c/1 field_path:pages.0 offset_chars:0 record_id:e1 stream:entries]", "P/v1/blobs/b2?connection_id=c%2F1"},
		{"tree", "json", "fetch", "map[connection_id:c/1 fields:[tree] id:entries:e1]", ""},
		{"file", "binary", "", "", "P/v1/blobs/b%201?connection_id=c%2F1"},
		{"raw", "binary", "read_record_field", window("raw", 0), ""},
		{"scan", "binary", "read_record_field", window("scan", 0), ""},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(rung{})); diff != "" {
		t.Errorf("MS-192 (-want +got):\n%s", diff)
	}
	for path, want := range map[string]string{"read_tool": "read_record_field", "records.0.id": "entries:e1", "records.0.connection_id": "c/1"} {
		if got := find(t, res.Structured, "content_ladder."+path); got != want {
			t.Errorf("MS-191 %s = %v, want %s", path, got, want)
		}
	}
	if got := find(t, res.Structured, "content_ladder.records.1"); got != nil {
		t.Errorf("MS-190 a record with nothing to read on: %v", got)
	}
}

// TestLadderOfChildren: expanded records that are cut have rungs like those of the page, after
// them.
func TestLadderOfChildren(t *testing.T) {
	t.Run("CONT-1 cut fields of expanded records have a rung", func(t *testing.T) {
		s := newScript(t, "/v1/schema", `{"connectors":[{"connector_key":"ledgerly","streams":[{"name":"entries","expand_capabilities":[{"name":"receipts"}]}]}]}`,
			entriesPath, `{"data":[{"id":"e1","stream":"entries","connection_id":"c1","data":{"a":1},"expanded":{"receipts":{"data":[`+
				`{"id":"r0","stream":"receipts","data":{"note":"whole"}},`+
				`{"id":"r1","stream":"receipts","data":{"note":"ab"},"truncated_fields":{"note":{"total_chars":9000,"shown_chars":2}}}]}}},`+
				`{"id":"e2","stream":"entries","connection_id":"c1","data":{"memo":"ab"},"truncated_fields":{"memo":{"total_chars":9000,"shown_chars":2}}}]}`)
		res := mustDo(t, s.Surface, "query_records", `{"stream":"entries","expand":["receipts"]}`)
		for path, want := range map[string]any{
			"records.0.id": "c1/entries:e2", "records.1.id": "c1/receipts:r1", "records.1.fields.0.field_path": "note", "records.2": nil,
		} {
			if got := find(t, res.Structured, "content_ladder."+path); got != want {
				t.Errorf("%s = %v, want %v", path, got, want)
			}
		}
	})
}

// TestLadderOfDocumentChildren: expanded records that a document shows in part have rungs below
// those of the record.
func TestLadderOfDocumentChildren(t *testing.T) {
	t.Run("CONT-1 MS-190 cut fields of expanded records have a rung", func(t *testing.T) {
		d := filledDrawer(t)
		res := mustDo(t, d.Surface, "fetch", `{"id":"cin_c1/items:parent","expand":["notes"]}`)
		checkDocument(t, res)
		for path, want := range map[string]any{
			"id": "cin_c1/items:parent", "records.0.id": "cin_c1/notes:n2", "records.0.fields.0.field_path": "text",
			"records.0.fields.0.kind": "text", "records.1": nil, "records_omitted": nil,
		} {
			if got := find(t, res.Structured, "metadata.content_ladder."+path); got != want {
				t.Errorf("%s = %v, want %v", path, got, want)
			}
		}
		offset := find(t, res.Structured, "metadata.content_ladder.records.0.fields.0.offset_chars").(json.Number)
		shown, err := offset.Int64()
		if err != nil {
			t.Fatal(err)
		}
		rest := mustDo(t, d.Surface, "read_record_field", `{"id":"cin_c1/notes:n2","field_path":"text","offset_chars":`+offset.String()+`}`)
		if got := find(t, rest.Structured, "window.text"); shown == 0 || got != string([]rune(letter(900))[shown:]) {
			t.Errorf("from %d: %q", shown, got)
		}
	})
	t.Run("CONT-1 MS-190 expanded records beyond the bounds are counted", func(t *testing.T) {
		var children []string
		for i := range 40 {
			children = append(children, fmt.Sprintf(`{"id":"child_%d","stream":"receipts","data":{"note":%s}}`, i, jsonText(letter(400))))
		}
		s := newScript(t, "/v1/schema", `{"connectors":[{"connector_key":"ledgerly","streams":[{"name":"entries","expand_capabilities":[{"name":"receipts"}]}]}]}`,
			entriesPath+"/e1", `{"id":"e1","stream":"entries","connection_id":"c1","data":{"a":1},"expanded":{"receipts":{"data":[`+strings.Join(children, ",")+`]}}}`)
		res := mustDo(t, s.Surface, "fetch", `{"id":"c1/entries:e1","expand":["receipts"]}`)
		checkDocument(t, res)
		records := find(t, res.Structured, "metadata.content_ladder.records").([]any)
		if omitted := find(t, res.Structured, "metadata.content_ladder.records_omitted"); len(records) != limits.LadderRecords || omitted != json.Number("15") {
			t.Errorf("%d records, %v omitted", len(records), omitted)
		}
	})
}

func TestLadderBounds(t *testing.T) {
	s := newScript(t)
	s.says(entriesPath, manyEntries(40, 300), false)
	res := mustDo(t, s.Surface, "query_records", `{"stream":"entries","limit":40}`)
	records, _ := find(t, res.Structured, "content_ladder.records").([]any)
	omitted := fmt.Sprint(find(t, res.Structured, "content_ladder.records_omitted"))
	if len(records) == 0 || len(records) > limits.LadderRecords || omitted != fmt.Sprint(40-len(records)) {
		t.Errorf("MS-190 %d records, %s omitted", len(records), omitted)
	}
	if got := find(t, res.Structured, "ids.39"); got != "cin_a1/entries:ent_39" {
		t.Errorf("D16 the last id is %v", got)
	}
}
