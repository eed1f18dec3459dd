package mcp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
	"pgregory.net/rapid"

	"pdpp/internal/mcp/limits"
	"pdpp/internal/rawjson"
)

// For any arguments: no panic, no invalid request, output that conforms to its schema, and
// text within its budget.

// moods are the ways in which the server answers.
var moods = []func(target string) (int, string){
	plausible,
	always(`{}`),
	always(`[]`),
	failing(http.StatusBadRequest, "invalid_request"),
	failing(http.StatusBadRequest, "invalid_cursor"),
	failing(http.StatusGone, "cursor_expired"),
	failing(http.StatusNotFound, "not_found"),
	failing(http.StatusConflict, "ambiguous_connection"),
	failing(http.StatusUnprocessableEntity, "field_not_text"),
	failing(http.StatusUnauthorized, "invalid_token"),
}

func failing(status int, code string) func(string) (int, string) {
	body := `{"error":{"type":"some_error","code":"` + code + `","message":"No.","available_connections":[{"connection_id":"cin_a1"},{"connection_id":"cin_b2"}]}}`
	return func(string) (int, string) { return status, body }
}

// plausible answers every route with something of its kind.
func plausible(target string) (int, string) {
	path, _, _ := strings.Cut(target, "?")
	switch {
	case path == "/v1/schema":
		return http.StatusOK, indexBody
	case path == "/v1/search":
		return http.StatusOK, `{"data":[{"record_key":"ent_31","stream":"entries","connection_id":"cin_a1","snippet":{"text":"April <mark>rent</mark>"}}],"has_more":true,"next_cursor":"c2"}`
	case strings.HasSuffix(path, "/aggregate"):
		return http.StatusOK, `{"object":"aggregate","metric":"count","group_by":"category","groups":[{"key":"rent","count":2}],"other_count":3,"value":5}`
	case strings.HasSuffix(path, "/field-window"):
		return http.StatusOK, `{"stream":"entries","record_id":"ent_31","field":{"path":"note","type":"string"},"window":{"text":"Paid by","start_chars":7,"end_chars":14,` +
			`"limit_chars":7,"total_chars":90,"complete":false,"has_more":true,"next_offset_chars":14,"previous_offset_chars":0}}`
	case strings.HasSuffix(path, "/records"):
		return http.StatusOK, `{"data":[{"id":"ent_31","stream":"entries","connection_id":"cin_a1","data":{"id":"ent_31","memo":"April rent","note":"` + strings.Repeat("long ", 900) +
			`"}},{"id":"a/b","stream":"entries","data":{"memo":null}}],"has_more":true,"next_cursor":"c2","next_changes_since":"b2"}`
	}
	return http.StatusOK, `{"id":"ent_31","stream":"entries","connection_id":"cin_a1","data":{"id":"ent_31","memo":"April rent","note":"` + strings.Repeat("long ", 900) + `"}}`
}

// asked is a surface over a server that answers in a chosen mood.
type asked struct{ *script }

func newAsked(t testing.TB) *asked { return &asked{scripted(t, plausible)} }

// refusals are the codes of arguments that are not passed on (MS-44, MS-45).
var refusals = []string{
	"invalid_argument", "invalid_filter", "invalid_expand", "invalid_id", "invalid_name", "conflicting_connection_id", "invalid_field_window_selector", "invalid_request",
}

// fatal is implemented by fuzz targets and properties.
type fatal interface {
	Helper()
	Context() context.Context
	Fatalf(format string, args ...any)
}

// check makes a call and checks the rules for any call. It reports whether the arguments were
// accepted.
func (a *asked) check(t fatal, tool *Tool, raw []byte, mood int) (accepted bool) {
	t.Helper()
	a.does(moods[mood%len(moods)])
	a.sent.take()
	res := a.Surface.Call(t.Context(), tool, raw)
	sent := a.sent.take()
	conforms(t, tool.Name, res.Structured)
	kind, code := errorOf(t, res)
	if code == "internal_error" {
		t.Fatalf("MS-46 %s %.300q panics", tool.Name, raw)
	}
	refused := kind == "adapter_error" && slices.Contains(refusals, code)
	if code == "invalid_expand" { // the gate asks for the schema first
		sent = slices.DeleteFunc(sent, func(s string) bool { return strings.HasPrefix(s, "/v1/schema?") })
	}
	if refused && len(sent) > 0 {
		t.Fatalf("MS-44 %s %.300q is refused with %s after %.100q", tool.Name, raw, code, sent)
	}
	if !refused && offends(t, tool, raw) {
		t.Fatalf("MS-44 %s %.300q offends its schema and is passed on: %.100q", tool.Name, raw, sent)
	}
	for i, b := range res.Content {
		if most := textMax(tool, res, i, raw); b.Link == nil && (len(b.Text) > most || !utf8.ValidString(b.Text)) {
			t.Fatalf("TEXT-2 %s %.300q: block %d has %d bytes, %d are allowed:\n%.600s", tool.Name, raw, i, len(b.Text), most, b.Text)
		}
	}
	return !refused
}

