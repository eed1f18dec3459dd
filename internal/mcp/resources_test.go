package mcp

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pdpp/internal/mcp/limits"
	"pdpp/internal/rawjson"
	"pdpp/internal/rs/resttest"
	"pdpp/internal/rsclient"
)

// open reads a resource that must exist.
func open(t testing.TB, s *Surface, uri string) []Content {
	t.Helper()
	contents, failure := s.ReadResource(t.Context(), uri)
	if failure != nil {
		t.Fatalf("ReadResource(%s): %v %s", uri, failure, failure.Data)
	}
	return contents
}

func TestTemplates(t *testing.T) {
	var list struct {
		ResourceTemplates []struct{ Name, URITemplate, MimeType string }
	}
	if err := json.Unmarshal(Templates(), &list); err != nil {
		t.Fatal(err)
	}
	want := []struct{ Name, URITemplate, MimeType string }{
		{"pdpp-record", "pdpp://record/{handle}", "application/json"},
		{"pdpp-field-window", "pdpp://field-window/{handle}", "text/plain"},
		{"pdpp-blob", "pdpp://blob/{handle}", "application/octet-stream"},
	}
	if diff := cmp.Diff(want, list.ResourceTemplates); diff != "" {
		t.Errorf("MS-200 (-want +got):\n%s", diff)
	}
}

// TestWindowEqualsTool: a window resource has the text that the tool returns, and its
// continuation URIs and calls cover the whole field.
func TestWindowEqualsTool(t *testing.T) {
	t.Run("RES-1 window equals tool", func(t *testing.T) {
		want := letter(1000)
		d := newDrawer(t, wholeCabinet, filed("long", `"body":`+jsonText(want)))
		for _, args := range []string{
			`{"id":"cin_c1/items:long","field_path":"body","limit_chars":300}`,
			`{"id":"items:long","field_path":"body","offset_chars":400}`,
			`{"id":"items:long","field_path":"body","q":"Zeile 20","before_chars":3,"after_chars":40}`,
		} {
			sc := mustDo(t, d.Surface, "read_record_field", args).Structured
			uri := find(t, sc, "resource.uri").(string)
			contents := open(t, d.Surface, uri)
			if len(contents) != 2 || contents[0].Text != find(t, sc, "window.text") || contents[0].MimeType != "text/plain" ||
				contents[0].URI != uri || contents[1].URI != uri || contents[1].MimeType != "application/json" {
				t.Fatalf("MS-202 %s reads as %+v", args, contents)
			}
			facts := []byte(contents[1].Text)
			for _, path := range []string{"record", "field", "window.start_chars", "window.end_chars", "window.next_cursor", "window.match_start_chars"} {
				if diff := cmp.Diff(find(t, sc, path), find(t, facts, path)); diff != "" {
					t.Errorf("%s of %s (-tool +resource):\n%s", path, args, diff)
				}
			}
			if find(t, facts, "window.text") != nil || find(t, facts, "next_uri") != find(t, sc, "resource.next_uri") {
				t.Errorf("MS-202 facts %s", facts)
			}
		}
		got := ""
		uri := window{record: refer(Handle{"cin_c1", "items", "long"}), field: "body", place: selector{limit: given{170, true}}}.URI()
		for n := 0; uri != "" && n < 10; n++ {
			contents := open(t, d.Surface, uri)
			got += contents[0].Text
			uri, _ = find(t, []byte(contents[1].Text), "next_uri").(string)
		}
		if got != want {
			t.Errorf("the resources give %q, want %q", got, want)
		}
	})
}

// TestSameContentThroughTool: next_uri and the call beside it read the same content.
func TestSameContentThroughTool(t *testing.T) {
	t.Run("LINK-1 same content through tool", func(t *testing.T) {
		d := newDrawer(t, wholeCabinet, filed("long", `"body":`+jsonText(letter(300))))
		contents := open(t, d.Surface, window{record: refer(Handle{"cin_c1", "items", "long"}), field: "body", place: selector{limit: given{100, true}}}.URI())
		facts := []byte(contents[1].Text)
		args, err := json.Marshal(find(t, facts, "next.args"))
		if err != nil {
			t.Fatal(err)
		}
		res := mustDo(t, d.Surface, find(t, facts, "next.tool").(string), string(args))
		if got := open(t, d.Surface, find(t, facts, "next_uri").(string)); got[0].Text != find(t, res.Structured, "window.text") {
			t.Errorf("the resource has %q, the tool %s", got[0].Text, res.Structured)
		}
	})
}

