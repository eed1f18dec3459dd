package analyzer

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// shown renders every term with the text it came from, as "term=text".
func shown(text string) string {
	var parts []string
	Spans(text, func(term []byte, start, end int) bool {
		parts = append(parts, string(term)+"="+text[start:end])
		return true
	})
	return strings.Join(parts, "|")
}

func TestSpans(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"empty":               {"", ""},
		"english":             {"The Rent, due.", "the=The|rent=Rent|due=due"},
		"typographic":         {"“It’s” – yes", "it=It|s=s|yes=yes"},
		"german":              {"die Müller-Straße", "die=die|muller=Müller|straße=Straße"},
		"german decomposed":   {"Mu\u0308ller, Öl", "muller=Mu\u0308ller|ol=Öl"},
		"mark at the end":     {"cafe\u0301 x", "cafe=cafe\u0301|x=x"},
		"lonely mark":         {"\u0301a", "a=a"},
		"ligature":            {"oﬃce ﬁn", "office=oﬃce|fin=ﬁn"},
		"fraction":            {"a½ b", "a1=a½|2=½|b=b"},
		"unit":                {"5㎏.", "5kg=5㎏"},
		"japanese":            {"東京へ、行く", "東=東|京=京|へ=へ|行=行|く=く"},
		"half width":          {"ﾊﾟﾝ", "パ=ﾊﾟ|ン=ﾝ"},
		"kana decomposed":     {"か\u3099く", "が=か\u3099|く=く"},
		"square word":         {"㌔だ", "キ=㌔|ロ=㌔|だ=だ"},
		"variation selector":  {"葛\U000E0100飾", "葛=葛\U000E0100|飾=飾"},
		"selector in between": {"e\ufe0f\u0301x", "ex=e\ufe0f\u0301x"},
		"keycap":              {"1\ufe0f\u20e32", "12=1\ufe0f\u20e32"},
		"leading selector":    {"\ufe0fab é", "ab=ab|e=é"},
		"thai sara am":        {"น้ำ", "น\u0e49\u0e4d=น้ำ|า=ำ"},
		"korean jamo":         {"\u1112\u1161\u11AB x", "한=\u1112\u1161\u11AB|x=x"},
		"hindi":               {"(नमस्ते)", "नमस्ते=नमस्ते"},
		"full width":          {"ＡＢ！ｄ", "ab=ＡＢ|d=ｄ"},
		"several words":       {"ﷺ", "صلى=ﷺ|الله=ﷺ|عليه=ﷺ|وسلم=ﷺ"},
		"invalid":             {"ab\xffcd ü\xff\ufe0fﬁ", "ab=ab|cd=cd|u=ü|fi=ﬁ"},
		"emoji":               {"ok👍fine", "ok=ok|fine=fine"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, shown(tt.text)); diff != "" {
				t.Errorf("Spans(%+q) (-want +got):\n%s", tt.text, diff)
			}
		})
	}
}

func TestSpansOfLongWordsAreWhole(t *testing.T) {
	for _, letter := range []string{"x", "ж", "ﬁ"} {
		text := strings.Repeat(letter, 200)
		Spans("a "+text+" b", func(term []byte, start, end int) bool {
			if n := utf8.RuneCount(term); n > maxTermChars {
				t.Errorf("term of %d characters", n)
			}
			if len(term) > 1 && (start != 2 || end != 2+len(text)) {
				t.Errorf("%.8q… is at %d to %d, want 2 to %d", text, start, end, 2+len(text))
			}
			return true
		})
	}
}

func TestSpansStops(t *testing.T) {
	for _, text := range []string{"a b c", "ä b c", "漢字漢", "ｱﾞｲｳ", "½ ½"} {
		n := 0
		Spans(text, func([]byte, int, int) bool { n++; return false })
		if n != 1 {
			t.Errorf("Spans(%q) went on %d times after false", text, n-1)
		}
	}
}

// checkSpans checks the invariants of all spans.
func checkSpans(t interface {
	Helper()
	Fatalf(string, ...any)
}, text string,
) {
	t.Helper()
	boundary := map[int]bool{len(text): true}
	for i := range text {
		boundary[i] = true
	}
	var got []string
	lastStart, lastEnd := 0, 0
	Spans(text, func(term []byte, start, end int) bool {
		got = append(got, string(term))
		if start < lastStart || end < lastEnd || start >= end || end > len(text) {
			t.Fatalf("Spans(%+q): %q at %d to %d, after %d to %d", text, term, start, end, lastStart, lastEnd)
		}
		if !boundary[start] || !boundary[end] {
			t.Fatalf("Spans(%+q): %q at %d to %d splits a character", text, term, start, end)
		}
		first, _ := utf8.DecodeRuneInString(text[start:])
		if unicode.IsSpace(first) {
			t.Fatalf("Spans(%+q): %q starts with a space", text, text[start:end])
		}
		lastStart, lastEnd = start, end
		return true
	})
	if diff := cmp.Diff(terms(text), got); diff != "" {
		t.Fatalf("Spans(%+q) (-Terms +got):\n%s", text, diff)
	}
}

func TestSpansEqualTerms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.OneOf(anyText(), rapid.String(), rapid.Just(" "), rapid.Just("a")), 0, 4)
		checkSpans(t, strings.Join(parts.Draw(t, "parts"), ""))
	})
}

// TestSpansOfEveryCharacter puts each character between letters and marks.
func TestSpansOfEveryCharacter(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r >= 0x20000 && !unicode.IsGraphic(r) { // unassigned and private planes
			continue
		}
		c := string(r)
		for _, text := range []string{"é" + c + "\u0301x", "e\u0301" + c, "ה" + c + c + "\u05B8"} {
			var got []string
			Spans(text, func(term []byte, _, _ int) bool {
				got = append(got, string(term))
				return true
			})
			if !slices.Equal(got, terms(text)) {
				t.Fatalf("Spans(%+q) = %+q, want %+q", text, got, terms(text))
			}
		}
	}
}

func FuzzSpans(f *testing.F) {
	for _, s := range []string{
		"April rent", "Mu\u0308ller Straße", "ﾊﾟン", "น้ำ", "1️⃣", "한\u11a8", "ab\xffc",
		"क" + strings.Repeat("\u093c\u0301", 40), "\u0344\u0345", "ﷺ", "e\ufe0f\u0301",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) { checkSpans(t, text) })
}

func BenchmarkSpans(b *testing.B) {
	for name, text := range map[string]string{
		"ascii":      "Paid by standing order, see the letter from the bank of 2 April; amount 1,249.90 EUR. ",
		"german":     "Die Überweisung an Müller in der Bergstraße wurde am 3. März ausgeführt. ",
		"decomposed": "Die U\u0308berweisung an Mu\u0308ller wurde am 3. Ma\u0308rz ausgefu\u0308hrt. ",
		"japanese":   "四月の家賃は銀行からの手紙のとおり、自動引き落としで支払いました。",
	} {
		b.Run(name, func(b *testing.B) {
			long := strings.Repeat(text, 100)
			b.SetBytes(int64(len(long)))
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				Spans(long, func(_ []byte, start, end int) bool { n += end - start; return true })
			}
			if n == 0 {
				b.Fatal("no spans")
			}
		})
	}
}
