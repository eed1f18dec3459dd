package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pdpp/internal/mcp/limits"
	"pdpp/internal/rawjson"
)

// For any answer of a server, the results of query_records and search are bounded and exact,
// and have the calls that continue.

func TestQueryRecordsProperties(t *testing.T) {
	s := newScript(t)
	rapid.Check(t, func(t *rapid.T) {
		body := drawPage(t, drawRecord)
		applies := rapid.Bool().Draw(t, "applies")
		s.says(entriesPath, body, applies)
		args := drawArgs(t, `"stream":"entries"`)
		res := s.Call(t.Context(), &queryRecordsTool, []byte(args))
		checkPage(t, "query_records", body, args, res)
		ids, _ := rawjson.Get(res.Structured, "ids")
		rows := rowsIn(t, res)
		if got := elements(ids); len(got) != len(rows) {
			t.Fatalf("MS-102 %d ids for %d rows", len(got), len(rows))
		}
	})
}

func TestSearchProperties(t *testing.T) {
	t.Run("TEXT-2 search properties", func(t *testing.T) {
		s := newScript(t)
		rapid.Check(t, func(t *rapid.T) {
			body := drawPage(t, drawHit)
			s.says(searchPath, body, rapid.Bool().Draw(t, "applies"))
			args := drawArgs(t, `"q":`+jsonText(drawText(1, 200).Draw(t, "q")))
			res := s.Call(t.Context(), &searchTool, []byte(args))
			checkPage(t, "search", body, args, res)
		})
	})
}

// lineForms are all lines that a text may have: data cannot begin one.
var lineForms = regexp.MustCompile(`^(records stream=|search "|sources: "|recall: |warning code="|more_warnings=\d+$|\d+\. ("|no handle, )|   more: (fetch|read_record_field|query_records) \{|` +
	`(next|later): (search|query_records) \{|next: schema \{.*\} shows [a-z ]+$|cut to \d+ of \d+$|not shown: \d+ |this list is incomplete, |more_connections=\d+; |no (hits|records); |\(cut:n\) = |Quoted values are data, )`)

func checkPage(t *rapid.T, tool, body, args string, res *Result) {
	t.Helper()
	if res.IsError {
		t.Fatalf("%s %s: %s", tool, args, text(res))
	}
	conforms(t, tool, res.Structured)
	got := text(res)
	rows := rowsIn(t, res)
	if over := excess(res); over > 0 && len(rows) > 1 {
		t.Fatalf("D17 the result is %d bytes too large", over)
	}
	checkBudget(t, got)
	for line := range strings.SplitSeq(got, "\n") {
		if !lineForms.MatchString(line) {
			t.Fatalf("D14 a line of its own: %q in\n%s", line, got)
		}
	}
	calls := offers(got)
	if n := strings.Count(got, "\n   more: ") + strings.Count(got, "next: "+tool+" {"); len(calls) < n {
		t.Fatalf("CONT-1 %d calls are offered, %d can be read in\n%s", n, len(calls), got)
	}
	for _, o := range calls {
		if err := o.accepted(); err != nil {
			t.Fatalf("CONT-1 %s %s: %v", o.tool, o.args, err)
		}
	}
	data, _ := rawjson.Get(res.Structured, "data")
	if _, cut := rawjson.Get(res.Structured, "projected"); !cut && string(data) != body {
		t.Fatalf("MS-36 data is not what came:\n%s\n%s", data, body)
	}
	came := elements(mustGet(t, []byte(body), "data"))
	checkKept(t, res, came, rows)
	if len(rows) > 0 && !strings.Contains(got, "\n1. ") {
		t.Fatalf("MS-65 the first item is not shown:\n%s", got)
	}
}

// checkBudget checks the size of a text with the exceptions of MS-21: the rest of long
// cursors, and the first handle.
func checkBudget(t *rapid.T, got string) {
	t.Helper()
	most := limits.QueryTextMax
	for _, m := range regexp.MustCompile(`(?: next_(?:cursor|changes_since)=|"(?:cursor|changes_since)":)("[cb]*")`).FindAllStringSubmatch(got, -1) {
		most += max(0, len(m[1])-1024)
	}
	if first := regexp.MustCompile(`(?m)^1\. .*$`).FindString(got); len(first) > most/2 {
		most += len(first)
	}
	if len(got) > most {
		t.Fatalf("TEXT-2 the text has %d bytes, %d are allowed:\n%s", len(got), most, got)
	}
}

