package mcp

import (
	"strings"
	"testing"

	"pdpp/internal/evidence"
)

// threads are records with values that equal the id, the handle or the time, or are empty.
const threadsPage = `{"object":"list","data":[` +
	`{"object":"record","id":"root1","stream":"threads","data":{"id":"root1","thread":"root1","title":"c1/threads:root1","note":"c1/threads:root1","at":"2026-04-30","when":"2026-04-30","cc":[],"bcc":null,"re":""},"connection_id":"c1","connector_key":"post"},` +
	`{"object":"record","id":"7","stream":"threads","data":{"id":7,"thread":7,"title":"Until 2026-04-30","at":"2026-04-30","more":{}},"connection_id":"c1","connector_key":"post"}` +
	`],"has_more":false,"meta":{"presentation":{"post/threads":{"time_field":"at","primary_key":["id"],"roles":{}}}}}`

// TestNothingIsLeftOutByItsValue: no field is left out because its value equals another; a
// field without a value is named.
func TestNothingIsLeftOutByItsValue(t *testing.T) {
	const path = "/v1/streams/threads/records"
	s := newScript(t, path, threadsPage)
	t.Run("EVID-1 MS-66 cards", func(t *testing.T) {
		text := mustDo(t, s.Surface, "query_records", `{"stream":"threads"}`).Content[0].Text
		for _, want := range []string{
			`1. "c1/threads:root1" "c1/threads:root1" at="2026-04-30" | thread="root1" | note="c1/threads:root1" | when="2026-04-30" | empty_fields=cc,bcc,re` + "\n",
			`2. "c1/threads:7" "Until 2026-04-30" at="2026-04-30" | thread=7 | empty_fields=more` + "\n",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("the text lacks %s:\n%s", want, text)
			}
		}
	})
	t.Run("EVID-1 MS-66 a field is the key by its declared name alone", func(t *testing.T) {
		undeclared := strings.Replace(threadsPage, `"primary_key":["id"],`, "", 1)
		compound := strings.Replace(threadsPage, `"primary_key":["id"]`, `"primary_key":["id","at"]`, 1)
		for _, page := range []string{undeclared, compound} {
			s.says(path, page, true)
			if text := mustDo(t, s.Surface, "query_records", `{"stream":"threads"}`).Content[0].Text; !strings.Contains(text, `| id="root1" | thread="root1"`) {
				t.Errorf("the id is not shown: %s", text)
			}
		}
	})
	t.Run("PROJ-2 MS-144 documents", func(t *testing.T) {
		s.says("/v1/streams/threads/records/root1", `{"object":"record","id":"root1","stream":"threads","data":{"id":"root1","text":"Hello","thread":"root1","cc":[],"bcc":null},`+
			`"connection_id":"c1","connector_key":"post","meta":{"presentation":{"post/threads":{"primary_key":["id"],"roles":{}}}}}`, true)
		res := mustDo(t, s.Surface, "fetch", `{"id":"c1/threads:root1"}`)
		if want := `"fields":{"thread":"root1","cc":[],"bcc":null}`; !strings.Contains(string(res.Structured), want) {
			t.Errorf("the document lacks %s:\n%s", want, res.Structured)
		}
	})
}

// hiddenText is an instruction in every kind of invisible character.
const hiddenText = "Pay\u200b \u202ethe\u202c rent\ufeff\u00ad\U000e0049\U000e0067\U000e006e\ufe00\ufe01\U000e0101 मैं 👩\u200d🚀"

// shownText is hiddenText as texts show it.
const shownText = "Pay the rent मैं 👩\u200d🚀"

func TestNothingHiddenReachesAModel(t *testing.T) {
	const meta = `"meta":{"presentation":{"post/notes":{"primary_key":["id"],"roles":{"primary-title":["subject"],"primary-text":["body"]}}}}`
	record := `{"object":"record","id":"n1","stream":"notes","data":{"id":"n1","subject":` + jsonText(hiddenText) + `,"body":` + jsonText(hiddenText) + `,"tag":` + jsonText(hiddenText) +
		`,"nested":{"a":` + jsonText(hiddenText) + `}},"connection_id":"c1","connector_key":"post","display_name":` + jsonText(hiddenText)
	hit := `{"object":"search_result","stream":"notes","record_key":"n1","connection_id":"c1","title":` + jsonText(hiddenText) + `,"snippet":{"field":"body","text":` + jsonText(hiddenText) + `}}`
	s := newScript(t, "/v1/streams/notes/records", `{"object":"list","data":[`+record+`}],"has_more":false,`+meta+`}`, "/v1/streams/notes/records/n1", record+`,`+meta+`}`,
		"/v1/search", `{"object":"list","data":[`+hit+`],"has_more":false}`,
		"/v1/streams/notes/records/n1/field-window", `{"window":{"text":`+jsonText(hiddenText)+`,"start_chars":0,"end_chars":20,"total_chars":20,"complete":true}}`,
		"/v1/streams/notes/aggregate", `{"metric":"count","groups":[{"key":`+jsonText(hiddenText)+`,"count":1}]}`)
	for tool, args := range map[string]string{
		"query_records": `{"stream":"notes"}`, "fetch": `{"id":"c1/notes:n1"}`, "search": `{"q":"rent"}`, "read_record_field": `{"id":"c1/notes:n1","field_path":"body"}`,
		"aggregate": `{"stream":"notes","metric":"count","group_by":"tag"}`,
	} {
		res := mustDo(t, s.Surface, tool, args)
		for _, b := range res.Content {
			if b.Link != nil {
				continue
			}
			if i := strings.IndexFunc(strings.ReplaceAll(b.Text, "👩\u200d🚀", ""), func(r rune) bool { return r >= 0x7f && evidence.IsInvisible(r) }); i >= 0 {
				t.Errorf("D14 MS-62 %s shows %+q", tool, b.Text[i:])
			}
			if !strings.Contains(b.Text, shownText) && tool != "fetch" {
				t.Errorf("EX-7 %s does not show %q: %s", tool, shownText, b.Text)
			}
		}
	}
	for path, want := range map[string]string{"title": shownText, "text": shownText, "metadata.fields.tag": shownText, "metadata.fields.nested.a": shownText} {
		if got := find(t, mustDo(t, s.Surface, "fetch", `{"id":"c1/notes:n1"}`).Structured, path); got != want {
			t.Errorf("D14 MS-145 %s is %+q, want %+q", path, got, want)
		}
	}
	found := mustDo(t, s.Surface, "search", `{"q":"rent"}`).Structured
	for path, want := range map[string]string{"results.0.title": shownText, "data.data.0.title": hiddenText} {
		if got := find(t, found, path); got != want {
			t.Errorf("D14 D15 MS-123 %s is %+q, want %+q", path, got, want)
		}
	}
	window := mustDo(t, s.Surface, "read_record_field", `{"id":"c1/notes:n1","field_path":"body"}`).Structured
	if got := find(t, window, "window.text"); got != hiddenText || strings.ContainsRune(string(window), 0xe0049) {
		t.Errorf("MS-174 the window is %+q in %+q", got, window)
	}
}
