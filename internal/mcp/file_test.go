package mcp

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"

	"pdpp"
	"pdpp/internal/mcp/quote"
)

// upload stores a file on cin_c1 and returns a reference to it for a record.
func (d *drawer) upload(mediaType, content string) string {
	d.T.Helper()
	stored := d.PutBlob("cin_c1", mediaType, []byte(content))
	return fmt.Sprintf(`{"blob_id":%q,"mime_type":%q,"size_bytes":%d,"filename":"file.txt"}`, pdpp.BlobIDOf(stored.SHA256), mediaType, len(content))
}

// bare returns a reference with its blob id alone.
func bare(reference string) string { return reference[:strings.IndexByte(reference, ',')] + "}" }

// readThrough follows the offered calls until there are none.
func readThrough(t *testing.T, s *Surface, args string, next func(*Result) string) string {
	t.Helper()
	var text strings.Builder
	for n := 0; args != ""; n++ {
		if n > 500 {
			t.Fatalf("the windows do not end: %s", args)
		}
		res := mustDo(t, s, "read_record_field", args)
		conforms(t, "read_record_field", res.Structured)
		text.WriteString(find(t, res.Structured, "window.text").(string))
		args = next(res)
	}
	return text.String()
}

func TestTextFiles(t *testing.T) {
	long := "\ufeff" + strings.Repeat("Zeile für “Ada” 😀\n", 12_000) // more than one part
	latin, err := charmap.ISO8859_1.NewEncoder().String(strings.Repeat("Grüße\n", 3000))
	if err != nil {
		t.Fatal(err)
	}
	var wide []byte
	for _, u := range utf16.Encode([]rune("\ufeffÄpfel 😀")) {
		wide = append(wide, byte(u), byte(u>>8))
	}
	d := newDrawer(t, wholeCabinet)
	for id, f := range map[string]struct{ mediaType, content string }{
		"plain": {"text/plain", long}, "latin": {"text/plain; charset=iso-8859-1", latin}, "wide": {"text/csv", string(wide)},
		"mail": {"message/rfc822", "Subject: Hi\r\n\r\nHello"}, "json": {"application/ld+json", `{"a":1}`}, "empty": {"text/markdown", ""},
		"odd": {"text/plain; charset=x-klingon", "nuqneH"}, "broken": {"text/plain", "a\xffb"},
	} {
		d.Ingest("cin_c1", "items", filed(id, `"scan":`+d.upload(f.mediaType, f.content)))
	}
	d.as(wholeCabinet)
	for id, want := range map[string]string{
		"plain": strings.TrimPrefix(long, "\ufeff"), "latin": strings.Repeat("Grüße\n", 3000), "wide": "Äpfel 😀",
		"mail": "Subject: Hi\r\n\r\nHello", "json": `{"a":1}`, "empty": "", "broken": "a\ufffdb",
	} {
		args := `{"id":"cin_c1/items:` + id + `","field_path":"scan","limit_chars":16000}`
		t.Run("FIELD-1 MS-177 windows by the text alone give the file "+id, func(t *testing.T) {
			got := readThrough(t, d.Surface, args, func(r *Result) string { return callOf(r.Content[0].Text, "next:", "read_record_field") })
			if got != want {
				t.Errorf("%d characters, want %d: %.80q", quote.Count(got), quote.Count(want), got)
			}
		})
		t.Run("FIELD-1 MS-177 and by the structure alone "+id, func(t *testing.T) {
			got := readThrough(t, d.Surface, args, func(r *Result) string {
				cursor, ok := find(t, r.Structured, "window.next_cursor").(string)
				if !ok {
					return ""
				}
				return strings.TrimSuffix(args, "}") + `,"cursor":` + jsonText(cursor) + `}`
			})
			if got != want {
				t.Errorf("%d characters, want %d", quote.Count(got), quote.Count(want))
			}
		})
	}
	t.Run("MS-177 a window is found by its offset and its words", func(t *testing.T) {
		res := mustDo(t, d.Surface, "read_record_field", `{"id":"cin_c1/items:plain","field_path":"scan","offset_chars":150003,"limit_chars":5}`)
		if got := find(t, res.Structured, "window.text"); got != string([]rune(long)[150004:150009]) {
			t.Errorf("the window is %q", got)
		}
		res = mustDo(t, d.Surface, "read_record_field", `{"id":"cin_c1/items:mail","field_path":"scan","q":"hELLO","before_chars":2,"after_chars":1}`)
		if got := find(t, res.Structured, "window.text"); got != "\r\nHello" || find(t, res.Structured, "window.match_start_chars") != json.Number("15") {
			t.Errorf("around the match: %s", res.Structured)
		}
		failed := do(t, d.Surface, "read_record_field", `{"id":"cin_c1/items:mail","field_path":"scan","q":"nowhere"}`)
		if !failed.IsError || find(t, failed.Structured, "error.code") != "query_not_found" || find(t, failed.Structured, "error.next.tool") != "read_record_field" {
			t.Errorf("no match: %s", failed.Structured)
		}
	})
	t.Run("MS-177 bytes that are no characters are told", func(t *testing.T) {
		if text := mustDo(t, d.Surface, "read_record_field", `{"id":"cin_c1/items:broken","field_path":"scan"}`).Content[0].Text; !strings.Contains(text, "note: bytes that are not UTF-8") {
			t.Error(text)
		}
	})
	t.Run("MS-178 a charset that is not known is told", func(t *testing.T) {
		res := mustDo(t, d.Surface, "read_record_field", `{"id":"cin_c1/items:odd","field_path":"scan"}`)
		if text := res.Content[0].Text; !strings.Contains(text, `charset "x-klingon" is not known here`) || find(t, res.Structured, "files.0.note") == nil {
			t.Errorf("%s\n%s", text, res.Structured)
		}
	})
	t.Run("BINARY-1 MS-66 a card offers the text of a file, and its name", func(t *testing.T) {
		text := mustDo(t, d.Surface, "query_records", `{"stream":"items","fields":["scan"]}`).Content[0].Text
		for _, want := range []string{`"other":{"filename":"file.txt"}`, `more: read_record_field {"id":"cin_c1/items:mail","field_path":"scan","offset_chars":0}`} {
			if !strings.Contains(text, want) {
				t.Errorf("the text lacks %s:\n%s", want, text)
			}
		}
		res := mustDo(t, d.Surface, "fetch", `{"id":"cin_c1/items:mail"}`)
		if !strings.Contains(res.Content[1].Text, `more: read_record_field {"id":"cin_c1/items:mail","field_path":"scan"`) {
			t.Errorf("the card is %s", res.Content[1].Text)
		}
		if got := find(t, res.Structured, "metadata.content_ladder.fields.0.read.tool"); got != "read_record_field" {
			t.Errorf("the ladder is %v", find(t, res.Structured, "metadata.content_ladder"))
		}
	})
	t.Run("RES-1 MS-203 the resource of a text file is text", func(t *testing.T) {
		uri := find(t, mustDo(t, d.Surface, "read_record_field", `{"id":"cin_c1/items:wide","field_path":"scan"}`).Structured, "files.0.resource_uri").(string)
		if got := open(t, d.Surface, uri); len(got) != 1 || got[0].Text != "Äpfel 😀" || got[0].Blob != nil || got[0].MimeType != "text/csv" {
			t.Errorf("the resource is %+v", got)
		}
	})
}

