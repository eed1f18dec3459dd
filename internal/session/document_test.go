package session

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"pdpp/internal/mcp/limits"
)

// Results of fetch and of projected reads.

// document checks that the structured output and the first block are the same document,
// and returns the card.
func (a answer) document() (card string) {
	a.Helper()
	value, _ := a.sc.JSON().(map[string]any)
	if names := slices.Sorted(maps.Keys(value)); !slices.Equal(names, []string{"id", "metadata", "text", "title", "url"}) {
		a.Errorf("%s: the document has %v", a.call, names)
	}
	first := a.sc
	first.Body = []byte(a.blocks[0])
	if diff := cmp.Diff(value, first.JSON()); diff != "" {
		a.Errorf("%s: the first block differs from structured output:\n%s", a.call, diff)
	}
	if len(a.blocks) != 2 {
		a.Fatalf("%s: %d text blocks, want the document and a card", a.call, len(a.blocks))
	}
	return a.blocks[1]
}

func oneDocument(v *visit) {
	s := v.as(everything)
	id := s.do("search", `{"q":"neighbour"}`).str("results.0.id")
	a := s.do("fetch", `{"id":`+quoted(id)+`}`)
	a.document()
	a.wants(map[string]any{
		"id": id, "title": "Keys", "text": "The keys are with the neighbour.", "url": v.URL + "/v1/streams/messages/records/m3?connection_id=cin_home",
		"metadata.stream": "messages", "metadata.event_time": "2026-01-04T10:00:00Z",
	})
}

func card(v *visit) {
	s := v.as(everything)
	got := s.do("fetch", `{"id":"cin_home/messages:m3"}`).document()
	for _, want := range []string{
		`document "cin_home/messages:m3" "Keys" at="2026-01-04T10:00:00Z"`,
		`source connection_id="cin_home" connector_key="post" stream="messages" display_name="Home post"`,
		`the text above is the complete text of the record`,
	} {
		if !strings.Contains(got, want) {
			v.Errorf("%q is not in the card: %s", want, got)
		}
	}
	got = s.do("fetch", `{"id":"`+longID+`"}`).document()
	if len(got) > limits.CardMax || !strings.Contains(got, "\nthe record's text above is chars 0..") || strings.Contains(got, "Line 0 ") {
		v.Errorf("a card of %d bytes: %s", len(got), got)
	}
}

func nestedRecord(v *visit) {
	s := v.as(everything)
	// The server wraps the record: its fields are under data.
	body := v.Get(s.token, "/v1/streams/pages/records/p1?connection_id=cin_home").OK()
	if body.At("title") != nil || body.At("data.title") != "How to fold a letter" {
		v.Fatalf("the server's record is %s", body.Body)
	}
	a := s.do("fetch", `{"id":"cin_home/pages:p1"}`)
	a.wants(map[string]any{
		"title": "How to fold a letter", "text": "Fold it twice.", "url": "https://pages.example/fold",
		"metadata.connection_id": "cin_home", "metadata.connector_key": "post", "metadata.stream": "pages", "metadata.record_id": "p1",
	})
	card := a.document()
	if !strings.Contains(card, `"How to fold a letter"`) || !strings.Contains(a.text, `"text":"Fold it twice."`) || strings.Contains(card, "structured") {
		v.Errorf("the card is %s", card)
	}
}

func onlyDocument(v *visit) {
	s := v.as(everything)
	for _, args := range []string{
		`{"id":"cin_home/messages:m1"}`, `{"id":"cin_home/notes:n1"}`, `{"id":"cin_home/scans:s1"}`, `{"id":"` + longID + `"}`,
		`{"id":"cin_home/threads:t1","expand":["messages"]}`, `{"id":"cin_home/messages:m1","fields":["subject"]}`,
	} {
		a := s.do("fetch", args)
		a.document()
		a.hides(`"provider_url"`, `"request_id"`)
		a.wants(map[string]any{"data": nil, "metadata.connection_id": "cin_home", "metadata.connector_key": "post", "metadata.display_name": "Home post"})
		if a.str("metadata.stream") == "" || a.str("metadata.record_id") == "" {
			v.Errorf("%s has no source", args)
		}
	}
}

func projectedDocument(v *visit) {
	s := v.as(everything)
	a := s.do("fetch", `{"id":"cin_home/messages:m2","fields":["folder","pages"]}`)
	a.wantRequests("/v1/streams/messages/records/m2?fields=folder&fields=pages&connection_id=cin_home")
	a.document()
	a.hides("Re: the flat", "paid on Monday", "U456", "zeppelin", "bcc", "thread_id", "2026-01-03", "body", "subject")
	if got := a.str("text"); got != "folder: sent\npages: 4" {
		v.Errorf("the text is %q", got)
	}
	a.wants(map[string]any{
		"id": "cin_home/messages:m2", "metadata.connection_id": "cin_home", "metadata.stream": "messages", "metadata.record_id": "m2", "metadata.connector_key": "post",
	})
}

