package mcp

import (
	"strings"
	"testing"
)

// threads are records in which values that are equal to other things meet: the id, the
// handle, the time, nothing at all.
const threadsPage = `{"object":"list","data":[` +
	`{"object":"record","id":"root1","stream":"threads","data":{"id":"root1","thread":"root1","title":"c1/threads:root1","note":"c1/threads:root1","at":"2026-04-30","when":"2026-04-30","cc":[],"bcc":null,"re":""},"connection_id":"c1","connector_key":"post"},` +
	`{"object":"record","id":"7","stream":"threads","data":{"id":7,"thread":7,"title":"Until 2026-04-30","at":"2026-04-30","more":{}},"connection_id":"c1","connector_key":"post"}` +
	`],"has_more":false,"meta":{"presentation":{"post/threads":{"time_field":"at","primary_key":["id"],"roles":{}}}}}`

// No field is left out because its value is equal to something else; what has no value
// is named.
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
