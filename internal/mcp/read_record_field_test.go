package mcp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pdpp/internal/mcp/limits"
	"pdpp/internal/mcp/quote"
)

// shownWindow returns a window as a client reads it that sees only the text.
func shownWindow(t testing.TB, res *Result) (text string) {
	t.Helper()
	lines := strings.Split(res.Content[0].Text, "\n")
	quoted, ok := strings.CutPrefix(lines[len(lines)-1], "text=")
	if !ok || json.Unmarshal([]byte(quoted), &text) != nil {
		t.Fatalf("MS-175 the last line is %q", lines[len(lines)-1])
	}
	return text
}

func TestWindowText(t *testing.T) {
	d := newDrawer(t, wholeCabinet, filed("long", `"title":"A letter","body":`+jsonText(letter(9120))),
		filed("a/b", `"body":"short"`), filed("nested", `"meta":{"b":[1,2,{"c":"d"}],"big":12345678901234567890.10}`))
	tests := map[string]string{
		"window_first.txt":  `{"id":"cin_c1/items:long","field_path":"body","limit_chars":40}`,
		"window_middle.txt": `{"connection_id":"cin_c1","stream":"items","record_id":"long","field_path":"body","offset_chars":100,"limit_chars":30}`,
		"window_last.txt":   `{"id":"cin_c1/items:long","field_path":"body","cursor":"9100"}`,
		"window_match.txt":  `{"id":"items:long","field_path":"body","q":"zeile 99:","before_chars":5,"after_chars":10}`,
		"window_whole.txt":  `{"id":"` + Handle{"cin_c1", "items", "a/b"}.URI() + `","field_path":"body"}`,
		"window_past.txt":   `{"id":"cin_c1/items:long","field_path":"body","offset_chars":99999}`,
		"window_json.txt":   `{"id":"cin_c1/items:nested","field_path":"meta","limit_chars":20}`,
	}
	for name, args := range tests {
		res := mustDo(t, d.Surface, "read_record_field", args)
		var out strings.Builder
		for _, b := range res.Content {
			if b.Link != nil {
				fmt.Fprintf(&out, "link %+v\n", *b.Link)
			} else {
				fmt.Fprintln(&out, b.Text)
			}
		}
		fmt.Fprintf(&out, "%s\n", res.Structured)
		golden(t, name, d.steady(out.String()))
		if got, want := shownWindow(t, res), find(t, res.Structured, "window.text"); got != want {
			t.Errorf("%s: text %q, structured %q", name, got, want)
		}
	}
}

// TestFollowNext: a client that only follows the lines of the text reads the field exactly,
// forwards and backwards.
func TestFollowNext(t *testing.T) {
	t.Run("FIELD-1 follow next", func(t *testing.T) {
		want := letter(9120)
		d := newDrawer(t, wholeCabinet, filed("long", `"body":`+jsonText(want)))
		res := mustDo(t, d.Surface, "read_record_field", `{"id":"items:long","field_path":"body","limit_chars":1000}`)
		got := shownWindow(t, res)
		for n := 0; ; n++ {
			args := callOf(res.Content[0].Text, "next:", "read_record_field")
			if args == "" || n > 20 {
				break
			}
			res = mustDo(t, d.Surface, "read_record_field", args)
			got += shownWindow(t, res)
		}
		if got != want {
			t.Fatalf("the windows give %d characters, want %d", quote.Count(got), quote.Count(want))
		}
		got = shownWindow(t, res)
		for n := 0; n < 20; n++ {
			args := callOf(res.Content[0].Text, "previous:", "read_record_field")
			if args == "" {
				break
			}
			res = mustDo(t, d.Surface, "read_record_field", args)
			got = shownWindow(t, res) + got
		}
		if got != want {
			t.Fatalf("backwards the windows give %d characters, want %d", quote.Count(got), quote.Count(want))
		}
	})
}

