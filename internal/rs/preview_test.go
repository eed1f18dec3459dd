package rs_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pdpp/internal/rs/resttest"
)

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// base64Bytes returns n bytes in base64, which EX-8 detects as binary.
func base64Bytes(n int) string {
	raw := make([]byte, n)
	for i := range raw {
		raw[i] = byte(i*7 + i/256)
	}
	return base64.StdEncoding.EncodeToString(raw)
}

func TestFieldPreview(t *testing.T) {
	w := resttest.Cabinet(t)
	tok, _ := w.Grant(cabinetGrant)
	short, long := strings.Repeat("ä", 64), longText(40_000)
	object := `{"k":"` + strings.Repeat("v", 100) + `","n":1.0}`
	wide := `{"k":[` + strings.Repeat(`"ü",`, 9000) + `1]}`
	w.Ingest("cin_c1", "items",
		item("cut", `"title":`+quoted(short)+`,"body":`+quoted(long)+`,"author":`+quoted(base64Bytes(48_213))+`,"mixed":`+quoted(base64Bytes(300))+`,"qty":`+strings.Repeat("1", 100)+`,"meta":`+object),
		item("json", `"meta":`+wide),
		item("blob", `"scan":{"blob_id":"blob_1","mime_type":"image/png","size_bytes":48213},"pages":[]`),
		item("small", `"title":"x","mixed":`+quoted(base64Bytes(30))))
	const detail = "/v1/streams/items/records/"
	prefer := func(n int) string { return fmt.Sprintf("Prefer: pdpp-field-preview=%d", n) }

	t.Run("REC-39 strings, objects, binary text, numbers", func(t *testing.T) {
		a := w.Get(tok, detail+"cut", prefer(64)).OK()
		sameJSON(t, a.At("data"), `{"id":"cut","title":`+quoted(short)+`,"body":`+quoted(long[:64])+`,"author":"","mixed":"","qty":`+strings.Repeat("1", 100)+`,"meta":`+quoted(object[:64])+`}`)
		sameJSON(t, a.At("truncated_fields"), `{"body":{"total_chars":40000,"shown_chars":64},
			"author":{"total_chars":64284,"shown_chars":0,"binary":{"kind":"base64_text","size_bytes":48213,"size_grade":"small"}},
			"mixed":{"total_chars":400,"shown_chars":0,"binary":{"kind":"base64_text","size_bytes":300,"size_grade":"small"}},
			"meta":{"total_chars":116,"shown_chars":64,"as":"json"}}`)
		sameHeader(t, a, "Preference-Applied", "pdpp-field-preview=64")
	})
	t.Run("REC-39 list and detail agree", func(t *testing.T) {
		for _, n := range []int{64, 116, 300, 16_384, 40_000, 65_536} {
			list := w.Get(tok, "/v1/streams/items/records?filter[id]=cut", prefer(n))
			one := w.Get(tok, detail+"cut", prefer(n))
			if diff := cmp.Diff(rawMember(t, list, "data", "0", "data"), rawMember(t, one, "data")); diff != "" {
				t.Errorf("n = %d: data differs (-list +detail):\n%.300s", n, diff)
			}
			if diff := cmp.Diff(rawMember(t, list, "data", "0", "truncated_fields"), rawMember(t, one, "truncated_fields")); diff != "" {
				t.Errorf("n = %d: truncated_fields differ (-list +detail):\n%s", n, diff)
			}
		}
	})
	t.Run("REC-39 a value of exactly n characters is not truncated", func(t *testing.T) {
		a := w.Get(tok, detail+"cut?fields=body", prefer(40_000)).OK()
		if a.At("data.body") != long || a.At("truncated_fields") != nil {
			t.Error("a value of 40,000 characters was truncated at 40,000")
		}
		a = w.Get(tok, detail+"cut?fields=body", prefer(39_999)).OK()
		if a.At("data.body") != long[:39_999] {
			t.Error("the preview of 39,999 characters is not the beginning of the value")
		}
		sameJSON(t, a.At("truncated_fields"), `{"body":{"total_chars":40000,"shown_chars":39999}}`)
	})
	t.Run("REC-39 long objects", func(t *testing.T) {
		a := w.Get(tok, detail+"json?fields=meta", prefer(20_000)).OK()
		if got := a.At("data.meta"); got != string([]rune(wide)[:20_000]) {
			t.Error("the preview of a long object is not its first characters")
		}
		sameJSON(t, a.At("truncated_fields"), fmt.Sprintf(`{"meta":{"total_chars":%d,"shown_chars":20000,"as":"json"}}`, utf8.RuneCountInString(wide)))
		if got := rawMember(t, w.Get(tok, detail+"json?fields=meta", prefer(65_536)), "data", "meta"); got != wide {
			t.Error("an object shorter than the preview changed")
		}
	})
	t.Run("REC-39 shorter values are not truncated", func(t *testing.T) {
		a := w.Get(tok, detail+"small", prefer(64)).OK()
		if a.At("truncated_fields") != nil || a.At("data.mixed") != base64Bytes(30) {
			t.Errorf("a short value was truncated: %s", a.Body)
		}
		sameHeader(t, a, "Preference-Applied", "pdpp-field-preview=64")
	})
	t.Run("REC-39 blob references with their fetch_url", func(t *testing.T) {
		a := w.Get(tok, detail+"blob", prefer(64)).OK()
		sameJSON(t, a.At("data"), `{"id":"blob","scan":"","pages":[]}`)
		whole := `{"blob_id":"blob_1","mime_type":"image/png","size_bytes":48213,"fetch_url":"/v1/blobs/blob_1?connection_id=cin_c1"}`
		sameJSON(t, a.At("truncated_fields.scan"), fmt.Sprintf(`{"total_chars":%d,"shown_chars":0,"as":"json",
			"binary":{"kind":"blob_reference","mime_type":"image/png","size_bytes":48213,"size_grade":"small"}}`, len(whole)))
		sameRaw(t, w.Get(tok, detail+"blob", prefer(len(whole))), whole, "data", "scan")
	})
	t.Run("REC-38 without the preference values are complete", func(t *testing.T) {
		a := w.Get(tok, detail+"cut").OK()
		if a.At("data.body") != long || a.At("data.author") != base64Bytes(48_213) || a.At("truncated_fields") != nil || a.Header["Preference-Applied"] != nil {
			t.Error("a record without preferences is truncated")
		}
	})
}