func TestOtherFiles(t *testing.T) {
	d := newDrawer(t, wholeCabinet)
	picture, letter := d.upload("image/png", "\x89PNG\x00"), d.upload("text/plain", "Dear Ada")
	d.Ingest("cin_c1", "items", filed("one", `"scan":`+picture), filed("two", `"pages":[`+picture+`,`+letter+`]`),
		filed("bare", `"scan":`+bare(letter)), filed("bare_picture", `"scan":`+bare(picture)), filed("bare_list", `"pages":[`+bare(picture)+`,`+bare(letter)+`]`))
	d.as(wholeCabinet)
	t.Run("BINARY-1 MS-178 a file that is no text is told by its facts", func(t *testing.T) {
		res := mustDo(t, d.Surface, "read_record_field", `{"id":"cin_c1/items:one","field_path":"scan"}`)
		conforms(t, "read_record_field", res.Structured)
		if text := res.Content[0].Text; !strings.Contains(text, `mime_type="image/png" size_bytes=5 sha256="`) || !strings.Contains(text, ` export="GET `+d.URL+"/v1/blobs/") {
			t.Errorf("the text is %s", text)
		}
		if find(t, res.Structured, "files.0.size_bytes") != json.Number("5") || find(t, res.Structured, "window") != nil || res.Content[1].Link == nil {
			t.Errorf("the result is %s", res.Structured)
		}
	})
	t.Run("MS-178 a list of files is told one by one, each with a path", func(t *testing.T) {
		res := mustDo(t, d.Surface, "read_record_field", `{"id":"cin_c1/items:two","field_path":"pages"}`)
		args := callOf(res.Content[0].Text, "more:", "read_record_field")
		if read := mustDo(t, d.Surface, "read_record_field", args); find(t, read.Structured, "window.text") != "Dear Ada" {
			t.Errorf("%s: %s", args, read.Structured)
		}
		if got := find(t, res.Structured, "files.1.read.args.field_path"); got != "pages.1" {
			t.Errorf("the call is %v", got)
		}
		failed := do(t, d.Surface, "read_record_field", `{"id":"cin_c1/items:two","field_path":"pages.2"}`)
		if !failed.IsError || find(t, failed.Structured, "error.code") != "unknown_field" {
			t.Errorf("a path that names none: %s", failed.Structured)
		}
	})
	t.Run("CONT-1 MS-66 a file without a media type has a call that tells what it is", func(t *testing.T) {
		for id, want := range map[string]string{"bare": `text="Dear Ada"`, "bare_picture": "not text"} {
			args := `{"id":"cin_c1/items:` + id + `","field_path":"scan","offset_chars":0}`
			list := text(mustDo(t, d.Surface, "query_records", `{"stream":"items","fields":["scan"]}`))
			document := mustDo(t, d.Surface, "fetch", `{"id":"cin_c1/items:`+id+`"}`)
			if !strings.Contains(list, "more: read_record_field "+args) || !strings.Contains(document.Content[1].Text, "more: read_record_field "+args) {
				t.Errorf("no call for %s in\n%s\n%s", id, list, document.Content[1].Text)
			}
			if got := find(t, document.Structured, "metadata.content_ladder.fields.0.read.tool"); got != "read_record_field" {
				t.Errorf("%s: the ladder is %v", id, find(t, document.Structured, "metadata.content_ladder"))
			}
			if got := text(mustDo(t, d.Surface, "read_record_field", args)); !strings.Contains(got, want) || strings.Contains(got, "more:") {
				t.Errorf("%s: %s", id, got)
			}
		}
		pages := text(mustDo(t, d.Surface, "read_record_field", `{"id":"cin_c1/items:bare_list","field_path":"pages"}`))
		if !strings.Contains(pages, `more: read_record_field {"id":"cin_c1/items:bare_list","field_path":"pages.0","offset_chars":0}`) {
			t.Errorf("a list of files: %s", pages)
		}
	})
	t.Run("TOOLS-3 MS-177 a file is read with the rights of the caller alone", func(t *testing.T) {
		d.as(`{"source":{"connector_key":"cabinet"},"streams":[{"name":"items","fields":["title"]}]}`)
		for _, path := range []string{"scan", "pages", "pages.1"} {
			failed := do(t, d.Surface, "read_record_field", `{"id":"cin_c1/items:two","field_path":"`+path+`"}`)
			if !failed.IsError || strings.Contains(string(failed.Structured), "blob") {
				t.Errorf("%s: %s", path, failed.Structured)
			}
		}
	})
}

// TestBytesInsideObjects: bytes inside a nested value are shown as facts, with a call that
// reads them.
func TestBytesInsideObjects(t *testing.T) {
	raw := make([]byte, 600)
	for i := range raw {
		raw[i] = byte(i * 7)
	}
	secret := base64.StdEncoding.EncodeToString(raw)
	s := newScript(t, entriesPath, `{"object":"list","data":[{"object":"record","id":"e1","stream":"entries","data":{"id":"e1","meta":{"name":"x","thumb":"`+secret+`"}},"connection_id":"c1"}],"has_more":false}`)
	res := mustDo(t, s.Surface, "query_records", `{"stream":"entries"}`)
	const want = `read_record_field {"id":"c1/entries:e1","field_path":"meta","offset_chars":0}`
	if text := res.Content[0].Text; !strings.Contains(text, "more: "+want) || strings.Contains(text, secret[:40]) {
		t.Errorf("the text is %s", text)
	}
	if got := find(t, res.Structured, "content_ladder.records.0.fields.0.read.tool"); got != "read_record_field" {
		t.Errorf("the ladder is %s", res.Structured)
	}
}