// TestCursors: next_cursor of the structured output reads on with the same
// arguments.
func TestCursors(t *testing.T) {
	t.Run("FIELD-1 cursors", func(t *testing.T) {
		want := letter(700)
		d := newDrawer(t, wholeCabinet, filed("long", `"body":`+jsonText(want)))
		got, cursor := "", ""
		for range 8 {
			args := `{"id":"cin_c1/items:long","field_path":"body","limit_chars":100` + cursor + `}`
			sc := mustDo(t, d.Surface, "read_record_field", args).Structured
			got += find(t, sc, "window.text").(string)
			next, ok := find(t, sc, "window.next_cursor").(string)
			if !ok {
				break
			}
			cursor = `,"cursor":` + jsonText(next)
		}
		if got != want {
			t.Errorf("the cursors give %q, want %q", got, want)
		}
	})
}

// TestWindowArithmetic: any window has the characters that it states, and text and structured
// output agree.
func TestWindowArithmetic(t *testing.T) {
	want := []rune(letter(500))
	d := newDrawer(t, wholeCabinet, filed("long", `"body":`+jsonText(string(want))))
	rapid.Check(t, func(rt *rapid.T) {
		offset, limit := rapid.IntRange(0, 600).Draw(rt, "offset"), rapid.IntRange(1, 600).Draw(rt, "limit")
		res := mustDo(t, d.Surface, "read_record_field", fmt.Sprintf(`{"id":"items:long","field_path":"body","offset_chars":%d,"limit_chars":%d}`, offset, limit))
		start := min(offset, len(want))
		end := min(start+limit, len(want))
		if got := shownWindow(t, res); got != string(want[start:end]) {
			rt.Fatalf("%d+%d gives %q", offset, limit, got)
		}
		state := "complete=false"
		if end == 500 {
			state = map[bool]string{true: "complete=true", false: "end=true"}[start == 0]
		}
		head := fmt.Sprintf("chars=%d..%d total=500 %s", start, end, state)
		if past := strings.Contains(res.Content[0].Text, fmt.Sprintf("\nnothing here: offset %d is past the end\n", offset)); past != (offset >= 500) {
			rt.Fatalf("past the end: %t at %d", past, offset)
		}
		if first, _, _ := strings.Cut(res.Content[0].Text, "\n"); !strings.Contains(first, head) {
			rt.Fatalf("header %q, want %q", first, head)
		}
		if got := callOf(res.Content[0].Text, "next:", "read_record_field") != ""; got != (end < 500) {
			rt.Fatalf("a next line: %t, the window ends at %d", got, end)
		}
		if got := callOf(res.Content[0].Text, "previous:", "read_record_field") != ""; got != (start > 0) {
			rt.Fatalf("a previous line: %t, the window starts at %d", got, start)
		}
	})
}

