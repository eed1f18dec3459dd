package evidence

import (
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"pdpp/internal/analyzer"
	"pdpp/internal/rawjson"
)

type failer interface {
	Helper()
	Fatalf(string, ...any)
}

// stripTags removes the highlights from a preview. It returns false when they are nested,
// empty or not balanced.
func stripTags(preview string) (plain string, ok bool) {
	var sb strings.Builder
	for preview != "" {
		before, rest, found := strings.Cut(preview, openMark)
		if strings.Contains(before, closeMark) {
			return "", false
		}
		sb.WriteString(before)
		if !found {
			break
		}
		inside, after, closed := strings.Cut(rest, closeMark)
		if !closed || inside == "" || strings.Contains(inside, openMark) {
			return "", false
		}
		sb.WriteString(inside)
		preview = after
	}
	return sb.String(), true
}

// dropTags removes the tags of the text itself until none is left.
func dropTags(s string) string {
	for i := 0; i < len(s); {
		switch {
		case strings.HasSuffix(s[:i+1], openMark):
			s, i = s[:i+1-len(openMark)]+s[i+1:], max(0, i+1-len(openMark))
		case strings.HasSuffix(s[:i+1], closeMark):
			s, i = s[:i+1-len(closeMark)]+s[i+1:], max(0, i+1-len(closeMark))
		default:
			i++
		}
	}
	return s
}

// checkExcerpt checks the properties of every excerpt of content.
func checkExcerpt(t failer, content string, e Excerpt) {
	t.Helper()
	source := []rune(content)
	if e.Total != len(source) || e.Start < 0 || e.Start > e.End || e.End > e.Total {
		t.Fatalf("EX-6 %d to %d of %d; the text has %d: %q", e.Start, e.End, e.Total, len(source), content)
	}
	if e.End-e.Start > maxExcerpt {
		t.Fatalf("EX-6 %d characters of %q", e.End-e.Start, content)
	}
	plain, ok := stripTags(e.Preview)
	if !ok {
		t.Fatalf("Q-7 tags of %q", e.Preview)
	}
	if e.Highlighted != strings.Contains(e.Preview, openMark) || !utf8.ValidString(e.Preview) {
		t.Fatalf("highlighted %v, valid %v: %q", e.Highlighted, utf8.ValidString(e.Preview), e.Preview)
	}
	want := dropTags(Clean(string(source[e.Start:e.End])))
	if e.Start > 0 {
		want = ellipsis + want
	}
	if e.End < e.Total {
		want += ellipsis
	}
	if plain != want {
		t.Fatalf("EX-6 preview %q, the source at %d to %d is %q", plain, e.Start, e.End, want)
	}
	if strings.ContainsFunc(e.Preview, func(r rune) bool { return IsInvisible(r) && !isSometimesNeeded(r) }) {
		t.Fatalf("EX-7 preview %q", e.Preview)
	}
}

// checkSearch checks an excerpt, and that it marks a found term.
func checkSearch(t failer, content, q string) {
	t.Helper()
	terms := analyzer.Query(q)
	m := NewFinder(terms).Find([]Text{{Field: "f", Content: content}})
	has := false
	analyzer.Terms(content, func(term []byte) bool {
		for _, want := range terms {
			has = has || want == string(term)
		}
		return !has
	})
	if has != (len(m.Fields()) == 1) {
		t.Fatalf("Q-7 %q in %q: %v, found %q", terms, content, has, m.Fields())
	}
	ex := Excerpts(&Record{}, m)
	if !has || (Text{Content: content}).isBinary() {
		if len(ex) != 0 {
			t.Fatalf("excerpt %+v of a text that does not match or is binary", ex)
		}
		return
	}
	checkExcerpt(t, content, ex[0])
	if !ex[0].Highlighted && !strings.Contains(Clean(content), "mark>") {
		t.Fatalf("nothing marked in %q for %q", ex[0].Preview, terms)
	}
}

// searched draws a text of words and other parts at which cuts are difficult.
func searched() *rapid.Generator[string] {
	word := rapid.SampledFrom([]string{
		"rent", "April", " ", "  ", "\n", "Müller", "mu\u0308ller", "家賃", "ﾊﾟﾝ", "½", "ﷺ", "<mark>", "</mark>", "<ma", "rk>", "mark",
		"\u202e", "\x00", "…", "👩‍👩‍👧", "e\u0301\u0301", "\xff", "lorem ipsum dolor ", strings.Repeat("x", 90), strings.Repeat("山", 150),
	})
	return rapid.Custom(func(t *rapid.T) string {
		least := rapid.SampledFrom([]int{0, 20, 60}).Draw(t, "least") // short slices are likely otherwise
		return strings.Join(rapid.SliceOfN(word, least, 80).Draw(t, "words"), "")
	})
}

func TestExcerptProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := rapid.SampledFrom([]string{"rent", "april rent", "müller 家賃", "mark", "1 2 パン", "x", strings.Repeat("x", 64)}).Draw(t, "q")
		checkSearch(t, searched().Draw(t, "content"), q)
	})
}

func TestLeadingProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		content := string([]rune(searched().Draw(t, "content")))
		r := entry(string(append(rawjson.AppendString([]byte(`{"text":`), content), '}')))
		for _, e := range Excerpts(r, Matches{}) {
			checkExcerpt(t, content, e)
			if e.Start != 0 || e.Highlighted {
				t.Fatalf("EX-6 beginning: %+v", e)
			}
		}
	})
}

func FuzzExcerpt(f *testing.F) {
	f.Add("April rent for the flat", "rent")
	f.Add(strings.Repeat("lorem ipsum ", 60)+"Mu\u0308ller"+strings.Repeat(" x", 300), "müller")
	f.Add(strings.Repeat("山", 400)+"家賃"+strings.Repeat("川", 400), "家賃")
	f.Add("a <ma<mark>rk> \u202eb ½ \xff", "mark 1")
	f.Add(strings.Repeat("ﷺ", 300), "الله")
	f.Fuzz(func(t *testing.T, content, q string) { checkSearch(t, content, q) })
}

// TestLongText checks that memory does not grow with the text, even if every word matches.
func TestLongText(t *testing.T) {
	const size = 8 << 20
	terms := analyzer.Query("april rent 家賃")
	for name, unit := range map[string]string{"matches": "rent ", "German": "Müller zahlt keine Miete; ", "Japanese": "四月の家賃、"} {
		content := strings.Repeat(unit, size/len(unit)) + " april rent"
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		m := NewFinder(terms).Find([]Text{{Field: "f", Content: content}})
		ex := Excerpts(&Record{}, m)
		runtime.ReadMemStats(&after)
		if ex[0].Total != utf8.RuneCountInString(content) || !ex[0].Highlighted {
			t.Errorf("%s: excerpt %+v", name, ex[0])
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
			t.Errorf("%s: %d KiB were allocated for a text of %d", name, n>>10, size>>10)
		}
	}
}

func BenchmarkFind(b *testing.B) {
	content := strings.Repeat("Paid by standing order, see the letter from the bank of 2 April; ", 2000)
	b.SetBytes(int64(len(content)))
	b.ReportAllocs()
	for b.Loop() {
		if m := NewFinder([]string{"april", "letter"}).Find([]Text{{Field: "f", Content: content}}); len(m.Fields()) != 1 {
			b.Fatal("not found")
		}
	}
}
