package rawjson

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestQuoteHuge(t *testing.T) {
	long := strings.Repeat("9", 400)
	for src, want := range map[string]string{
		`{"a":1e400,"b":[-1E+999,1e308,0.1]}`: `{"a":"1e400","b":["-1E+999",1e308,0.1]}`,
		`[` + long + `,1e-400]`:               `["` + long + `",1e-400]`,
		`1e400`:                               `"1e400"`,
		`{"1e400":"1e400 \" 1e400","x":"\\"}`: `{"1e400":"1e400 \" 1e400","x":"\\"}`,
		`[]`:                                  `[]`,
	} {
		if got := string(QuoteHuge([]byte(src))); got != want {
			t.Errorf("MS-36 QuoteHuge(%s) = %s, want %s", src, got, want)
		}
	}
}

// TestQuoteHugeDecodes: whatever was there, a decoder into float64 takes the result.
func TestQuoteHugeDecodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.String(), 1, 4).Draw(t, "texts")
		numbers := rapid.SliceOfN(rapid.StringMatching(`-?[1-9][0-9]{0,3}(\.[0-9]{1,3})?([eE][+-]?[0-9]{1,4})?`), 1, 4).Draw(t, "numbers")
		src, err := json.Marshal(texts)
		if err != nil {
			t.Fatal(err)
		}
		src = append(src[:len(src)-1], ","+strings.Join(numbers, ",")+"]"...)
		var got []any
		if err := json.Unmarshal(QuoteHuge(src), &got); err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		for i, want := range texts {
			if got[i] != strings.ToValidUTF8(want, "\ufffd") {
				t.Fatalf("text %d became %q, want %q", i, got[i], want)
			}
		}
	})
}
