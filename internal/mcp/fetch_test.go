package mcp

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pdpp/internal/evidence"
	"pdpp/internal/mcp/limits"
	"pdpp/internal/mcp/quote"
	"pdpp/internal/rawjson"
)

// readable returns a fetch result for a golden file: the document with one member per line,
// the card, the links.
func (d *drawer) readable(t testing.TB, res *Result) string {
	t.Helper()
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(res.Structured, &doc); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, name := range []string{"id", "title", "text", "url"} {
		fmt.Fprintf(&b, "%s %s\n", name, doc[name])
	}
	b.WriteString("metadata\n")
	for name, value := range orderedMembers(doc["metadata"]) {
		fmt.Fprintf(&b, "  %s %s\n", name, value)
	}
	fmt.Fprintf(&b, "--- card\n%s\n--- links\n", res.Content[1].Text)
	for _, block := range res.Content[2:] {
		fmt.Fprintf(&b, "%+v\n", *block.Link)
	}
	return d.steady(b.String())
}

// checkDocument checks the rules for every document (D2, MS-143, MS-146).
func checkDocument(t testing.TB, res *Result) {
	t.Helper()
	var names []string
	for name := range orderedMembers(res.Structured) {
		names = append(names, name)
	}
	if diff := cmp.Diff([]string{"id", "title", "text", "url", "metadata"}, names); diff != "" {
		t.Errorf("PROJ-1 members (-want +got):\n%s", diff)
	}
	if len(res.Content) < 2 || res.Content[0].Text != string(res.Structured) {
		t.Fatalf("MS-146 content[0] differs from the structured output")
	}
	text := find(t, res.Structured, "text").(string)
	if len(text) > limits.DocTextMax {
		t.Errorf("MS-145 the text has %d bytes", len(text))
	}
	if n := len(res.Structured) - (len(quote.ID(text)) - len(text)); n > limits.FetchMax {
		t.Errorf("FETCH_MAX the document has %d bytes", n)
	}
	if n := len(res.Content[1].Text); n > limits.CardMax && len(find(t, res.Structured, "id").(string)) <= 128 {
		t.Errorf("MS-146 the card has %d bytes:\n%s", n, res.Content[1].Text)
	}
	if n := len(res.Content) - 2; n > 3 {
		t.Errorf("MS-147 %d links", n)
	}
}

const photo = `{"blob_id":"blob_7","mime_type":"image/png","size_bytes":48213,"sha256":"9f2c4a0e9f2c4a0e9f2c4a0e9f2c4a0e9f2c4a0e9f2c4a0e9f2c4a0e9f2c4a0e"}`

// noise returns a base64 text.
func noise(n int) string {
	var b []byte
	for i := 0; len(b) < n; i++ {
		sum := sha256.Sum256([]byte{byte(i), byte(i >> 8)})
		b = append(b, sum[:]...)
	}
	return base64.StdEncoding.EncodeToString(b[:n])
}

// filledDrawer has one record for each golden file.
func filledDrawer(t *testing.T) *drawer {
	d := newDrawer(t, wholeCabinet,
		filed("role", `"title":"April rent","body":"Paid by standing order, see the letter from the bank.","author":"Ada","price":-1200.50,"at":"2026-04-30T09:00:00Z","meta":{"tags":["a","b"],"n":12345678901234567890}`),
		filed("rendered", `"price":1e2,"done":false,"day":"2026-01-11","meta":{"tags":["a"]},"a.b":"line one\nline two","author":null`),
		filed("long", `"title":"A letter","body":`+jsonText(letter(70_000))+`,"mixed":`+jsonText(letter(500))),
		filed("binary", `"title":"Two photos","body":"See the scan.","scan":`+photo+`,"pages":[{"blob_id":"p 1"},{"blob_id":"p2","mime_type":"image/jpeg"}],"mixed":"`+noise(3000)+`"`),
		filed("parent", `"title":"With notes","body":"Body.","at":"2026-01-01T00:00:00Z"`),
		filed("a/b", `"title":"Awkward","body":"Body."`))
	note := func(id, text string) string {
		return fmt.Sprintf(`{"key":%q,"data":{"id":%[1]q,"item_id":"parent","text":%s,"written_at":"2026-02-01T00:00:00Z"}}`, id, jsonText(text))
	}
	d.Ingest("cin_c1", "notes", note("n1", "first"), note("n2", letter(900)), note("n3", "third"))
	d.Ingest("cin_c1", "covers", `{"key":"cv","data":{"id":"cv","item_id":"parent","color":"red"}}`)
	return d
}

