package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// samples are texts that the tests and the fuzz targets start from.
var samples = []string{
	`null`, `true`, `false`, `0`, `-0`, `12`, `12.0`, `1.2e1`, `-1E+400`, `1e-7`, `""`, `"a"`, `[]`, `{}`,
	` [ 1 , 2 ] `, "{\n\t\"a\" : [ ] ,\r\n \"b\":{ } }\n", `{"a":{"a":{"a":1}},"b":[{"a":1},{"a":1}]}`,
	`"plain text that is longer than a word of eight bytes"`, `"\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00\ud800"`,
	`"héllo wörld, 日本語, 😀"`, `"12345678é"`, `"1234567\n"`, `12345678901234567890123.4567890`,
	`{"":1,"a\u0062":2,"long name with spaces":"x"}`, `[1,[2,[3,[4]]]]`, `[true,false,null]`,
	``, ` `, `nul`, `truee`, `+1`, `01`, `-`, `.5`, `1.`, `1e`, `1e+`, `0x10`, `NaN`, `1 2`, `[`, `[1`, `[1,`, `[1,]`, `[,]`,
	`{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{a:1}`, `{"a" 1}`, `{1:1}`, `]`, `}`, `"`, `"a`, `"\`, `"\x"`, `"\u12"`,
	`"\u12g4"`, "\"\x01\"", "\"a\nb\"", "\"\x7f\"", "\"\xff\"", "\"abc\xe2\x82\"", "\"\xed\xa0\x80\"", "\xff", "\"\xc0\x80\"", "\ufeff1", "\v1",
	"\x00", "[1\x00]", "1\x00", `{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `[{"x":{"k":1,"k":1}}]`,
}

func TestCompactAgainstEncodingJSON(t *testing.T) {
	for _, s := range samples {
		checkCompact(t, []byte(s))
	}
	for depth := MaxDepth - 1; depth <= MaxDepth+1; depth++ {
		checkCompact(t, []byte(strings.Repeat("[", depth)+strings.Repeat("]", depth)))
		checkCompact(t, []byte(strings.Repeat(`{"a":`, depth)+"1"+strings.Repeat("}", depth)))
	}
}

// checkCompact holds Compact against encoding/json. What only Compact refuses it
// must refuse for a reason that encoding/json does not know.
func checkCompact(t *testing.T, src []byte) {
	t.Helper()
	before := bytes.Clone(src)
	got, err := Compact([]byte("x"), src)
	if !bytes.Equal(src, before) {
		t.Fatalf("Compact(%q) changed its input", before)
	}
	if err != nil {
		checkRefusal(t, src, got, err)
		return
	}
	if !json.Valid(src) || !utf8.Valid(src) {
		t.Fatalf("Compact(%q) accepted invalid input", src)
	}
	var want bytes.Buffer
	want.WriteByte('x')
	if err := json.Compact(&want, src); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Fatalf("Compact(%q) = %q, want %q", src, got, want.Bytes())
	}
	again, err := Compact(nil, got[1:])
	if err != nil || !bytes.Equal(again, got[1:]) {
		t.Fatalf("Compact(%q) = %q, %v: not idempotent", got[1:], again, err)
	}
	if hasDuplicates(t, src) {
		t.Fatalf("Compact(%q) accepted duplicate keys", src)
	}
}

func checkRefusal(t *testing.T, src, got []byte, err error) {
	t.Helper()
	if string(got) != "x" {
		t.Fatalf("Compact(%q) = %q on error, want dst as it was", src, got)
	}
	var ok bool
	switch {
	case errors.Is(err, ErrSyntax):
		ok = !json.Valid(src)
	case errors.Is(err, ErrUTF8):
		ok = !utf8.Valid(src)
	case errors.Is(err, ErrDepth):
		ok = bytes.Count(src, []byte("["))+bytes.Count(src, []byte("{")) > MaxDepth
	case errors.Is(err, ErrDuplicateKey):
		ok = !json.Valid(src) || hasDuplicates(t, src)
	}
	if !ok {
		t.Fatalf("Compact(%q) refused: %v", src, err)
	}
}

// hasDuplicates finds duplicate keys by way of encoding/json tokens.
func hasDuplicates(t *testing.T, src []byte) bool {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(src))
	dec.UseNumber()
	var walk func() bool
	walk = func() bool {
		tok, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		found := false
		seen := map[string]bool{}
		for object := tok == json.Delim('{'); (object || tok == json.Delim('[')) && dec.More(); {
			if object {
				name, _ := dec.Token()
				found = found || seen[name.(string)]
				seen[name.(string)] = true
			}
			found = walk() || found
		}
		if tok == json.Delim('{') || tok == json.Delim('[') {
			_, _ = dec.Token()
		}
		return found
	}
	return walk()
}