func errorOf(t fatal, res *Result) (kind, code string) {
	t.Helper()
	var sc struct{ Error struct{ Type, Code string } }
	if err := json.Unmarshal(res.Structured, &sc); err != nil {
		t.Fatalf("%v in %.300s", err, res.Structured)
	}
	if res.IsError != (sc.Error.Code != "") {
		t.Fatalf("MS-41 isError is %t, the code %q", res.IsError, sc.Error.Code)
	}
	return sc.Error.Type, sc.Error.Code
}

// textMax returns the budget of a text block.
func textMax(tool *Tool, res *Result, block int, raw []byte) int {
	if res.IsError {
		return limits.ErrorTextMax // always
	}
	most := limits.QueryTextMax // also of search and the index of schema
	switch {
	case tool == &aggregateTool:
		most = limits.AggTextMax
	case tool == &fetchTool && block == 0:
		most = limits.FetchMax * 2 // escaped once more
	case tool == &fetchTool:
		most = limits.CardMax
	case tool == &readRecordFieldTool:
		most = limits.WindowMax
	}
	return most + longest(raw)
}

// longest returns what absurdly long arguments may add to a text that must repeat them:
// names are never cut (MS-62), and a character can take six or twelve bytes.
func longest(raw []byte) int {
	if len(raw) <= 256 {
		return 0
	}
	return 12 * len(raw)
}

// offends reports whether arguments violate the input schema of their tool. A null is absent
// (MS-44); arguments that encoding/json reads differently are not checked.
func offends(t fatal, tool *Tool, raw []byte) bool {
	t.Helper()
	if len(raw) == 0 {
		raw = []byte("{}")
	}
	var value any
	if !utf8.Valid(raw) || !json.Valid(raw) {
		return true
	}
	if json.Unmarshal(raw, &value) != nil {
		return false // a number that no float64 holds
	}
	members, ok := value.(map[string]any)
	if !ok {
		return value != nil
	}
	for name, v := range members {
		if v == nil && name != "filter" && name != "expand_limit" {
			delete(members, name)
		}
	}
	return inputSchema(t, tool).Validate(value) != nil
}

var inputSchemas = map[*Tool]*jsonschema.Resolved{}