// TestDocuments compares whole results with golden files.
func TestDocuments(t *testing.T) {
	t.Run("PROJ-1 documents", func(t *testing.T) {
		d := filledDrawer(t)
		tests := map[string]string{
			"fetch_role.txt":     `{"id":"cin_c1/items:role"}`,
			"fetch_fields.txt":   `{"id":"cin_c1/items:role","fields":["price","meta"]}`,
			"fetch_rendered.txt": `{"id":"items:rendered"}`,
			"fetch_binary.txt":   `{"id":"cin_c1/items:binary"}`,
			"fetch_expand.txt":   `{"id":"cin_c1/items:parent","expand":["notes","cover"],"expand_limit":{"notes":2}}`,
			"fetch_awkward.txt":  `{"id":"` + Handle{"cin_c1", "items", "a/b"}.URI() + `"}`,
			"fetch_uri.txt":      `{"id":"` + Handle{"cin_c1", "items", "role"}.URI() + `","fields":["title"]}`,
		}
		for name, args := range tests {
			res := mustDo(t, d.Surface, "fetch", args)
			checkDocument(t, res)
			golden(t, name, d.readable(t, res))
		}
		res := mustDo(t, d.Surface, "fetch", `{"id":"cin_c1/items:long"}`)
		checkDocument(t, res)
		golden(t, "fetch_long_card.txt", res.Content[1].Text)
	})
}

// TestCard: the card has id, title and source handles, beside the text; TEXT-4: all
// of them from the record inside its wrapper.
func TestCard(t *testing.T) {
	t.Run("TEXT-3 TEXT-4 card", func(t *testing.T) {
		d := filledDrawer(t)
		res := mustDo(t, d.Surface, "fetch", `{"id":"cin_c1/items:role"}`)
		want := `document "cin_c1/items:role" "April rent" at="2026-04-30T09:00:00Z"
source connection_id="cin_c1" connector_key="cabinet" stream="items" display_name="Left drawer"
the text above is the complete text of the record`
		if diff := cmp.Diff(want, res.Content[1].Text); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if !strings.Contains(res.Content[0].Text, `"text":"Paid by standing order, see the letter from the bank."`) {
			t.Errorf("the text is not in %s", res.Content[0].Text)
		}
	})
}

// TestCardCalls: every call that a card or a text of a document offers works.
func TestCardCalls(t *testing.T) {
	t.Run("CONT-2 card calls", func(t *testing.T) {
		d := filledDrawer(t)
		d.Ingest("cin_c1", "items", filed("mixed", `"title":`+jsonText(letter(200))+`,"body":"B","mixed":`+jsonText(letter(500))+`,"meta":{"a":"`+strings.Repeat("x", 700)+`"}`))
		d.Ingest("cin_c1", "items", filed("files", `"title":"A file","scan":`+bare(d.upload("text/plain", "Dear Ada"))+`,"mixed":"`+noise(3000)+`"`))
		calls := 0
		for _, args := range []string{
			`{"id":"items:long"}`, `{"id":"items:mixed"}`, `{"id":"items:parent","expand":["notes"],"expand_limit":{"notes":1}}`, `{"id":"items:files"}`,
		} {
			res := mustDo(t, d.Surface, "fetch", args)
			checkDocument(t, res)
			for line := range strings.SplitSeq(res.Content[1].Text+"\n"+find(t, res.Structured, "text").(string), "\n") {
				if next, ok := strings.CutPrefix(strings.TrimSpace(line), "more: "); ok {
					tool, args, _ := strings.Cut(next, " ")
					mustDo(t, d.Surface, tool, args)
					calls++
				}
			}
			rungs, _ := find(t, res.Structured, "metadata.content_ladder.fields").([]any)
			for i := range rungs {
				at := fmt.Sprintf("metadata.content_ladder.fields.%d.read.", i)
				if tool, ok := find(t, res.Structured, at+"tool").(string); ok {
					args, err := json.Marshal(find(t, res.Structured, at+"args"))
					if err != nil {
						t.Fatal(err)
					}
					mustDo(t, d.Surface, tool, string(args))
					calls++
				}
			}
		}
		if calls < 10 {
			t.Errorf("only %d calls are offered", calls)
		}
	})
}