// TestRecord: a record resource is the body of the route, byte for byte.
func TestRecord(t *testing.T) {
	t.Run("RES-1 record", func(t *testing.T) {
		d := newDrawer(t, wholeCabinet, filed("a/b", `"price":12345678901234567890.10,"body":"x"`))
		uri := Handle{"cin_c1", "items", "a/b"}.URI()
		contents := open(t, d.Surface, uri)
		sent := d.sent.take()
		token, _ := d.Grant(wholeCabinet)
		want := d.Get(token, "/v1/streams/items/records/a%2Fb?connection_id=cin_c1").OK()
		if len(contents) != 1 || contents[0].Text != strings.TrimSpace(string(want.Body)) || contents[0].URI != uri || contents[0].MimeType != "application/json" {
			t.Errorf("MS-201 %+v, want %s", contents, want.Body)
		}
		if diff := cmp.Diff([]string{"/v1/streams/items/records/a%2Fb?connection_id=cin_c1 Prefer: pdpp-field-preview=65536"}, sent); diff != "" {
			t.Errorf("MS-39 (-want +got):\n%s", diff)
		}
		var members []string
		for i := range 5 {
			members = append(members, fmt.Sprintf(`"extra%d":%s`, i, jsonText(letter(60_000))))
		}
		d.Ingest("cin_c1", "items", filed("huge", strings.Join(members, ",")))
		d.Surface = surface(t, d.URL, d.OwnerToken(), d.sent)
		followRecord(t, d.Surface, Handle{"cin_c1", "items", "huge"}.URI(), 5)

		members = nil
		for i := range 6000 {
			members = append(members, fmt.Sprintf(`"extra%d":%s`, i, jsonText(letter(60))))
		}
		body := `{"object":"record","id":"many","stream":"items","connection_id":"cin_c1","data":{` + strings.Join(members, ",") + `}}`
		_, failure := scripted(t, always(body)).ReadResource(t.Context(), Handle{"cin_c1", "items", "many"}.URI())
		if failure == nil || failure.Kind != ResourceFailed || !strings.Contains(failure.Message, `fetch {"id":"cin_c1/items:many"}`) {
			t.Errorf("MS-201 a record of %d bytes: %+v", len(body), failure)
		}
	})
}

// followRecord reads a record that is cut, and the rest of each of its n long texts by the
// URIs of its ladder.
func followRecord(t *testing.T, s *Surface, uri string, n int) {
	t.Helper()
	contents := open(t, s, uri)
	if len(contents) != 2 || len(contents[0].Text) > limits.RecordResourceMax || contents[1].URI != uri || contents[1].MimeType != "application/json" {
		t.Fatalf("MS-201 %d contents, %d bytes", len(contents), len(contents[0].Text))
	}
	entries := find(t, []byte(contents[1].Text), "content_ladder.fields").([]any)
	if len(entries) != n {
		t.Fatalf("%d fields go on, want %d: %s", len(entries), n, contents[1].Text)
	}
	for _, e := range entries {
		entry := e.(map[string]any)
		got, _ := find(t, []byte(contents[0].Text), "data."+entry["field_path"].(string)).(string)
		next, _ := entry["resource_uri"].(string)
		for range 100 {
			if next == "" {
				break
			}
			part := open(t, s, next)
			got += part[0].Text
			next, _ = find(t, []byte(part[1].Text), "next_uri").(string)
		}
		if got != letter(60_000) {
			t.Errorf("%s reads as %d bytes, want %d", entry["field_path"], len(got), len(letter(60_000)))
		}
	}
}