func projectedRecords(v *visit) {
	s := v.as(everything)
	a := s.do("query_records", `{"stream":"messages","fields":["folder","pages"]}`)
	// Beside the fields a record has only documented keys.
	documented := []string{
		"object", "id", "stream", "connection_id", "connector_key", "display_name", "emitted_at", "expanded", "truncated_fields", "deleted", "deleted_at", "removed_reason", "data",
	}
	rows := a.list("data.data")
	if len(rows) != 6 {
		v.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		record := row.(map[string]any)
		for name := range record {
			if !slices.Contains(documented, name) {
				v.Errorf("a record has %s", name)
			}
		}
		if names := slices.Sorted(maps.Keys(record["data"].(map[string]any))); !slices.Equal(names, []string{"folder", "pages"}) {
			v.Errorf("the payload has %v", names)
		}
	}
	a.says(`| folder="sent" | pages=4`)
	a.hides("Rent is due", "paid on Monday", "U456", "zeppelin", "2026-01-0", "thread_id")
}

// Roles of the manifest, and binaries.

func declaredRoles(v *visit) {
	s := v.as(everything)
	s.do("fetch", `{"id":"cin_home/messages:m2"}`).wants(map[string]any{"title": "Re: the flat", "text": "The rent was paid on Monday.", "metadata.text_source": "role"})
	const fallback = "Home post / notes / 2026-02-03T04:05:06Z"
	a := s.do("fetch", `{"id":"cin_home/notes:n1"}`)
	a.wants(map[string]any{"title": fallback, "metadata.text_source": "rendered"})
	if !strings.Contains(a.str("text"), "subject: A tempting subject\nname: A tempting name\nbody: Buy a cuckoo clock.") {
		v.Errorf("the text is %q", a.str("text"))
	}
	s.do("query_records", `{"stream":"notes"}`).says(`1. "cin_home/notes:n1" "` + fallback + `" | subject="A tempting subject" | name="A tempting name"`)
	s.do("search", `{"q":"cuckoo"}`).wants(map[string]any{"results.0.title": fallback})
}

// binaryReads return a record with a file and with base64.
var binaryReads = map[string]string{
	"query_records": `{"stream":"scans"}`, "search": `{"q":"envelope"}`, "fetch": `{"id":"cin_home/scans:s1"}`,
}

func binaryFacts(v *visit) {
	s := v.as(everything)
	for tool, args := range binaryReads {
		a := s.do(tool, args)
		text := strings.ReplaceAll(a.text, `\"`, `"`)
		for _, want := range []string{
			`"mime_type":"image/png"`, fmt.Sprintf(`"size_bytes":%d`, v.blob.Size), v.blob.Digest,
			`"export":"GET /v1/blobs/` + v.blob.ID + `"`,
		} {
			if !strings.Contains(text, want) {
				v.Errorf("%s: %s is not in the text: %s", tool, want, a.text)
			}
		}
		if strings.Contains(a.text, stamp[:40]) {
			v.Errorf("%s: base64 is in the text: %s", tool, a.text)
		}
	}
}

func binaryExport(v *visit) {
	s := v.as(everything)
	for tool, args := range binaryReads {
		a := s.do(tool, args)
		text := strings.ReplaceAll(a.text, `\"`, `"`)
		if !strings.Contains(text, `"kind":"base64_text"`) || strings.Contains(text, stamp[:40]) {
			v.Errorf("%s shows more than facts: %s", tool, a.text)
		}
		_, export, ok := strings.Cut(text, `"export":"GET `)
		export, _, _ = strings.Cut(export, `"`)
		if !ok {
			v.Fatalf("%s offers no export", tool)
		}
		if got := v.Get(s.token, export).OK(); string(got.Body) != string(noise(v.blob.Size)) {
			v.Errorf("%s: the export has %d bytes", tool, len(got.Body))
		}
	}
	// The export is limited by the grant: another grant cannot read it.
	other, _ := v.Grant(noBCC)
	if got := v.Get(other, "/v1/blobs/"+v.blob.ID); got.Status != 404 && got.Status != 403 {
		v.Errorf("a grant without scans reads the file: %d", got.Status)
	}
	// Base64 can be read by name, in bounded windows.
	got := ""
	step := step{"read_record_field", `{"id":"cin_home/scans:s1","field_path":"stamp","limit_chars":1500}`}
	for range 5 {
		a := s.do(step.tool, step.args)
		got += a.window()
		next := a.offers("next")
		if len(next) == 0 {
			break
		}
		step = next[0]
	}
	if got != stamp {
		v.Errorf("the windows have %d characters, want %d", len(got), len(stamp))
	}
}

// reporter is implemented by visits and answers.
type reporter interface {
	Helper()
	Fatalf(format string, args ...any)
}

// decoded decodes a JSON object.
func decoded(t reporter, text string) (value map[string]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%v: %.300s", err, text)
	}
	return value
}