// TestLongDocument: a text of 200 KB can be read to its end by following the calls of the
// results, in their text and in the ladder.
func TestLongDocument(t *testing.T) {
	t.Run("GPT-2 long document", func(t *testing.T) {
		for _, want := range []string{strings.Repeat("0123456789 abcdef\n", 200<<10/18), letter(120_000), strings.Repeat("😀", 50_000)} {
			d := newDrawer(t, wholeCabinet, filed("long", `"body":`+jsonText(want)))
			doc := mustDo(t, d.Surface, "fetch", `{"id":"cin_c1/items:long"}`)
			checkDocument(t, doc)
			head := find(t, doc.Structured, "text").(string)
			total := json.Number(fmt.Sprint(quote.Count(want)))
			if find(t, doc.Structured, "metadata.text_truncated") != true || find(t, doc.Structured, "metadata.text_total_chars") != total {
				t.Errorf("MS-145 metadata of a text of %s characters: %.500s", total, doc.Structured[len(doc.Structured)-500:])
			}
			if sent := rawjson.StringLen(string(quote.AppendText(nil, head))); len(head) < limits.DocTextMax-4 && sent < limits.SentTextMax*9/10 {
				t.Errorf("MS-145 only %d bytes are inline", len(head))
			}
			args, err := json.Marshal(find(t, doc.Structured, "metadata.content_ladder.fields.0.read.args"))
			if err != nil {
				t.Fatal(err)
			}
			for how, next := range map[string]string{"card": callOf(doc.Content[1].Text, "more:", "read_record_field"), "ladder": string(args)} {
				got := head
				for n := 0; next != "" && n < 100; n++ {
					res := mustDo(t, d.Surface, "read_record_field", next)
					got += shownWindow(t, res)
					next = callOf(res.Content[0].Text, "next:", "read_record_field")
				}
				if got != want {
					t.Errorf("by the %s: %d characters, want %s", how, quote.Count(got), total)
				}
			}
		}
	})
}

// TestWholeInline: a text that fits the inline limit exactly is whole.
func TestWholeInline(t *testing.T) {
	t.Run("LINK-2 whole inline", func(t *testing.T) {
		for _, n := range []int{1, limits.DocTextMax - 1, limits.DocTextMax} {
			want := strings.Repeat("a b", n)[:n]
			d := newDrawer(t, wholeCabinet, filed("x", `"title":"T","body":`+jsonText(want)))
			res := mustDo(t, d.Surface, "fetch", `{"id":"items:x"}`)
			checkDocument(t, res)
			if find(t, res.Structured, "text") != want || find(t, res.Structured, "metadata.text_truncated") != nil ||
				find(t, res.Structured, "metadata.content_ladder") != nil || !strings.Contains(res.Content[1].Text, "\nthe text above is the complete text of the record") {
				t.Errorf("%d bytes: %.300s\n%s", n, res.Structured[len(res.Structured)-300:], res.Content[1].Text)
			}
		}
	})
}