func TestExclusiveSelectors(t *testing.T) {
	t.Run("FIELD-2 exclusive selectors", func(t *testing.T) {
		d := newDrawer(t, wholeCabinet)
		const id = `"id":"cin_c1/items:x","field_path":"body"`
		tests := []struct{ args, param, says string }{
			{`{` + id + `,"cursor":"5","offset_chars":1}`, "cursor", "`cursor` continues a window and is exclusive with `offset_chars` and `q`"},
			{`{` + id + `,"cursor":"5","q":"a"}`, "cursor", "`cursor` continues a window and is exclusive with `offset_chars` and `q`"},
			{`{` + id + `,"cursor":"5."}`, "cursor", "cursor must be a value returned by this tool"},
			{`{` + id + `,"cursor":"5.1.2"}`, "cursor", "cursor must be a value returned by this tool"},
			{`{` + id + `,"before_chars":1}`, "before_chars", "`before_chars` and `after_chars` require `q`"},
			{`{` + id + `,"after_chars":1,"offset_chars":1}`, "after_chars", "`before_chars` and `after_chars` require `q`"},
			{`{` + id + `,"stream":"items"}`, "id", "Send either `id` or `stream` and `record_id`, not both"},
			{`{` + id + `,"connection_id":"cin_c1","record_id":"x"}`, "id", "Send either `id` or `stream` and `record_id`, not both"},
			{`{"field_path":"body"}`, "id", "requires `id` + `field_path` or `connection_id` + `stream` + `record_id` + `field_path`"},
			{`{"field_path":"body","stream":"items","record_id":"x"}`, "id", "requires `id` + `field_path` or `connection_id` + `stream` + `record_id` + `field_path`"},
			{`{` + id + `,"cursor":"-1"}`, "cursor", "cursor must be a value returned by this tool"},
			{`{` + id + `,"cursor":"+1"}`, "cursor", "cursor must be a value returned by this tool"},
			{`{` + id + `,"cursor":"0x10"}`, "cursor", "cursor must be a value returned by this tool"},
			{`{` + id + `,"cursor":"1234567890123456"}`, "cursor", "cursor must be a value returned by this tool"},
		}
		for _, tt := range tests {
			res := mustFail(t, d.Surface, "read_record_field", tt.args, "invalid_field_window_selector")
			if !strings.Contains(res.Content[0].Text, tt.says) || find(t, res.Structured, "error.param") != tt.param {
				t.Errorf("%s: %s", tt.args, res.Content[0].Text)
			}
		}
		for args, code := range map[string]string{
			`{"id":"cin_c1/items","field_path":"body"}`: "invalid_id",
			`{"id":"","field_path":"body"}`:             "invalid_argument",
			`{` + id + `,"connection_id":"cin_c2"}`:     "conflicting_connection_id",
			`{"id":"items:x"}`:                          "invalid_argument",
			`{` + id + `,"limit_chars":16385}`:          "invalid_argument",
			`{` + id + `,"limit_chars":0}`:              "invalid_argument",
			`{` + id + `,"offset_chars":"1"}`:           "invalid_argument",
			`{` + id + `,"q":"a","before_chars":8193}`:  "invalid_argument",
			`{` + id + `,"fields":["body"]}`:            "invalid_argument",

			`{"connection_id":"cin_c1","stream":"a/b","record_id":"x","field_path":"body"}`:       "invalid_name",
			`{"connection_id":"cin_c1","stream":"items","record_id":"..","field_path":"body"}`:    "invalid_name",
			`{"connection_id":"cin_c1","stream":"items","record_id":"x","field_path":"a\u0000b"}`: "invalid_name",
			`{"connection_id":"c\u0000","stream":"items","record_id":"x","field_path":"body"}`:    "invalid_name",
		} {
			mustFail(t, d.Surface, "read_record_field", args, code)
		}
		if sent := d.sent.take(); sent != nil {
			t.Errorf("MS-44 requests were sent: %q", sent)
		}
	})
}

// TestWindowRequests: one request per window, which the server cuts; absent arguments are not
// sent.
func TestWindowRequests(t *testing.T) {
	t.Run("BOUND-1 window requests", func(t *testing.T) {
		d := newDrawer(t, wholeCabinet, filed("a/b", `"body":"short","meta":{"a":1}`))
		uri := Handle{"cin_c1", "items", "a/b"}.URI()
		const route = "/v1/streams/items/records/a%2Fb/field-window?"
		tests := map[string][]string{
			`{"id":"` + uri + `","field_path":"body"}`: {route + "field=body&connection_id=cin_c1"},
			`{"id":"` + uri + `","field_path":"body","cursor":"0007","limit_chars":5}`: {
				route + "field=body&offset_chars=7&limit_chars=5&connection_id=cin_c1",
			},
			`{"id":"` + uri + `","field_path":"body","q":"SHORT","before_chars":0,"after_chars":9}`: {
				route + "field=body&q=SHORT&before_chars=0&after_chars=9&connection_id=cin_c1",
			},
			`{"id":"` + Handle{"", "items", "a/b"}.URI() + `","field_path":"meta"}`: {route + "field=meta", route + "field=meta&as=json"},
		}
		for args, want := range tests {
			mustDo(t, d.Surface, "read_record_field", args)
			if diff := cmp.Diff(want, d.sent.take()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", args, diff)
			}
		}
	})
}