func TestPreferences(t *testing.T) {
	w := ledger(t)
	tok, _ := w.Grant(ledgerGrant)
	const list, detail = "/v1/streams/entries/records", "/v1/streams/entries/records/ent_31"
	for _, test := range []struct{ path, prefer, want string }{
		{list, "pdpp-field-preview=2048, pdpp-page-bytes=65536", "pdpp-field-preview=2048, pdpp-page-bytes=65536"},
		{list, "pdpp-page-bytes=4096", "pdpp-page-bytes=4096"},
		{list, "pdpp-page-bytes=8388608", "pdpp-page-bytes=8388608"},
		{list, "respond-async, PDPP-Field-Preview=\"64\"; x=y", "pdpp-field-preview=64"},
		{list, "pdpp-field-preview=65536", "pdpp-field-preview=65536"},
		{list, "pdpp-field-preview=63", ""},
		{list, "pdpp-field-preview=65537", ""},
		{list, "pdpp-field-preview=many", ""},
		{list, "pdpp-field-preview", ""},
		{list, "pdpp-page-bytes=4095", ""},
		{list, "pdpp-page-bytes=8388609", ""},
		{list, "pdpp-page-bytes=1e5", ""},
		{detail, "pdpp-field-preview=2048, pdpp-page-bytes=65536", "pdpp-field-preview=2048"},
		{detail, "pdpp-page-bytes=65536", ""},
		{"/v1/streams", "pdpp-field-preview=2048, pdpp-page-bytes=65536", ""},
		{"/v1/streams/entries", "pdpp-field-preview=2048", ""},
		{"/v1/schema", "pdpp-page-bytes=65536", ""},
	} {
		t.Run("REC-38 "+test.path+" "+test.prefer, func(t *testing.T) {
			sameHeader(t, w.Get(tok, test.path, "Prefer: "+test.prefer).OK(), "Preference-Applied", test.want)
		})
	}
	t.Run("REC-38 two header fields", func(t *testing.T) {
		a := w.Get(tok, list, "Prefer: pdpp-page-bytes=5000", "Prefer: pdpp-field-preview=100").OK()
		sameHeader(t, a, "Preference-Applied", "pdpp-field-preview=100, pdpp-page-bytes=5000")
	})
}