// TestOnlyRequestedFields: fields that were not requested appear nowhere, even when the
// server sends them.
func TestOnlyRequestedFields(t *testing.T) {
	t.Run("PROJ-2 only requested fields", func(t *testing.T) {
		d := filledDrawer(t)
		res := mustDo(t, d.Surface, "fetch", `{"id":"cin_c1/items:role","fields":["price"]}`)
		checkDocument(t, res)
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"object":"record","id":"role","stream":"items","connection_id":"cin_c1","title":"April rent","sent_at":"2020-01-01T00:00:00Z",`+
				`"data":{"price":7,"title":"April rent","body":"Paid by standing order","meta":{"tags":["a"]},"scan":`+photo+`},`+
				`"truncated_fields":{"body":{"total_chars":900,"shown_chars":22}},`+
				`"meta":{"presentation":{"cabinet/items":{"roles":{"primary-title":["title"],"primary-text":["body"]}}}}}`)
		}))
		t.Cleanup(srv.Close)
		other := mustDo(t, surface(t, srv.URL, "t", &requests{}), "fetch", `{"id":"cin_c1/items:role","fields":["price"]}`)
		checkDocument(t, other)
		for _, res := range []*Result{res, other} {
			for _, block := range res.Content {
				for _, secret := range []string{"April rent", "standing order", "Ada", "tags", "blob_7", "2020-01-01", "body", "scan"} {
					if strings.Contains(block.Text, secret) {
						t.Errorf("%q is in %s", secret, block.Text)
					}
				}
			}
			for path, want := range map[string]string{"stream": "items", "record_id": "role", "connection_id": "cin_c1"} {
				if got := find(t, res.Structured, "metadata."+path); got != want {
					t.Errorf("metadata.%s is %v, want %s", path, got, want)
				}
			}
		}
	})
}

// TestNoBytesInText: no block has base64 or the content of files, but facts and calls.
func TestNoBytesInText(t *testing.T) {
	t.Run("BINARY-1 no bytes in text", func(t *testing.T) {
		d := filledDrawer(t)
		for _, args := range []string{`{"id":"cin_c1/items:binary"}`, `{"id":"cin_c1/items:binary","fields":["mixed","scan","pages"]}`} {
			res := mustDo(t, d.Surface, "fetch", args)
			checkDocument(t, res)
			all := res.Content[0].Text + res.Content[1].Text
			if strings.Contains(all, noise(3000)[:40]) {
				t.Errorf("%s: base64 is in the text", args)
			}
			for _, want := range []string{
				`"field_path":"scan"`, `"mime_type":"image/png"`, `"size_bytes":48213`, `"sha256":"9f2c4a0e`, `"export":"GET /v1/blobs/blob_7"`,
				`"blob_id":"p 1"`, `"export":"GET /v1/blobs/p%201"`, `"kind":"base64_text"`,
				`"url":"` + d.URL + `/v1/blobs/blob_7?connection_id=cin_c1"`,
			} {
				if !strings.Contains(res.Content[0].Text, want) {
					t.Errorf("%s: %s is not in %s", args, want, res.Content[0].Text)
				}
			}
			if !strings.Contains(res.Content[1].Text, `binary "scan" {"mime_type":"image/png","size_bytes":48213,"sha256":"9f2c4a0e`) {
				t.Errorf("MS-146 card %s", res.Content[1].Text)
			}
		}
	})
}

// TestHandleFromText: an id taken from a text is enough on an ambiguous grant.
func TestHandleFromText(t *testing.T) {
	t.Run("ID-2 handle from text", func(t *testing.T) {
		d := newDrawer(t, wholeCabinet, filed("x", `"title":"Left"`))
		d.Ingest("cin_c2", "items", filed("x", `"title":"Right"`))
		res := mustDo(t, d.Surface, "fetch", `{"id":"cin_c2/items:x"}`)
		if find(t, res.Structured, "title") != "Right" || find(t, res.Structured, "id") != "cin_c2/items:x" {
			t.Errorf("%s", res.Structured)
		}
		want := []string{"/v1/streams/items/records/x?connection_id=cin_c2 Prefer: pdpp-field-preview=65536"}
		if diff := cmp.Diff(want, d.sent.take()); diff != "" {
			t.Errorf("MS-142 (-want +got):\n%s", diff)
		}
	})
}

