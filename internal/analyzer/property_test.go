package analyzer

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

// slow returns the terms of text by the path for text that is not ASCII.
func slow(text string) []string {
	var got []string
	s := new(scratch)
	s.words(s.normalize(text), func(term []byte) bool {
		got = append(got, string(term))
		return true
	})
	return got
}

// reference implements Q-4 in a simple way and another order: decompose all, filter,
// compose, split.
func reference(text string) []string {
	text = strings.ToValidUTF8(text, "\ufffd")
	text = strings.Map(func(r rune) rune {
		if r == 0x34F || unicode.Is(unicode.Variation_Selector, r) {
			return -1
		}
		return r
	}, text)
	var kept strings.Builder
	base := ' '
	for _, r := range norm.NFKD.String(text) {
		if !unicode.IsMark(r) {
			base = r
			r = foldCase(r)
		} else if !keepsMarks(base) {
			continue
		}
		kept.WriteRune(r)
	}
	return splitTerms(norm.NFC.String(kept.String()))
}

func keepsMarks(base rune) bool {
	if !unicode.IsLetter(base) && !unicode.IsNumber(base) {
		return false
	}
	return isSpaceless(base) || !unicode.In(base, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Common)
}

func splitTerms(text string) []string {
	var got []string
	open := false
	for _, r := range text {
		switch {
		case unicode.IsMark(r):
			got[len(got)-1] += string(r)
		case !unicode.IsLetter(r) && !unicode.IsNumber(r):
			open = false
		case isSpaceless(r):
			got, open = append(got, string(r)), false
		case open:
			got[len(got)-1] += string(r)
		default:
			got, open = append(got, string(r)), true
		}
	}
	return got
}

// anyText draws words of the characters that the rules mention.
func anyText() *rapid.Generator[string] {
	const pool = "aZ09 .<-_ÄéßẞſİıǅﬁŁ½²№\u0301\u0308\u0338\u0345µΩς́άᾳйЁ\u0483ᲀ" +
		"漢字〇々〆か\u3099ﾊﾟーｰ，。　กิำລຳខ្한가\u1100\u1161\u11A8שָאَहिक्ཱོིো" +
		"٣፩❤\ufe0f\u034f\u20e3\u200d\U000E0100👍\ufffd“–Ꭰꭰ𞤀𞤢Ᲊ\U0001D400ﷺ"
	runes := append([]rune(pool), -1)
	return rapid.Custom(func(t *rapid.T) string {
		var sb strings.Builder
		for _, r := range rapid.SliceOfN(rapid.SampledFrom(runes), 0, 14).Draw(t, "runes") {
			if r < 0 {
				sb.WriteByte(0xE3)
				continue
			}
			sb.WriteRune(r)
		}
		return sb.String()
	})
}

func TestTermsEqualReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := anyText().Draw(t, "text")
		if diff := cmp.Diff(reference(text), terms(text)); diff != "" {
			t.Fatalf("Terms(%+q) (-reference +got):\n%s", text, diff)
		}
	})
}

func TestASCIIEqualsSlowPath(t *testing.T) {
	ascii := rapid.StringOf(rapid.RuneFrom(nil, &unicode.RangeTable{
		R16: []unicode.Range16{{Lo: 0, Hi: 0x7F, Stride: 1}},
	}))
	rapid.Check(t, func(t *rapid.T) {
		text := ascii.Draw(t, "text")
		if diff := cmp.Diff(slow(text), terms(text)); diff != "" {
			t.Fatalf("Terms(%q) (-slow +fast):\n%s", text, diff)
		}
	})
}

// TestEveryCharacter checks each character after nothing and after a
// letter that keeps its marks, with a mark behind it.
func TestEveryCharacter(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r >= 0x20000 && !unicode.IsGraphic(r) { // unassigned and private planes
			continue
		}
		for _, text := range []string{string(r) + "\u0301x", "ה" + string([]rune{r, r}) + "\u05B8"} {
			got := terms(text)
			if want := reference(text); !slices.Equal(got, want) {
				t.Fatalf("Terms(%+q) = %+q, want %+q", text, got, want)
			}
			checkTerms(t, got)
		}
		if lookup(r) != classify(r) {
			t.Errorf("lookup(%U) = %v, want classify's %v", r, lookup(r), classify(r))
		}
	}
}

// TestCaseOrbits checks that simple case folding holds: all characters of an
// orbit are one term. U+0345 is a mark, though it folds to a letter.
func TestCaseOrbits(t *testing.T) {
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		next := unicode.SimpleFold(r)
		if r == next || r == 0x345 || next == 0x345 {
			continue
		}
		if got, want := terms(string(next)), terms(string(r)); !slices.Equal(got, want) {
			t.Errorf("Terms(%q) = %q, but Terms(%q) = %q", next, got, r, want)
		}
	}
}

func TestSeparatorLen(t *testing.T) {
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		text := string(r) + "  "
		if n := separatorLen(text); n != 0 && (n != utf8.RuneLen(r) || len(slow(string(r))) != 0) {
			t.Errorf("separatorLen(%U) = %d, but its terms are %q", r, n, slow(string(r)))
		}
	}
}

// checkTerms checks the invariants of every term.
func checkTerms(t *testing.T, got []string) {
	t.Helper()
	for _, term := range got {
		if n := utf8.RuneCountInString(term); n < 1 || n > maxTermChars || !utf8.ValidString(term) {
			t.Fatalf("term %+q has %d characters, valid: %v", term, n, utf8.ValidString(term))
		}
		for _, r := range term {
			if !unicode.In(r, unicode.L, unicode.M, unicode.N) {
				t.Fatalf("term %+q holds %U", term, r)
			}
		}
		if again := terms(term); len(again) != 1 || again[0] != term {
			t.Fatalf("term %+q is analyzed again as %+q", term, again)
		}
	}
}

func FuzzTerms(f *testing.F) {
	for _, s := range []string{
		"April rent", "Müller Straße", "ﾊﾟン", "น้ำ", "1️⃣", "한\u11a8", "ab\xffc",
		"क" + strings.Repeat("\u093c\u0301", 40), "\u0344\u0345", "ﷺ",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) { checkTerms(t, terms(text)) })
}
