package rsclient_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pdpp/internal/rawjson"
	"pdpp/internal/rsclient"
)

func TestPreviewRow(t *testing.T) {
	base64 := strings.Repeat("QUJDRGVmZ2hpamtsbW5vcHFyc3R1dnd4eXoxMjM0NTY3ODkw", 8)
	for _, c := range []struct{ name, in, want string }{
		{
			"REC-39 long texts and nested values", `{"object":"record","id":"e1","data":{"a":"short","b":"0123456789","c":{"k":[1,2,3]},"n":12345678901},"emitted_at":"2026"}`,
			`{"object":"record","id":"e1","data":{"a":"short","b":"01234567","c":"{\"k\":[1,","n":12345678901},"emitted_at":"2026",` +
				`"truncated_fields":{"b":{"total_chars":10,"shown_chars":8},"c":{"total_chars":13,"shown_chars":8,"as":"json"}}}`,
		},
		{
			"REC-39 binary", `{"id":"e1","data":{"s":"` + base64 + `"}}`,
			`{"id":"e1","data":{"s":""},"truncated_fields":{"s":{"total_chars":384,"shown_chars":0,"binary":{"kind":"base64_text","size_bytes":288,"size_grade":"small"}}}}`,
		},
		{
			"MS-60 a flat record keeps its envelope", `{"id":"a-very-long-id","stream":"a-very-long-stream","text":"0123456789"}`,
			`{"id":"a-very-long-id","stream":"a-very-long-stream","text":"01234567","truncated_fields":{"text":{"total_chars":10,"shown_chars":8}}}`,
		},
		{
			"REC-41 records of relations", `{"id":"e1","data":{},"expanded":{"many":{"object":"list","data":[{"id":"c1","data":{"x":"0123456789"}}],"has_more":true},"one":{"id":"c2","data":{"x":"0123456789"}},"none":null}}`,
			`{"id":"e1","data":{},"expanded":{"many":{"object":"list","data":[{"id":"c1","data":{"x":"01234567"},"truncated_fields":{"x":{"total_chars":10,"shown_chars":8}}}],"has_more":true},` +
				`"one":{"id":"c2","data":{"x":"01234567"},"truncated_fields":{"x":{"total_chars":10,"shown_chars":8}}},"none":null}}`,
		},
		{
			"MS-71 a preview of a preview counts the whole", `{"id":"e1","truncated_fields":{"b":{"total_chars":500,"shown_chars":10},"z":{"total_chars":9,"shown_chars":1}},"data":{"b":"0123456789","z":"0"}}`,
			`{"id":"e1","data":{"b":"01234567","z":"0"},"truncated_fields":{"z":{"total_chars":9,"shown_chars":1},"b":{"total_chars":500,"shown_chars":8}}}`,
		},
		{"MS-36 nothing long", `{"id":"e1","data":{"a":1.50}}`, `{"id":"e1","data":{"a":1.50}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, cut := rsclient.PreviewRow([]byte(c.in), 8)
			if string(got) != c.want || cut != (c.in != c.want) {
				t.Errorf("cut %v\n got %s\nwant %s", cut, got, c.want)
			}
		})
	}
}

// A preview is valid JSON whose facts hold: every value that is not named as cut is
// there as it came, and every other is a beginning of what came.
func TestPreviewFacts(t *testing.T) {
	names := []string{"a", "b", "data", "expanded", "truncated_fields", "é\n"}
	rapid.Check(t, func(t *rapid.T) {
		fields := map[string]any{}
		for _, name := range rapid.SliceOfDistinct(rapid.SampledFrom(names), rapid.ID).Draw(t, "names") {
			fields[name] = rapid.OneOf(rapid.Map(rapid.String(), func(s string) any { return s }), rapid.Map(rapid.SliceOf(rapid.Int()), func(l []int) any { return l })).Draw(t, "value")
		}
		data, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		n := rapid.IntRange(1, 20).Draw(t, "n")
		row := append(append([]byte(`{"id":"e1","stream":"s","data":`), data...), '}')
		out, cut := rsclient.PreviewRow(row, n)
		if !json.Valid(out) {
			t.Fatalf("not JSON: %s", out)
		}
		before, after := recordOf(row, rsclient.Identity{}), recordOf(out, rsclient.Identity{})
		if cut != (len(after.Truncated) > 0) {
			t.Fatalf("cut %v, facts %v", cut, after.Truncated)
		}
		for name, value := range rawjson.Members(after.Payload) {
			whole, _ := rawjson.Get(before.Payload, string(name))
			facts := after.Truncated[string(name)]
			if facts == nil {
				if string(value) != string(whole) {
					t.Fatalf("%s changed without a word: %s", name, value)
				}
				continue
			}
			shown, _ := rawjson.String(value)
			full, isText := rawjson.String(whole)
			if !isText {
				full = string(whole)
			}
			if !strings.HasPrefix(full, shown) || len([]rune(shown)) != facts.ShownChars || len([]rune(full)) != facts.TotalChars || facts.AsJSON == isText {
				t.Fatalf("%s is %s of %s: %+v", name, value, whole, facts)
			}
		}
	})
}