func TestPageBytes(t *testing.T) {
	w := resttest.Cabinet(t)
	tok, _ := w.Grant(cabinetGrant)
	var lines []string
	for i := range 30 {
		id := fmt.Sprintf("p%02d", i)
		lines = append(lines, item(id, fmt.Sprintf(`"body":%q,"at":"2026-01-%02dT00:00:00Z"`, longText(900+i), 30-i)))
	}
	w.Ingest("cin_c1", "items", lines...)
	size := func(a resttest.Answer) int { return len(rawMember(t, a, "data")) }

	t.Run("REC-10 REC-40 a page ends before the record that would not fit", func(t *testing.T) {
		for _, bytes := range []int{4096, 5000, 9999, 20_000} {
			prefer := fmt.Sprintf("Prefer: pdpp-page-bytes=%d", bytes)
			a := w.Get(tok, "/v1/streams/items/records?count=exact", prefer).OK()
			n := len(a.IDs())
			more := w.Get(tok, fmt.Sprintf("/v1/streams/items/records?limit=%d", n+1)).OK()
			if size(a) > bytes || size(more) <= bytes {
				t.Errorf("page-bytes %d: a page of %d bytes, with one more record %d", bytes, size(a), size(more))
			}
			sameJSON(t, a.At("meta.warnings"), fmt.Sprintf(`[{"code":"page_bytes_limited","param":"Prefer","message":"The page reached its size limit. Continue with the cursor.",
				"detail":{"page_bytes":%d,"returned":%d,"limit":25}}]`, bytes, n))
			sameJSON(t, a.At("meta.count"), `{"kind":"exact","value":30}`)
			want, _ := walk(t, w, tok, "/v1/streams/items/records", 25)
			got, _ := walk(t, w, tok, "/v1/streams/items/records", 25, prefer)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("records differ (-want +got):\n%s", diff)
			}
		}
	})
	t.Run("REC-40 no warning if the limit or the last record ends the page", func(t *testing.T) {
		sameJSON(t, w.Get(tok, "/v1/streams/items/records?limit=2", "Prefer: pdpp-page-bytes=4096").OK().At("meta.warnings"), "[]")
		sameJSON(t, w.Get(tok, "/v1/streams/items/records?filter[id]=p01", "Prefer: pdpp-page-bytes=4096").OK().At("meta.warnings"), "[]")
	})
	t.Run("REC-40 the size counts previews", func(t *testing.T) {
		a := w.Get(tok, "/v1/streams/items/records", "Prefer: pdpp-page-bytes=8192, pdpp-field-preview=64").OK()
		if n := len(a.IDs()); n < 20 || size(a) > 8192 {
			t.Errorf("%d records in %d bytes, want at least 20 in 8192", n, size(a))
		}
	})
	t.Run("C-38 the next page may have other preferences", func(t *testing.T) {
		a := w.Get(tok, "/v1/streams/items/records", "Prefer: pdpp-page-bytes=4096").OK()
		b := w.Get(tok, a.At("links.next").(string)).OK()
		if got := len(a.IDs()) + len(b.IDs()); got <= 25 || b.IDs()[0] == a.IDs()[0] {
			t.Errorf("%d records on two pages, want more than 25, without repetition", got)
		}
	})
}