func TestCompactErrors(t *testing.T) {
	deep := strings.Repeat("[", MaxDepth+1)
	tests := []struct {
		src  string
		want error
		at   int
	}{
		{``, ErrSyntax, 0},
		{`  `, ErrSyntax, 2},
		{`1 2`, ErrSyntax, 2},
		{`[1,]`, ErrSyntax, 3},
		{`{"a":tru}`, ErrSyntax, 5},
		{`"abc`, ErrSyntax, 4},
		{`"secret\q"`, ErrSyntax, 7},
		{"\"ab\xff\"", ErrUTF8, 3},
		{"\"abcdefgh\xe2\x82\"", ErrUTF8, 9},
		{"[\xff]", ErrUTF8, 1},
		{"[é]", ErrSyntax, 1},
		{deep, ErrDepth, MaxDepth},
		{`{"secret":1, "secret":2}`, ErrDuplicateKey, 13},
		{`{"secret":1, "s\u0065cret":2}`, ErrDuplicateKey, 13},
		{`{"s\u0065cret":1,"\u0073ecret":2}`, ErrDuplicateKey, 17},
		{`{"a":1,"b":{"c":1,"d":[{"e":1,"e":2}]}}`, ErrDuplicateKey, 30},
		{`{"\ud800":1,"\udc00":2}`, ErrDuplicateKey, 12}, // both read as U+FFFD
	}
	for _, tt := range tests {
		_, err := Compact(nil, []byte(tt.src))
		if !errors.Is(err, tt.want) || !strings.HasSuffix(err.Error(), fmt.Sprintf(" at byte %d", tt.at)) {
			t.Errorf("Compact(%q) = %v, want %v at byte %d", tt.src, err, tt.want, tt.at)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("Compact(%q): error %q holds content", tt.src, err)
		}
	}
}

// object builds an object of n keys; key i is fmt.Sprintf(format, i).
func object(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"`+format+`":%d`, i, i)
	}
	return "{" + strings.TrimPrefix(b.String(), ",") + "}"
}

func TestCompactManyKeys(t *testing.T) {
	for _, format := range []string{"%d", "key%d", "a shared start, %d, a shared end", `esc\u0061pe%d`} {
		for _, n := range []int{1, 31, 32, 33, 34, 500} {
			src := object(n, format)
			if _, err := Compact(nil, []byte(src)); err != nil {
				t.Errorf("Compact of %d keys %q: %v", n, format, err)
			}
			again := fmt.Sprintf(`"`+format+`":0`, n/2)
			dup := src[:len(src)-1] + "," + again + "}"
			_, err := Compact(nil, []byte("["+dup+"]"))
			if want := fmt.Sprintf("at byte %d", len(src)+1); !errors.Is(err, ErrDuplicateKey) || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("Compact of %d keys %q and a duplicate: %v, want %v %s", n, format, err, ErrDuplicateKey, want)
			}
		}
	}
}

func FuzzCompact(f *testing.F) {
	for _, s := range samples {
		f.Add([]byte(s))
	}
	f.Add([]byte(pretty))
	f.Add([]byte(object(40, `k\u0061%d`)))
	f.Fuzz(checkCompact)
}

// What is relayed keeps its duplicate keys; everything else is checked as ever.
func TestCompactRelayed(t *testing.T) {
	const src, want = ` { "a" : 1 , "a" : {"b":2,"b":3} } `, `{"a":1,"a":{"b":2,"b":3}}`
	got, err := CompactRelayed(nil, []byte(src))
	if err != nil || string(got) != want {
		t.Errorf("CompactRelayed(%q) = %q, %v, want %q", src, got, err, want)
	}
	if v, _ := Get(got, "a"); string(v) != "1" {
		t.Errorf("Get finds %s, want the first", v)
	}
	if _, err := Compact(nil, []byte(src)); !errors.Is(err, ErrDuplicateKey) {
		t.Errorf("Compact(%q) after it: %v", src, err)
	}
	for _, bad := range []string{`{"a":1`, "\"\xff\"", strings.Repeat("[", 65) + strings.Repeat("]", 65), `{"a" 1}`} {
		if _, err := CompactRelayed(nil, []byte(bad)); err == nil {
			t.Errorf("CompactRelayed(%q) is accepted", bad)
		}
	}
}