// TestAmbiguousWindow: the server refuses a legacy id that is in several connections; the text
// lists them.
func TestAmbiguousWindow(t *testing.T) {
	t.Run("ID-3 ambiguous window", func(t *testing.T) {
		d := newDrawer(t, wholeCabinet, filed("x", `"body":"left"`))
		d.Ingest("cin_c2", "items", filed("x", `"body":"right"`))
		res := mustFail(t, d.Surface, "read_record_field", `{"id":"items:x","field_path":"body"}`, "ambiguous_connection")
		for _, want := range []string{"(HTTP 409)", `connection "cin_c1"`, `connection "cin_c2"`} {
			if !strings.Contains(res.Content[0].Text, want) {
				t.Errorf("%q is not in %s", want, res.Content[0].Text)
			}
		}
		res = mustDo(t, d.Surface, "read_record_field", `{"id":"cin_c2/items:x","field_path":"body"}`)
		if got := shownWindow(t, res); got != "right" {
			t.Errorf("cin_c2 has %q", got)
		}
	})
}

// TestWindowsAuthorizeNothing: handles outside the grant fail with the error of the server,
// through the tool and as resources.
func TestWindowsAuthorizeNothing(t *testing.T) {
	t.Run("HANDLE-1 windows authorize nothing", func(t *testing.T) {
		d := newDrawer(t, wholeCabinet, filed("x", `"body":"secret words","title":"T","author":"Ada"`))
		res := mustDo(t, d.Surface, "read_record_field", `{"id":"cin_c1/items:x","field_path":"body"}`)
		uri := find(t, res.Structured, "resource.uri").(string)
		d.as(`{"source":{"connector_key":"cabinet"},"streams":[{"name":"items","fields":["id","title"]}]}`)
		res = mustFail(t, d.Surface, "read_record_field", `{"id":"cin_c1/items:x","field_path":"body"}`, "field_not_granted")
		if next := callOf(res.Content[0].Text, "next:", "schema"); next != `{"stream":"items","connection_id":"cin_c1"}` {
			t.Errorf("MS-49 next: %q in %s", next, res.Content[0].Text)
		}
		_, failure := d.ReadResource(t.Context(), uri)
		if failure == nil || failure.Kind != ResourceRefused || find(t, failure.Data, "code") != "field_not_granted" {
			t.Fatalf("ReadResource: %+v", failure)
		}
		if find(t, failure.Data, "http_status") != json.Number("403") || strings.Contains(string(failure.Data), "secret words") {
			t.Errorf("MS-204 data %s", failure.Data)
		}
	})
}

func TestWindowErrors(t *testing.T) {
	d := newDrawer(t, wholeCabinet, filed("x", `"body":"words","scan":null`))
	tests := []struct{ args, code string }{
		{`{"id":"cin_c1/items:none","field_path":"body"}`, "not_found"},
		{`{"id":"cin_c1/items:x","field_path":"title"}`, "field_not_found"},
		{`{"id":"cin_c1/items:x","field_path":"nothing"}`, "unknown_field"},
		{`{"id":"cin_c1/items:x","field_path":"body","q":"absent"}`, "query_not_found"},
		{`{"id":"cin_c9/items:x","field_path":"body"}`, "connection_not_found"},
	}
	for _, tt := range tests {
		res := mustFail(t, d.Surface, "read_record_field", tt.args, tt.code)
		if n := len(res.Content[0].Text); n > limits.ErrorTextMax {
			t.Errorf("%s: %d bytes of text", tt.args, n)
		}
	}
}

