package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pdpp/internal/demo"
	"pdpp/internal/mcp/limits"
	"pdpp/internal/rawjson"
	"pdpp/internal/rs/resttest"
)

// study returns surfaces over a real server with the invented mail and notes of the demo: one
// for each connector, with a grant that covers all of it.
func study(t *testing.T) map[string]*Surface {
	t.Helper()
	w := resttest.New(t)
	const most = 150 // records of a stream
	all := map[string]*Surface{}
	for _, source := range demo.Sources() {
		m := w.Manifest(string(source.Manifest))
		connector := string(m.ConnectorKey)
		if connector != "mail" && connector != "notes" {
			continue
		}
		for _, c := range source.Connections {
			w.Connect(connector, "cin_"+c.Name, c.Label)
			for id := range demo.Blobs(connector, c.Name) {
				content, mediaType, _ := demo.Blob(id)
				w.PutBlob("cin_"+c.Name, mediaType, content)
			}
			for stream, lines := range demoLines(t, connector, c.Name) {
				w.Ingest("cin_"+c.Name, stream, lines[max(0, len(lines)-most):]...)
			}
		}
		token, _ := w.Grant(`{"source":{"connector_key":"` + connector + `"},"streams":[{"name":"*"}]}`)
		all[connector] = worldSurface(w, token)
	}
	return all
}

// demoLines returns the records of a connection as lines to ingest, by stream.
func demoLines(t *testing.T, connector, connection string) map[string][]string {
	t.Helper()
	byStream := map[string][]string{}
	for raw := range demo.Lines(connector, connection) {
		var line struct {
			Stream    string
			Key, Data json.RawMessage
			Emitted   json.RawMessage `json:"emitted_at"`
		}
		if err := json.Unmarshal(raw, &line); err != nil {
			t.Fatal(err)
		}
		byStream[line.Stream] = append(byStream[line.Stream], fmt.Sprintf(`{"key":%s,"data":%s,"emitted_at":%s}`, line.Key, line.Data, line.Emitted))
	}
	return byStream
}

// TestPagesLeadOn: every call of a text and every rung of a ladder works unchanged.
func TestPagesLeadOn(t *testing.T) {
	surfaces := study(t)
	for _, c := range []struct{ name, source, tool, args string }{
		{"CONT-1 a page of mail", "mail", "query_records", `{"stream":"messages","count":"exact"}`},
		{"CONT-1 few records in full", "mail", "query_records", `{"stream":"messages","limit":3}`},
		{"CONT-1 notes with long texts", "notes", "query_records", `{"stream":"notes","limit":5}`},
		{"CONT-1 records with relations", "mail", "query_records", `{"stream":"messages","limit":4,"expand":["attachments"]}`},
		{"BINARY-1 attachments", "mail", "query_records", `{"stream":"attachments","limit":4}`},
		{"CONT-1 contacts", "mail", "query_records", `{"stream":"contacts","limit":30}`},
		{"CONT-1 changes", "notes", "query_records", `{"stream":"notes","changes_since":"beginning","limit":2}`},
		{"LADDER-1 hits", "mail", "search", `{"q":"invoice"}`},
		{"LADDER-1 hits of two sources", "mail", "search", `{"q":"Lindqvist","limit":8}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := surfaces[c.source]
			res := mustDo(t, s, c.tool, c.args)
			conforms(t, c.tool, res.Structured)
			if !strings.Contains(text(res), "\n1. \"cin_") {
				t.Fatalf("nothing is shown: %s", text(res))
			}
			if over := excess(res); over > 0 {
				t.Errorf("D17 the result is %d bytes too large", over)
			}
			calls := offers(text(res))
			for _, read := range reads(res.Structured) {
				calls = append(calls, offered{rawjson.GetString(read, "tool"), string(memberOf(read, "args"))})
			}
			for _, o := range calls {
				conforms(t, o.tool, mustDo(t, s, o.tool, o.args).Structured)
			}
			if strings.Contains(text(res), "QUJD") {
				t.Errorf("EVID-2 base64 in a text")
			}
		})
	}
}

// reads returns the members named read of a JSON value, at any depth, outside data.
func reads(value []byte) (list [][]byte) {
	for name, v := range rawjson.Members(value) {
		switch string(name) {
		case "data":
		case "read":
			list = append(list, v)
		default:
			list = append(list, reads(v)...)
		}
	}
	for v := range rawjson.Elements(value) {
		list = append(list, reads(v)...)
	}
	return list
}

func memberOf(obj []byte, name string) []byte {
	v, _ := rawjson.Get(obj, name)
	return v
}

// TestPagesByText: the text alone suffices to read a stream to its end, page by page, and
// shows every record once.
func TestPagesByText(t *testing.T) {
	s := study(t)["notes"]
	seen := map[string]bool{}
	args := `{"stream":"notes","limit":40}`
	for pages := 0; ; pages++ {
		got := text(mustDo(t, s, "query_records", args))
		if strings.Contains(got, "\nnot shown: ") { // the call it offers repeats what is shown
			args, _, _ = strings.Cut(callOf(got, "next:", "query_records"), " repeats")
			continue
		}
		for line := range strings.SplitSeq(got, "\n") {
			if _, id, ok := strings.Cut(line, `. "cin_notebook/notes:`); ok && line[0] >= '1' && line[0] <= '9' {
				id, _, _ = strings.Cut(id, `"`)
				if seen[id] {
					t.Fatalf("CONT-2 %s is shown twice", id)
				}
				seen[id] = true
			}
		}
		if !strings.Contains(got, "\nnext: ") {
			break
		}
		args = callOf(got, "next:", "query_records")
		if pages > 20 {
			t.Fatal("no end")
		}
	}
	if len(seen) != 150 {
		t.Errorf("PAGE-1 %d of 150 notes were seen", len(seen))
	}
}