func TestLegacyFetch(t *testing.T) {
	t.Run("ID-3 legacy fetch", func(t *testing.T) {
		d := newDrawer(t, wholeCabinet, filed("x", `"title":"Left"`))
		d.Ingest("cin_c2", "items", filed("x", `"title":"Right"`))
		res := mustFail(t, d.Surface, "fetch", `{"id":"items:x"}`, "ambiguous_connection")
		if find(t, res.Structured, "http_status") != json.Number("409") || !strings.Contains(res.Content[0].Text, `connection "cin_c2"`) {
			t.Errorf("%s", res.Content[0].Text)
		}
		res = mustDo(t, d.Surface, "fetch", `{"id":"items:x","connection_id":"cin_c1"}`)
		if find(t, res.Structured, "title") != "Left" || find(t, res.Structured, "id") != "items:x" || find(t, res.Structured, "metadata.connection_id") != "cin_c1" {
			t.Errorf("%s", res.Structured)
		}
	})
}

// TestConflict: conflicting and invalid arguments are refused before any request.
func TestConflict(t *testing.T) {
	t.Run("ID-4 conflict", func(t *testing.T) {
		d := newDrawer(t, wholeCabinet)
		for _, id := range []string{"cin_c1/items:x", Handle{"cin_c1", "items", "a/b"}.URI()} {
			res := mustFail(t, d.Surface, "fetch", `{"id":"`+id+`","connection_id":"cin_c2"}`, "conflicting_connection_id")
			text := res.Content[0].Text
			if find(t, res.Structured, "error.param") != "connection_id" || !strings.Contains(text, `\"cin_c1\"`) || !strings.Contains(text, `\"cin_c2\"`) ||
				callOf(text, "next:", "fetch") != `{"id":"`+id+`"}` {
				t.Errorf("ID-4 %s", text)
			}
		}
		for args, code := range map[string]string{
			`{}`:                                    "invalid_argument",
			`{"id":"items"}`:                        "invalid_id",
			`{"id":"../c/items:x"}`:                 "invalid_id",
			`{"id":"items:x","fields":[]}`:          "invalid_argument",
			`{"id":"items:x","field":"a"}`:          "invalid_argument",
			`{"id":"items:x","expand":[]}`:          "invalid_expand",
			`{"id":"items:x","expand_limit":null}`:  "invalid_expand",
			`{"id":"items:x","connection_id":5}`:    "invalid_argument",
			`{"id":"pdpp://field-window/eyJ2Ijox"}`: "invalid_id",
		} {
			mustFail(t, d.Surface, "fetch", args, code)
		}
		if sent := d.sent.take(); sent != nil {
			t.Errorf("MS-44 requests were sent: %q", sent)
		}
	})
}

func TestFetchErrors(t *testing.T) {
	d := newDrawer(t, wholeCabinet, filed("x", `"title":"T"`))
	mustFail(t, d.Surface, "fetch", `{"id":"cin_c1/items:none"}`, "not_found")
	mustFail(t, d.Surface, "fetch", `{"id":"cin_c9/items:x"}`, "connection_not_found")
	res := mustFail(t, d.Surface, "fetch", `{"id":"cin_c1/items:x","fields":["nothing"]}`, "unknown_field")
	if got := callOf(res.Content[0].Text, "next:", "schema"); got != `{"stream":"items","connection_id":"cin_c1"}` {
		t.Errorf("MS-49 %s", res.Content[0].Text)
	}
	d.as(`{"source":{"connector_key":"cabinet"},"streams":[{"name":"notes"}]}`)
	mustFail(t, d.Surface, "fetch", `{"id":"cin_c1/items:x"}`, "grant_stream_not_allowed")
}