// files returns a surface over a server with blobs.
func files(t *testing.T, content []byte) *Surface {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.EscapedPath() != "/v1/blobs/b%2F7" || r.URL.Query().Get("connection_id") != "cin_c1" {
			http.Error(w, `{"error":{"type":"e","code":"blob_not_found","message":"No such blob."}}`, http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "image/png")
		http.ServeContent(w, r, "", resttest.Start, strings.NewReader(string(content)))
	}))
	t.Cleanup(srv.Close)
	return surface(t, srv.URL, "t", &requests{})
}

func TestBlob(t *testing.T) {
	t.Run("RES-1 blob", func(t *testing.T) {
		content := []byte("\x89PNG\x00\xff")
		uri := blobHandle{"cin_c1", "b/7"}.URI()
		got := open(t, files(t, content), uri)
		if diff := cmp.Diff([]Content{{URI: uri, MimeType: "image/png", Blob: content}}, got); diff != "" {
			t.Errorf("MS-203 (-want +got):\n%s", diff)
		}
		got = open(t, files(t, make([]byte, limits.BlobInlineMax)), uri)
		if len(got[0].Blob) != limits.BlobInlineMax {
			t.Errorf("MS-203 %d bytes", len(got[0].Blob))
		}
		s := files(t, make([]byte, limits.BlobInlineMax+1))
		_, failure := s.ReadResource(t.Context(), uri)
		if failure == nil || failure.Kind != ResourceFailed {
			t.Fatalf("MS-203 a large blob: %+v", failure)
		}
		for path, want := range map[string]any{
			"code": "blob_too_large", "size_bytes": json.Number("262145"), "mime_type": "image/png",
			"export.url": s.RS.Provider() + "/v1/blobs/b%2F7?connection_id=cin_c1",
		} {
			if got := find(t, failure.Data, path); got != want {
				t.Errorf("MS-203 %s is %v, want %v", path, got, want)
			}
		}
		missing := blobHandle{"", "b/7"}.URI()
		_, failure = s.ReadResource(t.Context(), missing)
		if failure == nil || failure.Kind != ResourceNotFound || failure.Message != "blob_not_found: No such blob." || find(t, failure.Data, "uri") != missing {
			t.Errorf("MS-204 %+v", failure)
		}
	})
}

// TestMS204Refusals: malformed URIs are refused before any request.
func TestMS204Refusals(t *testing.T) {
	sent := &requests{}
	s := surface(t, "http://127.0.0.1:1", "t", sent)
	window := func(selector string) string {
		return windowURI + base64.RawURLEncoding.EncodeToString([]byte(`{"v":1,"kind":"field-window","stream":"s","record_id":"r"`+selector+`}`))
	}
	tests := []struct {
		uri  string
		kind ResourceKind
		code string
	}{
		{"", ResourceNotFound, "not_found"},
		{"http://example.com/", ResourceNotFound, "not_found"},
		{"pdpp://records/x", ResourceNotFound, "not_found"},
		{"cin_c1/items:x", ResourceNotFound, "not_found"},
		{"pdpp://record/", ResourceInvalid, "invalid_id"},
		{"pdpp://record/e30", ResourceInvalid, "invalid_id"},
		{"pdpp://blob/e30", ResourceInvalid, "invalid_id"},
		{blobHandle{"", ".."}.URI(), ResourceInvalid, "invalid_id"},
		{blobHandle{"", ""}.URI(), ResourceInvalid, "invalid_id"},
		{"pdpp://field-window/e30", ResourceInvalid, "invalid_id"},
		{window(`,"field_path":"f","cursor":"5"`), ResourceInvalid, "invalid_id"},
		{window(`,"field_path":"f","limit_chars":5,"offset_chars":5`), ResourceInvalid, "invalid_id"},
		{window(``), ResourceInvalid, "invalid_field_window_selector"},
		{window(`,"field_path":"f","limit_chars":0`), ResourceInvalid, "invalid_field_window_selector"},
		{window(`,"field_path":"f","limit_chars":16385`), ResourceInvalid, "invalid_field_window_selector"},
		{window(`,"field_path":"f","offset_chars":-1`), ResourceInvalid, "invalid_field_window_selector"},
		{window(`,"field_path":"f","offset_chars":5,"after_chars":1`), ResourceInvalid, "invalid_field_window_selector"},
		{window(`,"field_path":"f","before_chars":5`), ResourceInvalid, "invalid_field_window_selector"},
		{window(`,"field_path":"a\u0000b"`), ResourceInvalid, "invalid_field_window_selector"},
	}
	for _, tt := range tests {
		contents, failure := s.ReadResource(t.Context(), tt.uri)
		if failure == nil || contents != nil {
			t.Errorf("ReadResource(%q) = %+v", tt.uri, contents)
			continue
		}
		if got := find(t, failure.Data, "code"); failure.Kind != tt.kind || got != tt.code {
			t.Errorf("ReadResource(%q): kind %d, code %v, want %d, %s", tt.uri, failure.Kind, got, tt.kind, tt.code)
		}
		if got := find(t, failure.Data, "uri"); tt.kind == ResourceNotFound && got != tt.uri {
			t.Errorf("MS-204 what was not found is %v, want %q", got, tt.uri)
		}
	}
	if list := sent.take(); list != nil {
		t.Errorf("requests were sent: %q", list)
	}
	_, failure := s.ReadResource(t.Context(), Handle{"", "s", "r"}.URI())
	if failure == nil || failure.Kind != ResourceFailed || find(t, failure.Data, "code") != "upstream_unreachable" {
		t.Errorf("a server that is not there: %+v", failure)
	}
}