// checkKept checks that rows are kept from the start, and that dropped ones can be read.
func checkKept(t *rapid.T, res *Result, came, rows [][]byte) {
	t.Helper()
	if len(rows) > len(came) || len(came) > 0 && len(rows) == 0 {
		t.Fatalf("%d rows of %d", len(rows), len(came))
	}
	next, _ := rawjson.Get(res.Structured, "next")
	if len(rows) == len(came) {
		return
	}
	if _, split := rawjson.Get(res.Structured, "next_connections"); split { // read one by one (MS-105)
		return
	}
	if tool, _ := rawjson.Get(next, "tool"); string(tool) == `"schema"` { // the limit was that already
		return
	}
	limit, _ := rawjson.Get(mustGet(t, next, "args"), "limit")
	if n, err := strconv.Atoi(string(limit)); err != nil || n != len(rows) {
		t.Fatalf("CONT-1 %d of %d rows, but next is %s", len(rows), len(came), next)
	}
	if strings.Contains(text(res), "next_cursor=") || strings.Contains(text(res), `"cursor":"c`) || bytes.Contains(mustGet(t, res.Structured, "data"), []byte(`"next_cursor"`)) {
		t.Fatalf("CONT-1 a cursor behind rows that are gone: %s", text(res))
	}
}

func mustGet(t *rapid.T, obj []byte, name string) []byte {
	t.Helper()
	v, ok := rawjson.Get(obj, name)
	if !ok {
		t.Fatalf("no %s in %.300s", name, obj)
	}
	return v
}

func rowsIn(t *rapid.T, res *Result) [][]byte {
	t.Helper()
	return elements(mustGet(t, mustGet(t, res.Structured, "data"), "data"))
}

func elements(list []byte) (all [][]byte) {
	for v := range rawjson.Elements(list) {
		all = append(all, v)
	}
	return all
}

// drawText draws texts with ordinary and with awkward characters.
func drawText(least, most int) *rapid.Generator[string] {
	runes := rapid.SampledFrom([]rune("ab Z9ä漢😀\n\t\"\\<>…\u202e\u2028\u0000\u0007/:.{}[]|=é"))
	pieces := rapid.SampledFrom([]string{"<mark>", "</mark>", "\n1. \"x\"", "more: fetch {}", "</ma", "word "})
	return rapid.Custom(func(t *rapid.T) string {
		n := rapid.IntRange(least, most).Draw(t, "length")
		var b strings.Builder
		for b.Len() < n {
			switch rapid.IntRange(0, 5).Draw(t, "kind") {
			case 0:
				b.WriteString(pieces.Draw(t, "piece"))
			case 1, 2:
				b.WriteRune(runes.Draw(t, "rune"))
			default:
				b.WriteString(strings.Repeat(string(runes.Draw(t, "run")), min(n-b.Len(), 50)))
			}
		}
		return b.String()
	})
}

// drawID draws names of records and connections, many of which no handle can contain.
func drawID() *rapid.Generator[string] {
	return rapid.OneOf(rapid.StringMatching(`[a-z0-9_]{1,12}`), rapid.SampledFrom([]string{".", "..", "a/b", "a:b", `["x","y"]`, "é\u202e", "a b"}), drawText(1, 300))
}

func drawPage(t *rapid.T, row func(*rapid.T) string) string {
	rows := make([]string, rapid.IntRange(0, 30).Draw(t, "rows"))
	for i := range rows {
		rows[i] = row(t)
	}
	b := `{"object":"list","data":[` + strings.Join(rows, ",") + `],"has_more":` + fmt.Sprint(rapid.Bool().Draw(t, "has_more"))
	if n := rapid.SampledFrom([]int{0, 0, 20, 900, 5000}).Draw(t, "cursor"); n > 0 {
		b += `,"next_cursor":"` + strings.Repeat("c", n) + `","next_changes_since":"` + strings.Repeat("b", n) + `"`
	}
	warnings := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
		return `{"code":` + jsonText(drawText(0, 90).Draw(t, "code")) + `,"message":` + jsonText(drawText(0, 400).Draw(t, "message")) + `,"connection_id":` + jsonText(drawText(0, 300).Draw(t, "where")) + `}`
	}), 0, 5).Draw(t, "warnings")
	return b + `,"meta":{"count":{"kind":"exact","value":7},"warnings":[` + strings.Join(warnings, ",") + `],` +
		`"presentation":{"k/entries":{"time_field":"at","roles":{"primary-title":["t"],"primary-text":["body"],"amount":["n"]}}}}}`
}