// TestFetch: expand_limit is serialized, and the gate comes before the read.
func TestFetch(t *testing.T) {
	t.Run("EXPLIM-2 fetch", func(t *testing.T) {
		d := filledDrawer(t)
		mustDo(t, d.Surface, "fetch", `{"id":"cin_c1/items:parent","expand":["notes"],"expand_limit":{"notes":1}}`)
		want := []string{
			"/v1/schema?view=compact&stream=items&connection_id=cin_c1",
			"/v1/streams/items/records/parent?expand=notes&expand_limit%5Bnotes%5D=1&connection_id=cin_c1 Prefer: pdpp-field-preview=65536",
		}
		if diff := cmp.Diff(want, d.sent.take()); diff != "" {
			t.Errorf("MS-142 (-want +got):\n%s", diff)
		}
		for _, args := range []string{`{"id":"cin_c1/covers:cv","expand":["notes"]}`, `{"id":"cin_c1/covers:cv","expand_limit":{"notes":1}}`} {
			res := mustFail(t, d.Surface, "fetch", args, "invalid_expand")
			if !strings.Contains(res.Content[0].Text, "expand_capabilities") || !strings.Contains(res.Content[0].Text, "covers") {
				t.Errorf("GATE-2 %s", res.Content[0].Text)
			}
		}
		if sent := d.sent.take(); slices.ContainsFunc(sent, func(s string) bool { return strings.Contains(s, "/records/") }) {
			t.Errorf("GATE-2 the record was read: %q", sent)
		}
	})
}

// TestOtherServers: the adapter cuts the answers of servers that ignore preferences and
// reports it; every cut field can be read on.
func TestOtherServers(t *testing.T) {
	t.Run("OPAQUE-1 other servers", func(t *testing.T) {
		long, list := letter(80_000), "["+strings.Repeat(`{"a":"b"},`, 9000)+`1]`
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"id":"r","stream":"s","one":%s,"two":%s,"list":%s,"n":12345678901234567890.10}`, jsonText(long), jsonText(long), list)
		}))
		t.Cleanup(srv.Close)
		s := surface(t, srv.URL, "t", &requests{})
		res := mustDo(t, s, "fetch", `{"id":"s:r"}`)
		checkDocument(t, res)
		if find(t, res.Structured, "metadata.projected") != "adapter" || find(t, res.Structured, "metadata.text_source") != "rendered" {
			t.Errorf("MS-71 %.300s", res.Structured[len(res.Structured)-300:])
		}
		text := find(t, res.Structured, "text").(string)
		for _, want := range []string{"one: Zeile 0", "two: Zeile 0", "…(cut:80000)", fmt.Sprintf("list: json(cut:%d)", len(list)), "n: 12345678901234567890.10"} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in the text", want)
			}
		}
		for i, field := range []string{"one", "two", "list"} {
			entry := fmt.Sprintf("metadata.content_ladder.fields.%d.", i)
			if find(t, res.Structured, entry+"field_path") != field || find(t, res.Structured, entry+"read.tool") != "read_record_field" {
				t.Errorf("MS-145 rung %d is %v", i, find(t, res.Structured, entry+"field_path"))
			}
		}
		shown, _, _ := strings.Cut(strings.TrimPrefix(text[strings.Index(text, "two: "):], "two: "), "…(cut:")
		if got := find(t, res.Structured, "metadata.content_ladder.fields.1.read.args.offset_chars"); got != json.Number(fmt.Sprint(quote.Count(shown))) {
			t.Errorf("two continues at %v, %d characters are shown", got, quote.Count(shown))
		}
	})
}

// TestNoGuess: only the names of the document contract become title or text.
func TestNoGuess(t *testing.T) {
	t.Run("EVID-1 no guess", func(t *testing.T) {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"id":"r","stream":"s","connection_id":"c","connector_key":"https://reg.test/c/mail",`+
				`"data":{"subject":"Hi","name":"N","body":"B","sent_at":"2026-01-02T03:04:05Z","url":"javascript:alert(1)"}}`)
		}))
		t.Cleanup(srv.Close)
		res := mustDo(t, surface(t, srv.URL, "t", &requests{}), "fetch", `{"id":"s:r"}`)
		checkDocument(t, res)
		for path, want := range map[string]string{
			"title": "mail / s / 2026-01-02T03:04:05Z", "metadata.text_source": "rendered", "metadata.event_time": "2026-01-02T03:04:05Z",
			"url": srv.URL + "/v1/streams/s/records/r?connection_id=c",
		} {
			if got := find(t, res.Structured, path); got != want {
				t.Errorf("%s is %v, want %s", path, got, want)
			}
		}
	})
}

