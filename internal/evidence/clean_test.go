package evidence

import (
	"strings"
	"testing"
	"unicode"
)

// isSometimesNeeded reports whether Clean keeps an invisible character in some places.
func isSometimesNeeded(r rune) bool { return strings.ContainsRune("\u200c\u200d\ufe0e\ufe0f", r) }

func TestClean(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r >= 0xD800 && r <= 0xDFFF {
			continue
		}
		// EX-7: controls, separators, and default-ignorable characters.
		removed := unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) ||
			unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) && !isVisibleFormat(r)
		if r == '\n' || r == '\t' {
			removed = false
		}
		if r >= 0xE0000 && r <= 0xE0FFF || r >= 0xFFF0 && r <= 0xFFFB {
			removed = true
		}
		if got := Clean("a" + string(r) + "b"); (got == "ab") != removed {
			t.Errorf("EX-7 Clean of %U = %q, want removed %v", r, got, removed)
		}
	}
	if got := Clean("a\xffb"); got != "a\ufffdb" {
		t.Errorf("Clean of invalid UTF-8 = %q", got)
	}
}

// isVisibleFormat reports whether a format character is visible: Egyptian hieroglyph
// joiners are.
func isVisibleFormat(r rune) bool { return r >= 0x13430 && r <= 0x1343F }

func TestCleanKeepsNeeded(t *testing.T) {
	for _, s := range []string{
		"👩\u200d👩\u200d👧\u200d👦", "🏳\ufe0f\u200d🌈", "👩🏽\u200d🚀", "❤\ufe0f", "1\ufe0f\u20e3", "☎\ufe0e", "🧑\u200d⚕\ufe0f",
		"می\u200cخواهم", "क्\u200dष", "ක්\u200dෂ", "ന്\u200d" + "റ",
	} {
		if got := Clean(s); got != s {
			t.Errorf("EX-7 Clean(%+q) = %+q", s, got)
		}
		if got, _ := collapse(s, 100); got != s {
			t.Errorf("EX-7 collapse(%+q) = %+q", s, got)
		}
	}
	for s, want := range map[string]string{
		"a\u200db":                               "ab",
		"a\u200c\u200d\u200cb":                   "ab",
		"می\u200c\u200cخواهم":                    "میخواهم",
		"😀\ufe0f\ufe0e\ufe0f":                    "😀\ufe0f",
		"😀\U000e0100\U000e0165":                  "😀",
		"x\ufe01\ufe0fy":                         "xy",
		"\U000e0001\U000e0069\U000e0067Hi\ufeff": "Hi",
		"5\ufe0f6":                               "56",
		"pay\u00ad\u202eme\u2060":                "payme",
	} {
		if got := Clean(s); got != want {
			t.Errorf("EX-7 Clean(%+q) = %+q, want %+q", s, got, want)
		}
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