func TestLargeFirstRecord(t *testing.T) {
	w := resttest.Cabinet(t)
	tok, _ := w.Grant(cabinetGrant)
	w.Ingest("cin_c1", "items",
		item("large", `"title":`+quoted(longText(3000))+`,"body":`+quoted(longText(50_000))+`,"author":`+quoted(longText(2000))+`,"at":"2026-01-02T00:00:00Z"`),
		item("next", `"title":`+quoted(longText(3000))+`,"at":"2026-01-01T00:00:00Z"`))
	const list = "/v1/streams/items/records"

	t.Run("REC-10 a page has at least one record", func(t *testing.T) {
		a := w.Get(tok, list, "Prefer: pdpp-page-bytes=4096").OK()
		sameIDs(t, a, "large")
		sameJSON(t, a.At("meta.warnings.0.detail"), `{"page_bytes":4096,"returned":1,"limit":25}`)
		b := w.Get(tok, a.At("links.next").(string), "Prefer: pdpp-page-bytes=4096").OK()
		sameIDs(t, b, "next")
	})
	t.Run("REC-40 the preview is halved until the record fits", func(t *testing.T) {
		a := w.Get(tok, list, "Prefer: pdpp-page-bytes=4096, pdpp-field-preview=4000").OK()
		sameIDs(t, a, "large")
		// 3000 + 4000 + 2000 and 2000 * 3 do not fit, 1000 * 3 do.
		sameJSON(t, a.At("data.0.truncated_fields"), `{"title":{"total_chars":3000,"shown_chars":1000},
			"body":{"total_chars":50000,"shown_chars":1000},"author":{"total_chars":2000,"shown_chars":1000}}`)
		sameHeader(t, a, "Preference-Applied", "pdpp-field-preview=4000, pdpp-page-bytes=4096")
		if n := len(rawMember(t, a, "data")); n > 4096 {
			t.Errorf("data has %d bytes, want at most 4096", n)
		}
	})
	t.Run("REC-40 only the preview of the first record is halved", func(t *testing.T) {
		b := w.Get(tok, list+"?filter[at][lte]=2026-01-01", "Prefer: pdpp-page-bytes=4096, pdpp-field-preview=4000").OK()
		if b.At("data.0.truncated_fields") != nil {
			t.Error("a record that fits was truncated")
		}
	})
	t.Run("REC-40 the preview has at least 64 characters", func(t *testing.T) {
		var notes []string
		for i := range 4 {
			notes = append(notes, note(fmt.Sprintf("n%d", i), "large", longText(3000), "2026-01-01T00:00:00Z"))
		}
		w.Ingest("cin_c1", "notes", notes...)
		w.Ingest("cin_c1", "items", item("huge", `"meta":{},"mixed":`+strings.Repeat("9", 5000)+`,"body":`+quoted(longText(500))+`,"at":"2026-01-03T00:00:00Z"`))
		a := w.Get(tok, list+"?limit=1", "Prefer: pdpp-page-bytes=4096, pdpp-field-preview=300").OK()
		sameIDs(t, a, "huge")
		sameJSON(t, a.At("data.0.truncated_fields"), `{"body":{"total_chars":500,"shown_chars":64}}`)
	})
	t.Run("REC-41 expanded children are previewed and counted", func(t *testing.T) {
		a := w.Get(tok, list+"?filter[id]=large&fields=id&expand=notes&expand_limit[notes]=4", "Prefer: pdpp-field-preview=100").OK()
		for i := range 4 {
			sameJSON(t, a.At(fmt.Sprintf("data.0.expanded.notes.data.%d.truncated_fields", i)), `{"text":{"total_chars":3000,"shown_chars":100}}`)
			if got := a.At(fmt.Sprintf("data.0.expanded.notes.data.%d.data.text", i)); got != longText(3000)[:100] {
				t.Errorf("text of a child = %v, want 100 characters", got)
			}
		}
		if a.At("data.0.truncated_fields") != nil {
			t.Error("the parent was truncated")
		}
		d := w.Get(tok, list+"/large?fields=id&expand=notes", "Prefer: pdpp-field-preview=100").OK()
		sameJSON(t, d.At("expanded.notes.data.0.truncated_fields"), `{"text":{"total_chars":3000,"shown_chars":100}}`)
		a = w.Get(tok, list+"?filter[id]=large&fields=id&expand=notes&expand_limit[notes]=4", "Prefer: pdpp-page-bytes=4096, pdpp-field-preview=3000").OK()
		sameJSON(t, a.At("data.0.expanded.notes.data.0.truncated_fields"), `{"text":{"total_chars":3000,"shown_chars":375}}`)
	})
	t.Run("REC-41 filters apply to complete values", func(t *testing.T) {
		w.Ingest("cin_c1", "items", item("f1", `"title":`+quoted(longText(900))))
		sameIDs(t, w.Get(tok, list+"?filter[title]="+strings.ReplaceAll(strings.ReplaceAll(longText(900), ";", "%3B"), " ", "+"), "Prefer: pdpp-field-preview=64"), "f1")
	})
}

