package rs_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"pdpp/internal/rs/resttest"
)

// ledgerWithNotes returns a ledger with notes, and a token that sees them.
func ledgerWithNotes(t testing.TB, notes map[string]string) (*resttest.World, string) {
	t.Helper()
	w := ledger(t)
	for id, note := range notes {
		text, err := json.Marshal(note)
		if err != nil {
			t.Fatal(err)
		}
		w.Ingest("cin_a1", "entries", fmt.Sprintf(`{"key":%q,"data":{"id":%q,"note":%s,"amount_minor":5,"posted_at":"2026-04-01"}}`, id, id, text))
	}
	return w, first(w.Grant(`{"source":{"connector_key":"ledgerly"},"streams":[{"name":"entries","fields":["id","note","amount_minor","scan"]}]}`))
}

func windowPath(id string) string { return entriesPath + "/" + url.PathEscape(id) + "/field-window" }

func TestFieldWindow(t *testing.T) {
	long := strings.Repeat("Zeile mit ä und 日本\n", 20_000)
	w, tok := ledgerWithNotes(t, map[string]string{"short": "April rent for the flat", "long": long + "NEEDLE im Heu" + long})
	get := func(id, params string) resttest.Answer { return w.Get(tok, windowPath(id)+"?"+params) }

	t.Run("FW-3 the answer", func(t *testing.T) {
		sameJSON(t, get("short", "field=note&limit_chars=14").OK().JSON(), `{"object":"field_window","stream":"entries","record_id":"short",
			"connection_id":"cin_a1","connector_key":"ledgerly","display_name":"Joint account",
			"field":{"path":"note","type":"string","as":"text"},"url":"/v1/streams/entries/records/short/field-window",
			"window":{"text":"April rent for","start_chars":0,"end_chars":14,"total_chars":23,"limit_chars":14,"complete":false,"has_more":true,
				"next_offset_chars":14,"previous_offset_chars":null,"match_start_chars":null,"match_end_chars":null,"next_match_start_chars":null},
			"links":{"self":"/v1/streams/entries/records/short/field-window?field=note&limit_chars=14"},
			"meta":{"count":{"kind":"none"},"warnings":[]}}`)
	})
	t.Run("FW-4 an offset beyond the end returns an empty text", func(t *testing.T) {
		a := get("short", "field=note&offset_chars=999").OK()
		if a.At("window.text") != "" || fmt.Sprintf("%v %v", a.At("window.start_chars"), a.At("window.end_chars")) != "23 23" || a.At("window.has_more") != false {
			t.Errorf("window = %v, want an empty one at the end", a.At("window"))
		}
	})
	t.Run("FW-1 a limit above the maximum is reduced", func(t *testing.T) {
		a := get("long", "field=note&limit_chars=99999").OK()
		if n := utf8.RuneCountInString(a.At("window.text").(string)); n != 16384 || a.At("meta.warnings.0.code") != "limit_clamped" {
			t.Errorf("%d characters, warnings %v, want 16384 and limit_clamped", n, a.At("meta.warnings"))
		}
	})
	t.Run("FW-2 FW-5 a window around the first match, ignoring case", func(t *testing.T) {
		at := utf8.RuneCountInString(long)
		a := get("long", "field=note&q=needle&before_chars=3&after_chars=3").OK()
		want := fmt.Sprintf("日本\nNEEDLE im %d %d %d", at-3, at, at+6)
		if got := fmt.Sprint(a.At("window.text"), " ", a.At("window.start_chars"), " ", a.At("window.match_start_chars"), " ", a.At("window.match_end_chars")); got != want {
			t.Errorf("window = %q, want %q", got, want)
		}
	})
	t.Run("FW-1 FW-5 the search continues from match to match", func(t *testing.T) {
		want := 400
		long := strings.Repeat(strings.Repeat("Zeile mit ä und 日本\n", 7)+"aaNEEDLE\n", want)
		w, tok := ledgerWithNotes(t, map[string]string{"long": long})
		get := func(id, params string) resttest.Answer { return w.Get(tok, windowPath(id)+"?"+params) }
		found, offset := 0, "0"
		for {
			a := get("long", "field=note&q=aneedle%0a&limit_chars=8&offset_chars="+offset).OK()
			if got := a.At("window.text"); got != "aNEEDLE\n" {
				t.Fatalf("match %d: window text %q, want aNEEDLE", found, got)
			}
			found++
			next, ok := a.At("window.next_match_start_chars").(json.Number)
			if !ok {
				break
			}
			offset = next.String()
		}
		if found != want {
			t.Errorf("%d matches, want %d", found, want)
		}
		refused(t, get("long", "field=note&q=needle&offset_chars="+fmt.Sprint(utf8.RuneCountInString(long)-6)), refusal{status: 404, code: "query_not_found", param: "q", field: "note"})
	})
	t.Run("FW-1 as=json of any type", func(t *testing.T) {
		a := get("short", "field=amount_minor&as=json").OK()
		if a.At("window.text") != "5" || a.At("field.type") != "number" || a.At("field.as") != "json" {
			t.Errorf("want the window of a number: %s", a.Body)
		}
		quoted := get("long", "field=note&as=json&limit_chars=7").OK()
		if quoted.At("window.text") != `"Zeile ` {
			t.Errorf("want the window of the JSON of a string: %s", quoted.Body)
		}
	})
	t.Run("FW-8 errors", func(t *testing.T) {
		for params, want := range map[string]refusal{
			"":                                 {status: 400, code: "invalid_field_path", param: "field"},
			"field=":                           {status: 400, code: "invalid_field_path", param: "field"},
			"field=note&offset_chars=-1":       {status: 400, code: "invalid_window", param: "offset_chars"},
			"field=note&offset_chars=x":        {status: 400, code: "invalid_window", param: "offset_chars"},
			"field=note&limit_chars=0":         {status: 400, code: "invalid_window", param: "limit_chars"},
			"field=note&q=a&before_chars=8193": {status: 400, code: "invalid_window", param: "before_chars"},
			"field=note&before_chars=1":        {status: 400, code: "invalid_window", param: "q"},
			"field=note&q=":                    {status: 400, code: "invalid_window", param: "q"},
			"field=note&as=xml":                {status: 400, code: "invalid_window", param: "as"},
			"field=memo":                       {status: 403, code: "field_not_granted", param: "field", field: "memo"},
			"field=nope":                       {status: 400, code: "unknown_field", param: "field", field: "nope"},
			"field=scan":                       {status: 404, code: "field_not_found", field: "scan"},
			"field=note&q=nowhere":             {status: 404, code: "query_not_found", param: "q", field: "note"},
			"field=amount_minor":               {status: 422, code: "field_not_text", field: "amount_minor"},
		} {
			a := get("short", params)
			if a.Status != want.status || a.Code() != want.code || fmt.Sprint(a.At("error.param")) != or(want.param, "<nil>") {
				t.Errorf("%q: answer %d %s, want %+v", params, a.Status, a.Body, want)
			}
		}
		if a := w.Get(w.OwnerToken(), windowPath("short")+"?field=nope"); a.Status != 404 || a.Code() != "field_not_found" {
			t.Errorf("undeclared field for an owner: status %d, want 404: %s", a.Status, a.Body)
		}
	})
	t.Run("BOUND-1 a window of a hidden record is not found", func(t *testing.T) {
		until := first(w.Grant(`{"source":{"connector_key":"ledgerly"},"streams":[{"name":"entries","fields":["note"],"time_range":{"until":"2026-01-01"}}]}`))
		hidden := w.Get(until, windowPath("long")+"?field=note", "Request-Id: same")
		absent := w.Get(until, windowPath("none")+"?field=note", "Request-Id: same")
		if hidden.Status != 404 || string(hidden.Body) != string(absent.Body) {
			t.Errorf("hidden record: status %d, body %s, want that of a missing record: %s", hidden.Status, hidden.Body, absent.Body)
		}
	})
	t.Run("REC-14 an id on two connections", func(t *testing.T) {
		w.Ingest("cin_b2", "entries", `{"key":"short","data":{"id":"short","note":"x","posted_at":"2026-04-01"}}`)
		refused(t, get("short", "field=note"), refusal{status: 409, code: "ambiguous_connection", param: "connection_id"})
		w.Get(tok, windowPath("short")+"?field=note&connection_id=cin_b2").OK()
	})
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// TestWindowsReassemble: the windows along next_offset_chars together equal the field.
func TestWindowsReassemble(t *testing.T) {
	t.Parallel()
	parts := []string{"a", "ß", "日", "😀", "\n", `"`, "\\", "\u2028", "<mark>", "e\u0301", strings.Repeat("x", 9000)}
	w, _ := ledgerWithNotes(t, nil)
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 40).Draw(rt, "text"), "")
		limit := rapid.IntRange(1000, 16384).Draw(rt, "limit")
		raw, err := json.Marshal(text)
		if err != nil {
			rt.Fatal(err)
		}
		id := fmt.Sprint("w", run)
		w.Ingest("cin_a1", "entries", fmt.Sprintf(`{"key":%q,"data":{"id":%q,"note":%s,"posted_at":"2026-04-01"}}`, id, id, raw))
		tok := first(w.Grant(`{"source":{"connector_key":"ledgerly"},"streams":[{"name":"entries","fields":["note"]}]}`))
		var got strings.Builder
		for offset := "0"; ; {
			a := w.Get(tok, fmt.Sprintf("%s?field=note&offset_chars=%s&limit_chars=%d", windowPath(id), offset, limit)).OK()
			got.WriteString(a.At("window.text").(string))
			if fmt.Sprint(a.At("window.total_chars")) != fmt.Sprint(utf8.RuneCountInString(text)) {
				rt.Fatalf("total_chars = %v, want that of the field", a.At("window.total_chars"))
			}
			next, ok := a.At("window.next_offset_chars").(json.Number)
			if !ok {
				break
			}
			offset = next.String()
		}
		if got.String() != text {
			rt.Errorf("windows of %d characters have %d bytes together, want %d", limit, got.Len(), len(text))
		}
	})
}

// TestWindowOfBlobReference: field window and record show a reference alike (REC-4).
func TestWindowOfBlobReference(t *testing.T) {
	w, _ := album(t)
	w.Ingest("cin_c1", "items", item("shot", `"scan":{"fetch_url":"https://elsewhere.test/x",`+blobRef(picture, "image/png")[1:]))
	tok := first(w.Grant(cabinetGrant))
	a := w.Get(tok, "/v1/streams/items/records/shot/field-window?field=scan&as=json").OK()
	text, _ := a.At("window.text").(string)
	if strings.Contains(text, "elsewhere") || !strings.Contains(text, `"fetch_url":"/v1/blobs/`) {
		t.Errorf("the window contains %s, want the fetch_url of the server", text)
	}
	cut := w.Get(tok, "/v1/streams/items/records/shot", "Prefer: pdpp-field-preview=64").OK()
	if got, want := cut.At("truncated_fields.scan.total_chars"), a.At("window.total_chars"); got != want {
		t.Errorf("the preview counts %v characters, the window %v", got, want)
	}
}