// TestNothingIsLost: every field of any record is shown, or named with a call that reads it;
// and every budget holds.
func TestNothingIsLost(t *testing.T) {
	t.Run("CONT-1 nothing is lost", func(t *testing.T) {
		var body string
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, body)
		}))
		t.Cleanup(srv.Close)
		s := surface(t, srv.URL, "t", &requests{})
		values := rapid.SampledFrom([]string{
			`1`, `true`, `"short"`, jsonText(letter(200)), jsonText(letter(300)), jsonText(letter(30_000)), jsonText(letter(70_000)), photo, `"` + noise(900) + `"`,
			`["a","b"]`, `{"a":"` + strings.Repeat("x", 600) + `"}`, `["` + strings.Repeat("y", 66_000) + `"]`, `[` + photo + `,{"blob_id":"b2"}]`, "\"bidi \u202e\"",
			`"` + strings.Repeat(`\u0001`, 20_000) + `"`,
		})
		rapid.Check(t, func(rt *rapid.T) {
			n := rapid.SampledFrom([]int{0, 1, 3, 12, 90}).Draw(rt, "fields")
			hasText := rapid.Bool().Draw(rt, "text")
			var members, names []string
			for i := range n {
				name := fmt.Sprintf("field_%d", i)
				if i == 0 && hasText {
					name = "text"
				}
				names = append(names, name)
				members = append(members, fmt.Sprintf("%q:%s", name, values.Draw(rt, name)))
			}
			id := strings.Repeat("r", rapid.SampledFrom([]int{1, 80}).Draw(rt, "id"))
			body = fmt.Sprintf(`{"id":%q,"stream":"s","connection_id":"c","display_name":%s,"data":{%s}}`, id, jsonText(letter(100)), strings.Join(members, ","))
			res := mustDo(t, s, "fetch", `{"id":"c/s:`+id+`"}`)
			checkDocument(t, res)
			for _, name := range names {
				if !strings.Contains(res.Content[0].Text, `"`+name+`"`) && !strings.Contains(res.Content[0].Text, name+": ") && name != "text" {
					rt.Fatalf("%s is nowhere: %d bytes, text source %v", name, len(res.Structured), find(t, res.Structured, "metadata.text_source"))
				}
			}
			if strings.Contains(res.Content[0].Text, noise(900)[:40]) || strings.Contains(res.Content[0].Text, "\u202e") {
				rt.Fatal("base64 or a bidirectional control is in the text")
			}
			if find(t, res.Structured, "metadata.text_truncated") == true && !strings.Contains(res.Content[1].Text, "\nmore: ") {
				rt.Fatalf("a cut text without a way on:\n%s", res.Content[1].Text)
			}
		})
	})
}

// TestFetchManyFields: a record with more fields than a document can name keeps the budgets
// and counts the others.
func TestFetchManyFields(t *testing.T) {
	for _, hasText := range []bool{false, true} {
		members := []string{`"mixed":{"a":"` + strings.Repeat("x", 600) + `"}`}
		if hasText {
			members = append(members, `"text":"Words."`)
		}
		for i := range 6000 {
			members = append(members, fmt.Sprintf(`"a_field_with_a_long_name_%d":%[1]d`, i))
		}
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"id":"r","stream":"s","data":{%s}}`, strings.Join(members, ","))
		}))
		res := mustDo(t, surface(t, srv.URL, "t", &requests{}), "fetch", `{"id":"s:r"}`)
		srv.Close()
		checkDocument(t, res)
		if !strings.Contains(string(res.Structured), `"more_fields_total":`) || !strings.Contains(res.Content[1].Text, `more: fetch {"id":"s:r","fields":["mixed","a_field_with_a_long_name_`) {
			t.Errorf("%.300s\n%s", res.Structured[len(res.Structured)-300:], res.Content[1].Text)
		}
	}
}