// TestDefaultPageSize: a page has at most 8 MiB (REC-10).
func TestDefaultPageSize(t *testing.T) {
	w := resttest.Cabinet(t)
	body := quoted(longText(3 << 20))
	for i := range 4 {
		w.Ingest("cin_c1", "items", item(fmt.Sprint(i), `"body":`+body))
	}
	a := w.Get(w.OwnerToken(), "/v1/streams/items/records").OK()
	sameIDs(t, a, "3", "2")
	sameJSON(t, a.At("meta.warnings"), `[{"code":"page_bytes_limited","message":"The page reached its size limit. Continue with the cursor.","detail":{"page_bytes":8388608,"returned":2,"limit":25}}]`)
	b := w.Get(w.OwnerToken(), a.At("links.next").(string)).OK()
	sameIDs(t, b, "1", "0")
	sameJSON(t, b.At("meta.warnings"), `[]`)
}

// TestPreviewProperty draws strings with escapes, around the length above which a store keeps
// values in pieces. A preview is exactly the first n characters (REC-39).
func TestPreviewProperty(t *testing.T) {
	t.Parallel()
	w := resttest.Cabinet(t)
	tok, _ := w.Grant(cabinetGrant)
	owner := w.OwnerToken()
	atoms := []string{"a", "é", "😀", `\n`, `\u00e9`, `\ud83d\ude00`, `\"`, `\\`, " ", "~"}
	rapid.Check(t, func(rt *rapid.T) {
		unit := strings.Join(rapid.SliceOfN(rapid.SampledFrom(atoms), 1, 12).Draw(rt, "unit"), "")
		raw := `"` + strings.Repeat(unit, rapid.IntRange(1, 40_000).Draw(rt, "bytes")/len(unit)+1) + `"`
		w.Ingest("cin_c1", "items", item("p", `"body":`+raw))
		n := rapid.IntRange(64, 65_536).Draw(rt, "n")
		var whole string
		if err := json.Unmarshal([]byte(raw), &whole); err != nil {
			rt.Fatal(err)
		}
		for _, path := range []string{"/v1/streams/items/records/p", "/v1/streams/items/records/p?fields=body"} {
			for _, token := range []string{tok, owner} {
				if rawMember(t, w.Get(token, path), "data", "body") != raw {
					rt.Fatalf("C-33 %s: the value differs from the ingested one", path)
				}
			}
		}
		a := w.Get(tok, "/v1/streams/items/records/p?fields=body", fmt.Sprintf("Prefer: pdpp-field-preview=%d", n)).OK()
		chars := []rune(whole)
		if len(chars) <= n {
			if got := rawMember(t, a, "data", "body"); got != raw || a.At("truncated_fields") != nil {
				rt.Fatalf("a value of %d characters changed with n = %d", len(chars), n)
			}
			return
		}
		if got := a.At("data.body"); got != string(chars[:n]) {
			rt.Fatalf("preview of %d characters is not the beginning of the value", n)
		}
		sameJSON(t, a.At("truncated_fields"), fmt.Sprintf(`{"body":{"total_chars":%d,"shown_chars":%d}}`, len(chars), n))
	})
}