func inputSchema(t fatal, tool *Tool) *jsonschema.Resolved {
	t.Helper()
	if s := inputSchemas[tool]; s != nil {
		return s
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(tool.args.schema(), &schema); err != nil {
		t.Fatalf("%s: %v", tool.Name, err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatalf("%s: %v", tool.Name, err)
	}
	inputSchemas[tool] = resolved
	return resolved
}

// FuzzCallArguments calls tools with raw bytes.
func FuzzCallArguments(f *testing.F) {
	for i := range tools.tools {
		for _, raw := range []string{
			``, `null`, `[]`, `{}`, `{"stream":"entries"}`, `{"stream":"entries","metric":"count"}`, `{"q":"rent","limit":5}`, `{"id":"cin_a1/entries:ent_31"}`,
			`{"id":"entries:ent_31","connection_id":"cin_a1","fields":["memo"]}`, `{"id":"cin_a1/entries:ent_31","connection_id":"cin_b2"}`,
			`{"id":"cin_a1/entries:ent_31","field_path":"note","q":"rent","before_chars":4}`, `{"id":"e:1","field_path":"note","cursor":"9","offset_chars":4}`,
			`{"stream":"entries","filter":{"a":{"gte":1e400}},"expand":["x"],"expand_limit":{"x":3}}`, `{"stream":"a","stream":"b"}`, `{"stream":"\ud800"}`, "{\"stream\":\"\xff\"}",
			`{"id":"` + Handle{"c", "s", "a/b"}.URI() + `"}`, `{"stream":"entries","detail":"full","limit":101}`, `{"stream":"entries","filter":null}`,
		} {
			f.Add(uint8(i), []byte(raw), uint8(0))
		}
	}
	a := newAsked(f)
	f.Fuzz(func(t *testing.T, tool uint8, raw []byte, mood uint8) {
		a.check(t, tools.tools[int(tool)%len(tools.tools)], raw, int(mood))
	})
}

// TestAnyArguments calls tools with nearly valid arguments, in every mood of the server.
func TestAnyArguments(t *testing.T) {
	t.Run("TOOLS-3 any arguments", func(t *testing.T) {
		a := newAsked(t)
		for _, tool := range tools.tools {
			t.Run(tool.Name, func(t *testing.T) {
				accepted, refused := 0, 0
				for range 4 { // more than the usual number of draws
					rapid.Check(t, func(t *rapid.T) {
						if a.check(t, tool, []byte(drawCall(t, tool)), rapid.IntRange(0, len(moods)-1).Draw(t, "mood")) {
							accepted++
						} else {
							refused++
						}
					})
				}
				if (accepted == 0 || refused == 0) && !testing.Short() {
					t.Errorf("%d calls were accepted, %d refused: they test nothing", accepted, refused)
				}
			})
		}
	})
}

// drawCall draws arguments: required ones nearly always, others sometimes, invalid ones
// rarely.
func drawCall(t *rapid.T, tool *Tool) string {
	var members []string
	for _, decl := range tool.args {
		chance := 3
		switch {
		case decl.required, decl.name == "id":
			chance = 19
		case tool == &readRecordFieldTool: // most pairs exclude each other
			chance = 1
		}
		if rapid.IntRange(1, 20).Draw(t, decl.name+"?") > chance {
			continue
		}
		value := drawArgument(t, decl)
		if rapid.IntRange(1, 24).Draw(t, "wrong") == 1 {
			value = rapid.SampledFrom([]string{`null`, `5`, `1.5`, `-1`, `true`, `""`, `[]`, `[""]`, `[5]`, `{}`, `{"":1}`, `{"a[gte]":1}`, `{"a":[1]}`, `{"a":{"like":"x"}}`, `"\u0000"`}).Draw(t, "value")
		}
		members = append(members, jsonText(decl.name)+":"+value)
	}
	if rapid.IntRange(1, 30).Draw(t, "unknown") == 1 {
		members = append(members, jsonText(awkwardName().Draw(t, "name"))+":1")
	}
	return "{" + strings.Join(members, ",") + "}"
}

// drawArgument draws a value of the kind that an argument takes.
func drawArgument(t *rapid.T, decl arg) string {
	word := func() string {
		if rapid.IntRange(1, 60).Draw(t, "long") == 1 {
			return jsonText(strings.Repeat(rapid.SampledFrom([]string{"x", "é", "\u202e", `"`}).Draw(t, "char"), 3000))
		}
		return jsonText(rapid.OneOf(rapid.SampledFrom([]string{"entries", "cin_a1", "memo", "beginning", "12"}), awkwardName()).Draw(t, "word"))
	}
	number := func() string {
		most := decl.max + 1
		if decl.max == 0 {
			most = 1 << 40
		}
		raw, _ := json.Marshal(rapid.IntRange(decl.min, most).Draw(t, "number"))
		return string(raw)
	}
	scalar := func() string {
		return rapid.OneOf(rapid.SampledFrom([]string{"1", "1e300", "-0.5", "true"}), rapid.Custom(func(*rapid.T) string { return word() })).Draw(t, "scalar")
	}
	switch decl.kind {
	case argEnum:
		return jsonText(rapid.SampledFrom(decl.enum).Draw(t, "enum"))
	case argInt:
		return number()
	case argTexts, argStreams, argExpand:
		return "[" + word() + "," + word() + "]"
	case argFilter:
		return rapid.SampledFrom([]string{`{"memo":` + scalar() + `}`, `{` + word() + `:{"gte":` + scalar() + `,"lt":` + scalar() + `}}`}).Draw(t, "filter")
	case argExpandLimit:
		return `{` + word() + `:` + rapid.SampledFrom([]string{"1", "3.0", "0"}).Draw(t, "n") + `}`
	case argHandle:
		return jsonText(drawHandle(t))
	}
	return word()
}

// drawHandle draws a handle of any form, or something similar.
func drawHandle(t *rapid.T) string {
	h := Handle{awkwardName().Draw(t, "connection"), awkwardName().Draw(t, "stream"), awkwardName().Draw(t, "record")}
	switch rapid.IntRange(0, 5).Draw(t, "form") {
	case 0:
		return h.URI()
	case 1:
		return h.Stream + ":" + h.Record
	case 2:
		return h.Connection + "/" + h.Stream + ":" + h.Record
	case 3:
		w := window{record: refer(h), field: "note", place: selector{offset: given{rapid.IntRange(-1, 9).Draw(t, "offset"), true}}}
		return w.URI()
	}
	return "cin_a1/entries:ent_31"
}

// FuzzReadResource reads URIs. A URI that is not canonical is refused before any request.
func FuzzReadResource(f *testing.F) {
	record := Handle{"cin_a1", "entries", "ent_31"}
	for _, uri := range []string{
		"", "pdpp://", recordURI, windowURI + "e30", blobURI + "e30", "file:///etc/passwd", record.URI(), Handle{"", "..", "."}.URI(), blobHandle{"cin_a1", "blb_1"}.URI(),
		blobHandle{"", "../x"}.URI(), window{record: refer(record), field: "note", q: "rent", place: selector{before: given{4, true}}}.URI(),
		window{record: refer(record), field: "note", place: selector{offset: given{4, true}, limit: given{1 << 30, true}}}.URI(),
	} {
		f.Add(uri, uint8(0))
	}
	a := newAsked(f)
	f.Fuzz(func(t *testing.T, uri string, mood uint8) {
		a.checkResource(t, uri, int(mood))
		// Also as a payload, so that the content of a URI varies, too.
		for _, prefix := range []string{recordURI, windowURI, blobURI} {
			a.checkResource(t, prefix+base64.RawURLEncoding.EncodeToString([]byte(uri)), int(mood))
		}
	})
}

// TestAnyPayload reads URIs with nearly valid members.
func TestAnyPayload(t *testing.T) {
	t.Run("HANDLE-1 any payload", func(t *testing.T) {
		a := newAsked(t)
		read := map[string]int{}
		rapid.Check(t, func(t *rapid.T) {
			prefix := rapid.SampledFrom([]string{recordURI, windowURI, blobURI}).Draw(t, "prefix")
			kind := strings.TrimSuffix(strings.TrimPrefix(prefix, "pdpp://"), "/")
			payload := []byte(`{"v":1,"kind":"` + kind + `"`)
			names := map[string][]string{
				recordURI: {"connection_id", "stream", "record_id"}, blobURI: {"connection_id", "blob_id"},
				windowURI: {"connection_id", "stream", "record_id", "field_path"},
			}[prefix]
			for _, name := range names {
				payload = appendMember(payload, name, rapid.OneOf(rapid.Just("a"), awkwardName()).Draw(t, name))
			}
			for _, n := range []string{"offset_chars", "limit_chars", "after_chars"} {
				if prefix == windowURI && rapid.IntRange(0, 3).Draw(t, n+"?") == 0 {
					payload = append(append(rawjson.AppendString(append(payload, ','), n), ':'), rapid.SampledFrom([]string{"0", "7", "-1", "1e3", "99999"}).Draw(t, n)...)
				}
			}
			if a.checkResource(t, prefix+base64.RawURLEncoding.EncodeToString(append(payload, '}')), rapid.IntRange(0, len(moods)-1).Draw(t, "mood")) {
				read[prefix]++
			}
		})
		if len(read) != 3 && !testing.Short() {
			t.Errorf("of %v only some could be read: the others test nothing", read)
		}
	})
}

// checkResource reads a URI and reports whether it led to a request.
func (a *asked) checkResource(t fatal, uri string, mood int) bool {
	t.Helper()
	a.does(moods[mood%len(moods)])
	a.sent.take()
	contents, failure := a.Surface.ReadResource(t.Context(), uri)
	sent := a.sent.take()
	if failure == nil {
		for _, c := range contents {
			if c.URI != uri || c.MimeType == "" || !utf8.ValidString(c.Text) {
				t.Fatalf("RES-1 %q gives %+v", uri, c)
			}
		}
		if len(contents) == 0 || len(sent) == 0 {
			t.Fatalf("RES-1 %q gives %d contents after %q", uri, len(contents), sent)
		}
		return true
	}
	var data struct{ Code, Message string }
	if err := json.Unmarshal(failure.Data, &data); err != nil || data.Code == "" || data.Code == "internal_error" || failure.Message == "" {
		t.Fatalf("MS-204 %q: %v, %s", uri, err, failure.Data)
	}
	if failure.Kind == ResourceInvalid && len(sent) > 0 {
		t.Fatalf("MS-204 %q is invalid, and %q was sent", uri, sent)
	}
	return len(sent) > 0
}