// TestWindowOfOtherServers: a server without the route, one with another answer, and one that
// states less about the record.
func TestWindowOfOtherServers(t *testing.T) {
	var body string
	status := http.StatusOK
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(srv.Close)
	s := surface(t, srv.URL, "t", &requests{})
	const args = `{"id":"s:r","field_path":"f"}`
	status, body = 404, `{"error":"no such route"}`
	res := mustFail(t, s, "read_record_field", args, "http_404")
	if got := callOf(res.Content[0].Text, "next:", "fetch"); got != `{"id":"s:r","fields":["f"]}` {
		t.Errorf("MS-172 next: %q in %s", got, res.Content[0].Text)
	}
	status = 200
	for _, body = range []string{`{"data":{}}`, `{"window":{"text":1}}`, `{"window":{"text":"x","start_chars":5,"end_chars":1}}`} {
		mustFail(t, s, "read_record_field", args, "upstream_invalid")
	}
	body = `{"window": {"text":"abc", "start_chars":0, "end_chars":3, "total_chars":null, "complete":false, "extra":1.50, "next_offset_chars":3}}`
	res = mustDo(t, s, "read_record_field", args)
	want := `field window record="s:r" field="f" chars=0..3 complete=false next_cursor="3"` + "\n" +
		`next: read_record_field {"id":"s:r","field_path":"f","offset_chars":3,"limit_chars":4096}` + "\n" + `text="abc"`
	if got := res.Content[0].Text; got != want {
		t.Errorf("text %s, want %s", got, want)
	}
	if !strings.Contains(string(res.Structured), `"extra":1.50`) {
		t.Errorf("MS-36 structured %s", res.Structured)
	}
}

// TestWindowBeside: when the id cannot contain the connection, calls name the parts.
func TestWindowBeside(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"stream":"s","record_id":"r","connection_id":%q,"field":{"path":"f","type":"string","as":"text"},`+
			`"window":{"text":"abc","start_chars":0,"end_chars":3,"total_chars":9,"limit_chars":3,"complete":false,"next_offset_chars":3}}`,
			r.URL.Query().Get("connection_id"))
	}))
	t.Cleanup(srv.Close)
	sent := &requests{}
	s := surface(t, srv.URL, "t", sent)
	res := mustDo(t, s, "read_record_field", `{"connection_id":"a/b","stream":"s","record_id":"r","field_path":"f"}`)
	next := callOf(res.Content[0].Text, "next:", "read_record_field")
	want := `{"connection_id":"a/b","stream":"s","record_id":"r","field_path":"f","offset_chars":3,"limit_chars":3}`
	if next != want || !strings.Contains(res.Content[0].Text, `record="s:r" connection_id="a/b"`) {
		t.Errorf("next: %s in %s", next, res.Content[0].Text)
	}
	mustDo(t, s, "read_record_field", next)
	if got, want := sent.take()[1], "connection_id="+url.QueryEscape("a/b"); !strings.HasSuffix(got, want) {
		t.Errorf("sent %s, want %s", got, want)
	}
}

// TestDeclared: the tool is listed with the fixed input; that its output fits
// the output schema is checked with every call of these tests.
func TestDeclared(t *testing.T) {
	t.Run("FIELD-3 declared", func(t *testing.T) {
		var input struct {
			Required             []string
			Properties           map[string]json.RawMessage
			AdditionalProperties *bool
		}
		if err := json.Unmarshal(tools.Lookup("read_record_field").args.schema(), &input); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"id", "connection_id", "stream", "record_id", "field_path", "cursor", "offset_chars", "limit_chars", "q", "before_chars", "after_chars"} {
			if input.Properties[name] == nil {
				t.Errorf("%s is not declared", name)
			}
		}
		if len(input.Properties) != 11 || !cmp.Equal(input.Required, []string{"field_path"}) || input.AdditionalProperties == nil || *input.AdditionalProperties {
			t.Errorf("MS-170 %+v", input)
		}
	})
}
