package quote

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestFirstMarked(t *testing.T) {
	for _, c := range []struct {
		name, in string
		n        int
		want     string
	}{
		{"MS-63 whole", "a <mark>b</mark> c", 9, "a <mark>b</mark> c"},
		{"MS-63 an open tag is closed", "a <mark>bcd</mark>", 4, "a <mark>bc</mark>"},
		{"MS-63 a half tag is dropped", "a <mar", 9, "a "},
		{"MS-63 an unmatched end is dropped", "a</mark>b", 9, "ab"},
		{"MS-63 tags do not nest", "<mark>a<mark>b</mark>c</mark>", 9, "<mark>ab</mark>c"},
		{"MS-63 other tags are text", "<b>a</b> < 3", 20, "<b>a</b> < 3"},
		{"MS-63 nothing marked", "<mark></mark>a", 9, "a"},
		{"D15 a cut falls between characters", "<mark>漢字</mark>😀", 1, "<mark>漢</mark>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, _ := firstMarked(c.in, c.n); got != c.want {
				t.Errorf("firstMarked(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
			}
		})
	}
}

func TestAroundMark(t *testing.T) {
	long := strings.Repeat("before ", 40) + "<mark>found</mark>" + strings.Repeat(" after", 40)
	got, _ := AroundMark(long, 60)
	if want := "…efore before before <mark>found</mark> after after after after after aft…"; got != want {
		t.Errorf("AroundMark = %q, want %q", got, want)
	}
	pieces := rapid.SampledFrom([]string{"<mark>", "</mark>", "</ma", "word ", "ä漢", "😀", "\n", "\"", "<", "…", "\u202e", strings.Repeat("x", 50)})
	rapid.Check(t, func(t *rapid.T) {
		s := Balance(strings.Join(rapid.SliceOfN(pieces, 0, 60).Draw(t, "pieces"), ""))
		n := rapid.IntRange(40, 200).Draw(t, "n")
		shown, chars := AroundMark(s, n)
		plain := strings.NewReplacer(openMark, "", closeMark, "").Replace(shown)
		if chars > n || utf8.RuneCountInString(plain) > n+2 || !utf8.ValidString(shown) {
			t.Fatalf("%d characters (%d asked): %q", chars, n, shown)
		}
		if shown != Balance(shown) {
			t.Fatalf("MS-63 tags are not balanced: %q", shown)
		}
		_, rest, _ := strings.Cut(s, openMark)
		whole, _, _ := strings.Cut(rest, closeMark) // with the space around it, which counts too
		if FirstMark(s) != "" && utf8.RuneCountInString(whole) < n/2 && FirstMark(shown) == "" {
			t.Fatalf("TEXT-1 the match %q is not in %q", whole, shown)
		}
	})
}

// TestQuotedLengths compares counted lengths with written texts.
func TestQuotedLengths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z"\\\n\t é…\x00\x7f\x{202e}\x{2028}]*`), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "s")
		if chars, got := Measure(s); got != len(Text(s)) || chars != Count(s) {
			t.Fatalf("Measure(%q) = %d, %d, want %d, %d", s, chars, got, Count(s), len(Text(s)))
		}
		most := rapid.IntRange(0, len(s)+2).Draw(t, "most")
		n := CharsWithin(s, most)
		if len(Text(First(s, n)))-2 > most || n < Count(s) && len(Text(First(s, n+1)))-2 <= most {
			t.Fatalf("%d characters of %q in %d bytes", n, s, most)
		}
	})
}
