package store

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"pdpp/internal/rawjson"
)

// someValue draws a compact value, long or short, of bits that are easily cut
// wrongly.
func someValue(t *rapid.T) []byte {
	bit := rapid.SampledFrom([]string{"a", "é", "😀", `\u00e9`, `\ud83d\ude00`, `\\`, `\"`, `\n`, `\ud800`, "word "})
	unit := strings.Join(rapid.SliceOfN(bit, 1, 9).Draw(t, "unit"), "")
	text := `"` + strings.Repeat(unit, rapid.IntRange(0, 4*PieceChars/len(unit)).Draw(t, "times")) + `"`
	switch rapid.IntRange(0, 2).Draw(t, "shape") {
	case 0:
		return []byte(`[` + text + `,1]`)
	case 1:
		return []byte(`{"k":` + text + `}`)
	}
	return []byte(text)
}

// TestCutLong: the pieces of a value are the value, and its stub has their size.
func TestCutLong(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := someValue(t)
		l := cutLong(rapid.IntRange(0, 12).Draw(t, "ordinal"), value)
		joined := l.Quote(nil)
		chars := 0
		for i, p := range l.Pieces {
			if p.Start != chars {
				t.Errorf("piece %d starts at character %d, want %d", i, p.Start, chars)
			}
			if len(p.Raw) == 0 || !utf8.Valid(p.Raw) {
				t.Errorf("piece %d has %d bytes, valid %v", i, len(p.Raw), utf8.Valid(p.Raw))
			}
			joined = append(joined, p.Raw...)
			if l.Text {
				chars += rawjson.CharCount(p.Raw)
			} else {
				chars += utf8.RuneCount(p.Raw)
			}
		}
		if joined = l.Quote(joined); !bytes.Equal(joined, value) {
			t.Errorf("the pieces give %d bytes, want %d", len(joined), len(value))
		}
		if chars != l.Chars {
			t.Errorf("the stub has %d characters, the pieces %d", l.Chars, chars)
		}
		stub := l.append(nil, value)
		if got := ParseStub(stub); got != l.Stub {
			t.Errorf("ParseStub(%q) = %+v, want %+v", stub, got, l.Stub)
		}
		if rawjson.KindOf(stub) != rawjson.KindStub {
			t.Errorf("%q is no stub", stub)
		}
	})
}

// TestStubTellsContent: equal stubs mean equal values.
func TestStubTellsContent(t *testing.T) {
	a, b := []byte(`"`+strings.Repeat("a", 20000)+`"`), []byte(`"`+strings.Repeat("a", 19999)+`b"`)
	one, two := cutLong(0, a), cutLong(0, b)
	if one.Stub != two.Stub {
		t.Fatalf("the values should differ in content only: %+v, %+v", one.Stub, two.Stub)
	}
	if bytes.Equal(one.append(nil, a), two.append(nil, b)) {
		t.Error("two values have the same stub")
	}
}

func TestParseStubOfNonsense(t *testing.T) {
	for _, s := range []string{"", "\x00\x00", "\x001:t:2\x00", `"text"`} {
		if got := ParseStub([]byte(s)); got != (Stub{}) {
			t.Errorf("ParseStub(%q) = %+v", s, got)
		}
	}
}