// TestFetchManyChildren: expanded records share a quarter of the text at least, and
// those that are not shown can be listed.
func TestFetchManyChildren(t *testing.T) {
	var children []string
	for i := range 400 {
		children = append(children, fmt.Sprintf(`{"id":"child_%d","stream":"notes","connection_id":"c","data":{"title":%s,"text":%s}}`, i, jsonText(letter(90)), jsonText(letter(400))))
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/v1/schema" {
			http.Error(w, `{}`, http.StatusNotFound)
			return
		}
		fmt.Fprintf(w, `{"id":"r","stream":"s","connection_id":"c","data":{"text":%s},"expanded":{"notes":{"data":[%s],"has_more":false}}}`,
			jsonText(letter(90_000)), strings.Join(children, ","))
	}))
	t.Cleanup(srv.Close)
	res := mustDo(t, surface(t, srv.URL, "t", &requests{}), "fetch", `{"id":"c/s:r","expand":["notes"]}`)
	checkDocument(t, res)
	text := find(t, res.Structured, "text").(string)
	body, relations, _ := strings.Cut(text, "\n\nnotes (400 records)\n")
	if len(relations) > limits.DocTextMax/4 || len(relations) < limits.DocTextMax/8 || !strings.Contains(relations, `1. "c/notes:child_0"`) ||
		!strings.Contains(relations, "\nnot shown: ") || !strings.HasSuffix(relations, `; more: query_records {"stream":"notes","connection_id":"c"}`) {
		t.Errorf("%d bytes of relations: %.300s … %s", len(relations), relations, relations[len(relations)-200:])
	}
	if got := find(t, res.Structured, "metadata.content_ladder.fields.0.read.args.offset_chars"); got != json.Number(fmt.Sprint(quote.Count(body))) {
		t.Errorf("the text continues at %v, %d characters are shown", got, quote.Count(body))
	}
}

// TestNothingHidden: no block of text and no name of a link has hidden or reordering
// characters.
func TestNothingHidden(t *testing.T) {
	t.Run("MS-145 hidden characters are escapes in every block", func(t *testing.T) {
		d := newDrawer(t, wholeCabinet, filed("a\u202eb", `"title":"T\u202e","body":`+jsonText(letter(70_000))+`,"scan":{"blob_id":"b\u202e1","mime_type":"image/\u202epng"}`))
		res := mustDo(t, d.Surface, "fetch", `{"id":"cin_c1/items:a\u202eb"}`)
		checkDocument(t, res)
		for _, block := range res.Content {
			shown := block.Text
			if block.Link != nil {
				shown = block.Link.Name + block.Link.MimeType
			}
			if strings.ContainsFunc(shown, func(r rune) bool { return r >= 0x7f && evidence.IsInvisible(r) }) {
				t.Errorf("hidden characters in %.900q", shown)
			}
		}
		if got := res.Content[2].Link.Name; got != `cin_c1/items:a\u202eb` {
			t.Errorf("name %s", got)
		}
	})
}

// TestFetchEscapes: a text that needs escapes is cut earlier, with a call that reads on, so
// that both halves of the result stay within D17.
func TestFetchEscapes(t *testing.T) {
	for name, unit := range map[string]string{"D17 control characters": `\u0000`, "D17 quotes": `\"`, "D17 plain text": `a`} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t, entriesPath+"/e1", `{"object":"record","id":"e1","stream":"entries","connection_id":"c1","data":{"text":"`+strings.Repeat(unit, 65_536)+`"}}`)
			res := mustDo(t, s.Surface, "fetch", `{"id":"c1/entries:e1"}`)
			conforms(t, "fetch", res.Structured)
			if n, sent := len(res.Structured), rawjson.StringLen(text(res)); n > limits.FetchMax || sent > limits.FetchMax {
				t.Errorf("%d bytes of structure, %d of text", n, sent)
			}
			shown, _ := find(t, res.Structured, "text").(string)
			if unit == `\u0000` { // what nobody could see is not shown as it is
				return
			}
			if cut := find(t, res.Structured, "metadata.text_truncated") == true; cut != (len(shown) < 65_536) {
				t.Errorf("text_truncated %t with %d characters", cut, len(shown))
			}
			if offset := find(t, res.Structured, "metadata.content_ladder.fields.0.read.args.offset_chars"); len(shown) < 65_536 && fmt.Sprint(offset) != fmt.Sprint(len(shown)) {
				t.Errorf("continues at %v after %d characters", offset, len(shown))
			}
		})
	}
}
