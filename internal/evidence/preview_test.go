package evidence

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pdpp/internal/rawjson"
)

func TestAppendPreview(t *testing.T) {
	note := "Paid by standing order, see the letter from the bank of 2 April."
	items := `[{"qty":1,"item":"Desk lamp, brass","price":"49.90"},{"qty":2,"item":"` + strings.Repeat("x", 40210-73) + `"}]`
	scan := base64.RawStdEncoding.EncodeToString(octets(48213))
	blobs := `[{"blob_id":"b1","mime_type":"image/png","size_bytes":70000},{"blob_id":"b2","mime_type":"image/png","size_bytes":70000}]`
	for name, tt := range map[string]struct {
		value, want, truncation string
		declared                bool
	}{
		// The example of REC-39.
		"note": {
			`"` + note + strings.Repeat("n", 9120-64) + `"`, `"` + note + `"`,
			`{"total_chars":9120,"shown_chars":64}`, false,
		},
		"lines": {
			items, `"[{\"qty\":1,\"item\":\"Desk lamp, brass\",\"price\":\"49.90\"},{\"qty\":2,\"i"`,
			`{"total_chars":40210,"shown_chars":64,"as":"json"}`, false,
		},
		"scan_b64": {
			`"` + scan + `"`, `""`,
			`{"total_chars":64284,"shown_chars":0,"binary":{"kind":"base64_text","size_bytes":48213,"size_grade":"small"}}`, false,
		},

		"exactly n":          {`"` + note + `"`, `"` + note + `"`, "", false},
		"n characters":       {`"` + strings.Repeat("ü", 64) + `"`, `"` + strings.Repeat("ü", 64) + `"`, "", false},
		"n+1 characters":     {`"` + strings.Repeat("ü", 65) + `"`, `"` + strings.Repeat("ü", 64) + `"`, `{"total_chars":65,"shown_chars":64}`, false},
		"escapes are kept":   {`"` + strings.Repeat(`\u00e9`, 65) + `"`, `"` + strings.Repeat(`\u00e9`, 64) + `"`, `{"total_chars":65,"shown_chars":64}`, false},
		"escaped pairs":      {`"` + strings.Repeat(`\ud83d\ude00`, 65) + `"`, `"` + strings.Repeat(`\ud83d\ude00`, 64) + `"`, `{"total_chars":65,"shown_chars":64}`, false},
		"escapes count once": {`"` + strings.Repeat(`\"`, 64) + `"`, `"` + strings.Repeat(`\"`, 64) + `"`, "", false},
		"JSON text n long":   {`["` + strings.Repeat("é", 60) + `"]`, `["` + strings.Repeat("é", 60) + `"]`, "", false},
		"JSON text":          {`["` + strings.Repeat("é", 61) + `"]`, `"[\"` + strings.Repeat("é", 61) + `\""`, `{"total_chars":65,"shown_chars":64,"as":"json"}`, false},
		"JSON with escapes":  {`["` + strings.Repeat(`\n`, 40) + `"]`, `"[\"` + strings.Repeat(`\\n`, 31) + `"`, `{"total_chars":84,"shown_chars":64,"as":"json"}`, false},
		"long number":        {strings.Repeat("9", 100), strings.Repeat("9", 100), "", false},
		"null":               {"null", "null", "", false},
		"small binary stays": {`{"blob_id":"b1","mime_type":"image/png"}`, `{"blob_id":"b1","mime_type":"image/png"}`, "", true},
		"declared blobs": {
			blobs, `""`,
			`{"total_chars":121,"shown_chars":0,"as":"json","binary":{"kind":"blob_reference","mime_type":"image/png","size_bytes":140000,"size_grade":"medium"}}`, true,
		},
		"blobs not declared": {
			blobs, `"[{\"blob_id\":\"b1\",\"mime_type\":\"image/png\",\"size_bytes\":70000},{\"b"`,
			`{"total_chars":121,"shown_chars":64,"as":"json"}`, false,
		},
		"embedded object": {
			`{"content_type":"a/b","sha256":"` + hash + `"}`, `""`,
			`{"total_chars":98,"shown_chars":0,"as":"json","binary":{"kind":"embedded_object","mime_type":"a/b","sha256":"` + hash + `"}}`, false,
		},
		"stub": {"\x00" + strings.Repeat("s", 100) + "\x00", "\x00" + strings.Repeat("s", 100) + "\x00", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			got, cut := AppendPreview([]byte("x:"), []byte(tt.value), 64, tt.declared)
			if diff := cmp.Diff("x:"+tt.want, string(got)); diff != "" {
				t.Errorf("preview (-want +got):\n%s", diff)
			}
			truncation := ""
			if cut != nil {
				truncation = string(cut.AppendJSON(nil))
			}
			if diff := cmp.Diff(tt.truncation, truncation); diff != "" {
				t.Errorf("truncation (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAppendPreviewEmpty(t *testing.T) {
	for _, n := range []int{0, -1} {
		got, cut := AppendPreview(nil, []byte(`"abc"`), n, false)
		if string(got) != `""` || cut == nil || cut.TotalChars != 3 || cut.ShownChars != 0 {
			t.Errorf("AppendPreview(n=%d) = %s, %+v", n, got, cut)
		}
		if got, cut = AppendPreview(nil, []byte(`""`), n, false); string(got) != `""` || cut != nil {
			t.Errorf("AppendPreview(\"\", n=%d) = %s, %+v", n, got, cut)
		}
	}
}

// fullText returns the text of which a preview of n characters is a prefix, decoded with
// encoding/json.
func fullText(value []byte, n int) (text string, cuttable bool) {
	switch rawjson.KindOf(value) {
	case rawjson.KindString:
		err := json.Unmarshal(value, &text)
		return text, err == nil
	case rawjson.KindObject, rawjson.KindArray:
		return string(value), n < minWholeNested || len(value) > wholeNested
	}
	return "", false
}

// checkPreview checks REC-39 for one compact value.
func checkPreview(t interface {
	Helper()
	Fatalf(string, ...any)
}, value []byte, n int,
) {
	t.Helper()
	got, cut := AppendPreview(nil, value, n, true)
	text, cuttable := fullText(value, n)
	total := utf8.RuneCountInString(text)
	if cut == nil {
		if string(got) != string(value) || cuttable && total > n {
			t.Fatalf("AppendPreview(%q, %d) = %q, uncut", value, n, got)
		}
		return
	}
	var shown string
	if err := json.Unmarshal(got, &shown); err != nil || !utf8.Valid(got) {
		t.Fatalf("AppendPreview(%q, %d) = %q, not a JSON string: %v", value, n, got, err)
	}
	want := string([]rune(text)[:cut.ShownChars])
	switch {
	case !cuttable || total <= n:
		t.Fatalf("AppendPreview(%q, %d) cut a value of %d characters", value, n, total)
	case cut.TotalChars != total, cut.AsJSON != (value[0] != '"'):
		t.Fatalf("AppendPreview(%q, %d): %+v, but there are %d characters", value, n, cut, total)
	case cut.Binary == nil && cut.ShownChars != n, cut.Binary != nil && cut.ShownChars != 0:
		t.Fatalf("AppendPreview(%q, %d) has ShownChars %d", value, n, cut.ShownChars)
	case shown != want:
		t.Fatalf("AppendPreview(%q, %d) shows %q, want %q", value, n, shown, want)
	case !json.Valid(cut.AppendJSON(nil)):
		t.Fatalf("AppendJSON of %+v = %s", cut, cut.AppendJSON(nil))
	}
}

// stringValue draws a JSON string with all forms of characters and escapes.
func stringValue() *rapid.Generator[string] {
	parts := rapid.SampledFrom([]string{
		"a", "é", "漢", "😀", `\n`, `\"`, `\\`, `\/`, `\u00e9`, `\u6f22`, `\uD83D\uDE00`,
		`\u0000`, "plain text of some length", "Ab3/", `u0041`,
	})
	return rapid.Map(rapid.SliceOfN(parts, 0, 60), func(p []string) string { return `"` + strings.Join(p, "") + `"` })
}

func TestPreviewNeverSplits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := stringValue().Draw(t, "value")
		if rapid.Bool().Draw(t, "nested") {
			value = `{"k":[` + value + `,1.50,{"é":null}]}`
		}
		checkPreview(t, []byte(value), rapid.IntRange(0, 200).Draw(t, "n"))
	})
}

func FuzzPreview(f *testing.F) {
	f.Add([]byte(`"Paid by standing order \ud83d\ude00 é"`), 5)
	f.Add([]byte(`{"a":["é\n",1.0,true]}`), 7)
	f.Add([]byte(`{"blob_id":"x","mime_type":"a/b","size":3}`), 4)
	f.Add([]byte(`[{"blob_id":"x"},null]`), 4)
	f.Add([]byte(`"data:image/png;base64,`+strings.Repeat("Ab3/", 80)+`"`), 64)
	f.Add([]byte(`"`+base64.StdEncoding.EncodeToString(octets(200))+`"`), 64)
	f.Add([]byte(`123`), 1)
	f.Fuzz(func(t *testing.T, src []byte, n int) {
		value, err := rawjson.Compact(nil, src)
		if err != nil {
			t.Skip()
		}
		checkPreview(t, value, max(n, 0))
	})
}

func BenchmarkAppendPreview(b *testing.B) {
	for name, value := range map[string]string{
		"short": `"Paid by standing order"`,
		"prose": `"` + strings.Repeat(`Paid by standing order.\n`, 2000) + `"`,
		"scan":  `"` + base64.StdEncoding.EncodeToString(octets(48213)) + `"`,
		"json":  `[` + strings.Repeat(`{"qty":1,"item":"Desk lamp"},`, 2000) + `1]`,
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(value)))
			b.ReportAllocs()
			src, dst := []byte(value), []byte(nil)
			for b.Loop() {
				dst, _ = AppendPreview(dst[:0], src, 2048, false)
			}
		})
	}
}