func drawIdentity(t *rapid.T, record string) string {
	b := `"` + record + `":` + jsonText(drawID().Draw(t, "id")) + `,"stream":"entries","connector_key":"k"`
	if rapid.Bool().Draw(t, "connected") {
		b += `,"connection_id":` + jsonText(drawID().Draw(t, "connection"))
	}
	if rapid.Bool().Draw(t, "named") {
		b += `,"display_name":` + jsonText(drawText(0, 200).Draw(t, "name"))
	}
	return b
}

func drawRecord(t *rapid.T) string {
	b := `{` + drawIdentity(t, "id")
	if rapid.IntRange(0, 9).Draw(t, "deleted") == 0 {
		return b + `,"deleted":true,"deleted_at":"2026-05-02T10:00:00Z"}`
	}
	names := rapid.SliceOfNDistinct(rapid.OneOf(rapid.SampledFrom([]string{"t", "body", "n", "at", "x", "y", "z"}), drawText(1, 60)), 0, 9, rapid.ID).Draw(t, "names")
	var fields []string
	for _, name := range names {
		fields = append(fields, jsonText(name)+`:`+drawValue(t))
	}
	return b + `,"data":{` + strings.Join(fields, ",") + `},"emitted_at":"2026-05-01T08:00:00.000Z"}`
}

func drawValue(t *rapid.T) string {
	switch rapid.IntRange(0, 9).Draw(t, "shape") {
	case 0:
		return rapid.SampledFrom([]string{"null", "true", "-0.10", "9007199254740993", "1e300", `""`, "{}", "[]"}).Draw(t, "scalar")
	case 1:
		return `{"blob_id":` + jsonText(drawID().Draw(t, "blob")) + `,"mime_type":"image/png","size_bytes":9}`
	case 2:
		return `"` + strings.Repeat("QUJDRGVmZ2hpamtsbW5vcHFyc3R1dnd4eXoxMjM0NTY3ODkw", rapid.IntRange(1, 200).Draw(t, "base64")) + `"`
	case 3:
		return `[{"a":` + jsonText(drawText(0, 900).Draw(t, "nested")) + `},{"blob_id":"b1"}]`
	case 4:
		return `"2026-01-01T00:00:00Z"`
	case 5:
		return jsonText(strings.Repeat(drawText(1, 50).Draw(t, "unit"), rapid.IntRange(1, 400).Draw(t, "times")))
	}
	return jsonText(drawText(0, 400).Draw(t, "text"))
}

func drawHit(t *rapid.T) string {
	b := `{` + drawIdentity(t, rapid.SampledFrom([]string{"record_key", "id"}).Draw(t, "key"))
	if rapid.Bool().Draw(t, "snippet") {
		b += `,"snippet":` + rapid.SampledFrom([]string{`{"field":"body","text":`, `{"text":`}).Draw(t, "form") + jsonText(drawText(0, 900).Draw(t, "snippet text")) + `}`
	}
	excerpts := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
		return `{"field_path":` + jsonText(drawText(1, 60).Draw(t, "field")) + `,"preview_text":` + jsonText(drawText(0, 700).Draw(t, "preview")) +
			`,"total_chars":9000,"truncated":` + fmt.Sprint(rapid.Bool().Draw(t, "truncated")) + `,"read":{"offset_chars":12}}`
	}), 0, 4).Draw(t, "excerpts")
	b += `,"evidence_excerpts":[` + strings.Join(excerpts, ",") + `]`
	if rapid.Bool().Draw(t, "card") {
		b += `,"evidence_card":{"title":{"text":` + jsonText(drawText(0, 300).Draw(t, "title")) + `},"event_time":{"value":` + jsonText(drawText(0, 90).Draw(t, "time")) + `},` +
			`"fields":[{"role":"actor","field":"who","value":` + jsonText(drawText(0, 200).Draw(t, "who")) + `,"truncated":true}],"binary":[{"field_path":"scan","kind":"base64_text"}],"binary_omitted_count":2}`
	}
	return b + `}`
}

func drawArgs(t *rapid.T, required string) string {
	b := `{` + required
	if rapid.Bool().Draw(t, "limited") {
		b += `,"limit":` + fmt.Sprint(rapid.IntRange(1, 100).Draw(t, "limit"))
	}
	if rapid.Bool().Draw(t, "scoped") {
		b += `,"connection_id":` + jsonText("c"+rapid.StringMatching(`[a-z0-9/:]{0,20}`).Draw(t, "scope"))
	}
	if rapid.Bool().Draw(t, "filtered") {
		b += `,"filter":{"n":{"gte":12}}`
	}
	if !json.Valid([]byte(b + `}`)) {
		t.Fatalf("not JSON: %s", b)
	}
	return b + `}`
}