// TestRecordRule: a record outside the grant cannot be told from one that does not exist.
func TestRecordRule(t *testing.T) {
	t.Run("HANDLE-1 record", func(t *testing.T) {
		d := newDrawer(t, wholeCabinet, filed("x", `"title":"T"`))
		d.as(`{"source":{"connector_key":"cabinet"},"streams":[{"name":"notes"}]}`)
		_, failure := d.ReadResource(t.Context(), Handle{"cin_c1", "items", "x"}.URI())
		if failure == nil || failure.Kind != ResourceRefused || !strings.HasPrefix(failure.Message, "grant_stream_not_allowed: ") {
			t.Errorf("a stream outside the grant: %+v", failure)
		}
		_, failure = d.ReadResource(t.Context(), Handle{"cin_c1", "notes", "x"}.URI())
		if failure == nil || failure.Kind != ResourceNotFound {
			t.Errorf("a record that is not there: %+v", failure)
		}
	})
}

// TestWindowURIsParseBack: every window URI parses to its window.
func TestWindowURIsParseBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := window{
			record: refer(Handle{awkwardName().Draw(t, "connection"), awkwardName().Draw(t, "stream"), awkwardName().Draw(t, "record")}),
			field:  awkwardName().Draw(t, "field"), q: awkwardName().Draw(t, "q"),
		}
		for i, g := range []*given{&w.place.offset, &w.place.limit, &w.place.before, &w.place.after} {
			if rapid.Bool().Draw(t, "given") && (i < 2 || w.q != "") && (i > 0 || w.q == "") {
				*g = given{rapid.IntRange(1, 8192).Draw(t, "n"), true}
			}
		}
		got, err := parseWindowURI(w.URI())
		if valid := w.record.isNamed() && w.field != "" && !strings.ContainsRune(w.field, 0); !valid {
			if err == nil {
				t.Fatalf("%+v is accepted", w)
			}
			return
		}
		if diff := cmp.Diff(w, got, cmp.AllowUnexported(window{}, selector{}, given{}, ref{})); err != nil || diff != "" {
			t.Fatalf("%v (-made +read):\n%s", err, diff)
		}
	})
}

// TestRelayedErrorsAreObjects: the data of an error has each member once.
func TestRelayedErrorsAreObjects(t *testing.T) {
	s := surface(t, "http://127.0.0.1:1", "t", &requests{})
	for _, object := range []string{`{"code":"not_found","message":"m","request_id":"req_1"}`, `{"code":"not_found","message":"m"}`} {
		got := s.relayedResourceError(&rsclient.Error{Status: 404, Code: "not_found", Message: "m", Object: []byte(object), RequestID: "req_1"})
		if _, err := rawjson.Compact(nil, got.Data); err != nil || find(t, got.Data, "request_id") != "req_1" {
			t.Errorf("MS-204 %v: %s", err, got.Data)
		}
	}
}