// TestPagesContinueText: BOUND-1, the text shows of a long field what the server cut, and the
// offered window starts where that ends.
func TestPagesContinueText(t *testing.T) {
	body := letter(9000)
	d := newDrawer(t, wholeCabinet, filed("long", `"title":"Letter","body":`+jsonText(body)))
	res := mustDo(t, d.Surface, "query_records", `{"stream":"items"}`)
	if got, _ := find(t, res.Structured, "data.data.0.data.body").(string); got != body[:len(got)] || len([]rune(got)) != limits.PreviewField {
		t.Errorf("BOUND-1 the adapter received %d characters", len([]rune(got)))
	}
	_, shown, _ := strings.Cut(text(res), ` | body="`)
	shown, _, ok := strings.Cut(shown, `…"(cut:9000)`)
	var decoded string
	if err := json.Unmarshal([]byte(`"`+shown+`"`), &decoded); err != nil || !ok {
		t.Fatalf("%v in %s", err, text(res))
	}
	window := mustDo(t, d.Surface, "read_record_field", callOf(text(res), "more:", "read_record_field"))
	if next, _ := find(t, window.Structured, "window.text").(string); !strings.HasPrefix(body, decoded+next) {
		t.Errorf("FIELD-1 the window does not go on where the text ends: %.60q", next)
	}
}

// TestPagesGuessNothing: EVID-1, titles come from declared roles and documented names only.
func TestPagesGuessNothing(t *testing.T) {
	s := newScript(t, entriesPath, `{"data":[{"id":"e1","stream":"entries","connection_id":"c1","connector_key":"gmail","data":{"subject":"Not a title","name":"Nor this","content":"c","date":"2026-01-01T00:00:00Z"}}]}`)
	got := text(mustDo(t, s.Surface, "query_records", `{"stream":"entries"}`))
	if want := `1. "c1/entries:e1" "gmail / entries" | subject="Not a title" | name="Nor this" | content="c" | date="2026-01-01T00:00:00Z"`; !strings.Contains(got, want+"\n") {
		t.Errorf("EVID-1 %s", got)
	}
}

// TestPagesInterop: answers of the other implementation are read as well as ours.
func TestPagesInterop(t *testing.T) {
	for _, c := range []struct{ name, path, tool, args string }{
		{"records-limit3", "/v1/streams/messages/records", "query_records", `{"stream":"messages"}`},
		{"records-changes-beginning", "/v1/streams/messages/records", "query_records", `{"stream":"messages","changes_since":"beginning"}`},
		{"search-zebrafish", searchPath, "search", `{"q":"zebrafish"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript(t)
			s.says(c.path, recorded(t, c.name), false)
			res := mustDo(t, s.Surface, c.tool, c.args)
			conforms(t, c.tool, res.Structured)
			runnable(t, text(res))
			if !strings.Contains(text(res), "\n1. \"") {
				t.Errorf("IO-15 nothing is shown: %s", text(res))
			}
		})
	}
}
