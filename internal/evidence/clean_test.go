package evidence

import (
	"strings"
	"testing"
	"unicode"
)

func TestClean(t *testing.T) {
	// MS-62, written out: C0 and C1 with DEL, line and paragraph separator, and
	// the bidirectional controls.
	removed := "\u007f\u2028\u2029\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r >= 0xD800 && r <= 0xDFFF {
			continue
		}
		gone := r < 0x20 && r != '\n' && r != '\t' || r >= 0x80 && r <= 0x9F || strings.ContainsRune(removed, r)
		if got := Clean("a" + string(r) + "b"); (got == "ab") != gone {
			t.Errorf("EX-7 Clean of %U = %q, removed %v wanted", r, got, gone)
		}
	}
	if got := Clean("a\xffb"); got != "a\ufffdb" {
		t.Errorf("Clean of invalid UTF-8 = %q", got)
	}
}

func TestIsBreak(t *testing.T) {
	for _, tt := range []struct {
		before, after string
		want          bool
	}{
		{"April", " rent", true},
		{"April ", "rent", true},
		{"Apr", "il", false},
		{"Mu", "\u0308ller", false},
		{"Mü", "ller", false},
		{"(", "rent", true},
		{"rent", ")", true},
		{"家", "賃", true},
		{"か", "\u3099", false},
		{"น", "้ำ", false},
		{"Tシャツ", "2枚", true},
		{"👩\u200d", "👩", false},
		{"👩", "\u200d👩", false},
		{"<ma", "rk>", false},
		{"a<", "mark>", false},
		{"a </", "mark> b", false},
		{"</mark", ">", false},
		{"a", "<mark>", true},
		{"</mark>", "a", true},
		{"end", "", true},
	} {
		if got := isBreak(tt.before+tt.after, len(tt.before)); got != tt.want {
			t.Errorf("isBreak(%q | %q) = %v, want %v", tt.before, tt.after, got, tt.want)
		}
	}
}

func TestCutBytes(t *testing.T) {
	for _, tt := range []struct {
		s    string
		n    int
		want string
	}{
		{"abc", 3, "abc"},
		{"abc", 2, "ab"},
		{"aü", 2, "a"},
		{"aü", 3, "aü"},
		{`a"b`, 2, "a"},
		{`a"b`, 3, `a"`},
		{"\\\n", 3, "\\"},
		{"😀", 3, ""},
		{"abc", -1, ""},
		{"", 0, ""},
	} {
		if got := cutBytes(tt.s, tt.n); got != tt.want {
			t.Errorf("cutBytes(%q, %d) = %q, want %q", tt.s, tt.n, got, tt.want)
		}
	}
}
