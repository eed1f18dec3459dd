package analyzer

import (
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// slowShown returns shown by the path for words that are not simple.
func slowShown(text string) string {
	var parts []string
	w := spanWord{scratch: new(scratch), yield: func(term []byte, start, end int) bool {
		parts = append(parts, string(term)+"="+text[start:end])
		return true
	}}
	w.segment(text, 0)
	return strings.Join(parts, "|")
}

type fataler interface {
	Helper()
	Fatalf(string, ...any)
}

// checkSimple compares the terms and spans of text with those of the slow path.
func checkSimple(t fataler, text string) {
	t.Helper()
	if diff := cmp.Diff(slow(text), terms(text)); diff != "" {
		t.Fatalf("Q-4 Terms(%+q) (-slow +fast):\n%s", text, diff)
	}
	if diff := cmp.Diff(slowShown(text), shown(text)); diff != "" {
		t.Fatalf("Spans(%+q) (-slow +fast):\n%s", text, diff)
	}
}

// isSimple reports whether all of text is one simple word.
func isSimple(text string) bool {
	end, _, ok := new(scratch).simpleWord(text, 0)
	return ok && end == len(text)
}

func TestSimpleWordsEqualSlowPath(t *testing.T) {
	words := rapid.SampledFrom([]string{
		"Überweisung", "größte", "ŁÓDŹ", "Ångström", "naïve", "İzmir", "привет", "Ёлка", "Ὀδυσσεύς", "Σίσυφος", "3. März", "a", " ", "– ",
		"ﬁn", "½", "e\u0301", "\u0301", "漢字", "한국", "नमस्ते", "\ufe0f", "«", "\xff", strings.Repeat("äx", 40),
	})
	simple := 0
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(words, 0, 6).Draw(t, "words"), "")
		if isSimple(text) {
			simple++
		}
		checkSimple(t, text)
	})
	if simple == 0 && !testing.Short() {
		t.Error("no simple word was drawn")
	}
}

// TestSimpleCharacters puts each character where a simple word could have it.
func TestSimpleCharacters(t *testing.T) {
	n := 0
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		text := "x" + string(r) + "ü"
		if isSimple(text) {
			n++
			checkSimple(t, text)
			checkSimple(t, string(r)+" a")
		}
	}
	if !isSimple("Straße") || !isSimple("апреля") || isSimple("ﬁn") || isSimple("e\u0301") || n < 1000 {
		t.Errorf("%d characters make simple words", n)
	}
}
