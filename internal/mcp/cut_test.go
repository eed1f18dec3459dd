package mcp

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pdpp/internal/mcp/limits"
)

// TestAdapterCut: the adapter cuts the answers of servers that ignore preferences, and every
// cut value keeps its call.
func TestAdapterCut(t *testing.T) {
	s := newScript(t)
	t.Run("CONT-1 records that do not fit are read by a rerun", func(t *testing.T) {
		wide := `"a":X,"b":X,"c":X,"d":X,"e":X,`
		wide = strings.ReplaceAll(wide, "X", jsonText(letter(9000)))
		s.says(entriesPath, strings.ReplaceAll(manyEntries(60, 9000), `"note":`, wide+`"note":`), false)
		res := mustDo(t, s.Surface, "query_records", `{"stream":"entries","cursor":"c0"}`)
		conforms(t, "query_records", res.Structured)
		checkCut(t, res, 60)
		golden(t, "query_cut.txt", text(res)+"\n")
		if got := find(t, res.Structured, "data.data.0.truncated_fields.note.total_chars"); fmt.Sprint(got) != "9000" {
			t.Errorf("EVID-3 total_chars %v", got)
		}
		note, _ := find(t, res.Structured, "data.data.0.data.note").(string)
		if note != letter(limits.PreviewField) {
			t.Errorf("D15 the preview has %d characters", utf8.RuneCountInString(note))
		}
	})
	t.Run("D15 whole records pass as they came", func(t *testing.T) {
		body := manyEntries(3, 100)
		s.says(entriesPath, body, false)
		res := mustDo(t, s.Surface, "query_records", `{"stream":"entries"}`)
		if strings.Contains(string(res.Structured), "projected") || !strings.Contains(string(res.Structured), body) {
			t.Errorf("%.400s", res.Structured)
		}
	})
	t.Run("MS-71 previews alone keep the cursor", func(t *testing.T) {
		s.says(entriesPath, manyEntries(2, 9000), false)
		res := mustDo(t, s.Surface, "query_records", `{"stream":"entries"}`)
		if got := text(res); !strings.Contains(got, `"cursor":"pc1.next"}`) || !strings.Contains(got, "projected=adapter") {
			t.Errorf("%.300s", got)
		}
		if got := find(t, res.Structured, "data.next_cursor"); got != "pc1.next" {
			t.Errorf("next_cursor %v", got)
		}
	})
	t.Run("REC-40 one record that is too large is shortened further", func(t *testing.T) {
		var fields []string
		for i := range 90 {
			fields = append(fields, fmt.Sprintf(`"f%d":%s`, i, jsonText(letter(2000))))
		}
		s.says(entriesPath, `{"data":[{"id":"e1","stream":"entries","data":{`+strings.Join(fields, ",")+`}}],"has_more":false}`, false)
		res := mustDo(t, s.Surface, "query_records", `{"stream":"entries","limit":1}`)
		if n := len(res.Structured); n > limits.ResultMax {
			t.Errorf("%d bytes", n)
		}
		if got := fmt.Sprint(find(t, res.Structured, "data.data.0.truncated_fields.f0.shown_chars")); got != "256" {
			t.Errorf("shown_chars %s", got)
		}
	})
	t.Run("MS-71 hits that do not fit", func(t *testing.T) {
		s.says(searchPath, manyHits(100), false)
		res := mustDo(t, s.Surface, "search", `{"q":"rent","limit":100}`)
		conforms(t, "search", res.Structured)
		checkCut(t, res, 100)
	})
	t.Run("D17 long ids do not burst a result", func(t *testing.T) {
		var rows []string
		for i := range 100 {
			id := fmt.Sprintf("%d/%s", i, strings.Repeat("x", 480))
			rows = append(rows, `{"id":"`+id+`","stream":"entries","connection_id":"cin_a1","data":{"note":"`+strings.Repeat("y", 300)+`"}}`)
		}
		s.says(entriesPath, `{"data":[`+strings.Join(rows, ",")+`],"has_more":false}`, true)
		checkCut(t, mustDo(t, s.Surface, "query_records", `{"stream":"entries","limit":100}`), 100)
	})
}

// checkCut checks the result for a page from which rows were dropped.
func checkCut(t *testing.T, res *Result, came int) {
	t.Helper()
	if over := excess(res); over > 0 {
		t.Errorf("D17 the result is %d bytes too large", over)
	}
	rows, _ := find(t, res.Structured, "data.data").([]any)
	kept := len(rows)
	if kept == 0 || kept >= came {
		t.Fatalf("kept %d of %d", kept, came)
	}
	if got := fmt.Sprint(find(t, res.Structured, "next.args.limit")); got != fmt.Sprint(kept) {
		t.Errorf("next limit %s, kept %d", got, kept)
	}
	for _, name := range []string{"next_cursor", "next_changes_since", "links.next"} {
		if got := find(t, res.Structured, "data."+name); got != nil {
			t.Errorf("MS-71 %s %v lies behind rows that are gone", name, got)
		}
	}
	if got := find(t, res.Structured, "data.has_more"); got != true {
		t.Errorf("has_more %v", got)
	}
	if got := find(t, res.Structured, "projected"); got != "adapter" {
		t.Errorf("projected %v", got)
	}
	got := text(res)
	for _, want := range []string{" has_more=true", " projected=adapter\n", fmt.Sprintf("\ncut to %d of %d\n", kept, came), "\nnext: "} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %.300s … %s", want, got, got[len(got)-400:])
		}
	}
	if strings.Contains(got, "next_cursor=") {
		t.Errorf("a cursor in %.300s", got)
	}
}
