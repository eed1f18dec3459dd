package evidence

import (
	"encoding/base64"
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"pdpp"
	"pdpp/internal/analyzer"
	"pdpp/internal/rawjson"
)

// The tests of this file compare the fast paths, which most text takes, with the slow
// paths, which are correct for all text.

// plainText draws text that often needs no cleaning.
func plainText() *rapid.Generator[string] {
	word := rapid.SampledFrom([]string{"rent", "April ", " ", "a > b", "Müller ", "家賃", "“so” – ", "\n", "\t", "é", "mark", "\u007f", "\u0085", "\u2028", "\xff", "<mark>"})
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(word, 0, 12).Draw(t, "words"), "")
	})
}

// TestPlainRendering checks that plain text may skip scrub.
func TestPlainRendering(t *testing.T) {
	plain := 0
	rapid.Check(t, func(t *rapid.T) {
		content := plainText().Draw(t, "content")
		f := NewFinder(analyzer.Query("rent april müller 家 b"))
		found := f.find(Text{Field: "f", Content: content}).best.places
		start := rapid.SampledFrom(runeStarts(content)).Draw(t, "start")
		end := rapid.SampledFrom(runeStarts(content[start:])).Draw(t, "end") + start
		text := content[start:end]
		scrubbed, moved := scrub(text, start, found)
		if !isPlain(text) {
			return
		}
		plain++
		var short, long strings.Builder
		marked := writeMarked(&short, text, start, found)
		if again := writeMarked(&long, scrubbed, 0, moved); short.String() != long.String() || marked != again {
			t.Fatalf("Q-7 %q from %d: %q, scrubbed %q", content, start, short.String(), long.String())
		}
	})
	if plain == 0 && !testing.Short() {
		t.Error("no plain text was drawn")
	}
}

// runeStarts returns the offsets at which s may be cut.
func runeStarts(s string) []int {
	at := []int{len(s)}
	for i := range s {
		at = append(at, i)
	}
	return at
}

// TestIsPlain checks that text that scrub changes is not plain.
func TestIsPlain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(plainText(), searched(), rapid.String()).Draw(t, "s")
		if scrubbed, _ := scrub(s, 0, nil); isPlain(s) && scrubbed != s {
			t.Fatalf("EX-7 %q is plain, but scrub returns %q", s, scrubbed)
		}
		var kept []rune
		for i, r := range s {
			if !IsRemovedAt(s, i, r) {
				kept = append(kept, r)
			}
		}
		mapped := string(kept)
		if isClean(s) != (mapped == s) || Clean(s) != mapped {
			t.Fatalf("EX-7 isClean(%q) = %v, but Clean returns %q", s, isClean(s), mapped)
		}
	})
}

// TestCollapse compares with a simple implementation of EX-3: words with one space
// between them, then the cut.
func TestCollapse(t *testing.T) {
	short := 0
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(plainText(), rapid.StringMatching(`[ -~]{0,9}`)).Draw(t, "s")
		n := max(1, len(s)+rapid.IntRange(-3, 3).Draw(t, "n"))
		kept := strings.Map(func(r rune) rune {
			if IsInvisible(r) && !unicode.IsSpace(r) {
				return -1
			}
			return r
		}, s)
		whole := []rune(strings.Join(strings.Fields(kept), " "))
		want := strings.TrimRight(string(whole[:min(n, len(whole))]), " ")
		if got, cut := collapse(s, n); got != want || cut != (len(whole) > n) {
			t.Fatalf("EX-3 collapse(%q, %d) = %q, %v, want %q", s, n, got, cut, want)
		}
		if isLine(s, n) {
			short++
		}
	})
	if short == 0 && !testing.Short() {
		t.Error("no line was drawn")
	}
}

// TestCharacters compares counting and cutting with rune slices.
func TestCharacters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(plainText(), rapid.StringMatching(`[ -~]{0,40}`)).Draw(t, "s")
		if got := charCount(s); got != utf8.RuneCountInString(s) {
			t.Fatalf("charCount(%q) = %d", s, got)
		}
		at := append(runeStarts(s)[1:], len(s)) // of each character, and of the end
		n := rapid.IntRange(0, len(at)+2).Draw(t, "n")
		want := s[:at[min(n, len(at)-1)]]
		if got, cut := cutChars(s, n); got != want || cut != (len(want) < len(s)) {
			t.Fatalf("cutChars(%q, %d) = %q, %v, want %q", s, n, got, cut, want)
		}
		i := rapid.IntRange(0, len(at)-1).Draw(t, "i")
		if got, want := back(s, at[i], n), at[max(0, i-n)]; got != want {
			t.Fatalf("back(%q, %d, %d) = %d, want %d", s, at[i], n, got, want)
		}
	})
}

// TestIsASCII tests a text with a byte that is not ASCII at each position.
func TestIsASCII(t *testing.T) {
	for size := range 20 {
		text := strings.Repeat("~", size)
		if !isASCII(text) {
			t.Errorf("isASCII(%q) = false", text)
		}
		for i := range size {
			if other := text[:i] + "\x80" + text[i+1:]; isASCII(other) {
				t.Errorf("isASCII(%q) = true", other)
			}
		}
	}
}

// TestFinder compares the matches with all terms of the text, and those of a reused
// finder with those of a new one.
func TestFinder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := rapid.SampledFrom([]string{"rent", "rent mark müller", "家賃 x", strings.Repeat("x", 90) + " a", strings.Repeat("山", 30)}).Draw(t, "q")
		terms := analyzer.Query(q)
		f := NewFinder(terms)
		var before []match
		for range 3 {
			content := searched().Draw(t, "content")
			count, seen := 0, map[string]bool{}
			analyzer.Terms(content, func(term []byte) bool {
				for _, want := range terms {
					if want == string(term) {
						count++
						seen[want] = true
					}
				}
				return true
			})
			m := f.find(Text{Field: "f", Content: content})
			if m.count != count || m.distinct != len(seen) {
				t.Fatalf("Q-7 %q in %q: %d of %d terms, want %d of %d", terms, content, m.count, m.distinct, count, len(seen))
			}
			before = append(before, m)
		}
		for _, m := range before {
			if fresh := NewFinder(terms).find(m.Text); !reflect.DeepEqual(m, fresh) {
				t.Fatalf("EX-6 %q in %q: %+v, a new finder returns %+v", terms, m.Content, m, fresh)
			}
		}
	})
}

// TestRecordReuse checks that a reused record contains nothing of its previous data.
func TestRecordReuse(t *testing.T) {
	const roles = "primary-title=a secondary=a actor=text primary-text=text event-time=at blob=scan"
	data := rapid.Custom(func(t *rapid.T) string {
		names := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "text", "at", "scan", "title", `\u0061t`}), func(s string) string { return strings.ReplaceAll(s, `\u0061`, "a") })
		value := rapid.SampledFrom([]string{`"April rent"`, `"2026-04-30"`, `7`, `null`, `{"blob_id":"b1","size":3}`, `[{"blob_id":"b2"},{"blob_id":"b3"}]`})
		var members []string
		for _, name := range names.Draw(t, "names") {
			members = append(members, `"`+name+`":`+value.Draw(t, "value"))
		}
		return "{" + strings.Join(members, ",") + "}"
	})
	used := entry("{}", strings.Fields(roles)...)
	rapid.Check(t, func(t *rapid.T) {
		d := data.Draw(t, "data")
		used.SetData([]byte(d))
		fresh := entry(d, strings.Fields(roles)...)
		got := AppendExcerpts(AppendCard(nil, used, EventTimeOf(used)), used, Excerpts(used, Matches{}))
		want := AppendExcerpts(AppendCard(nil, fresh, EventTimeOf(fresh)), fresh, Excerpts(fresh, Matches{}))
		if string(got) != string(want) {
			t.Fatalf("EX-1 of %s: %s, want %s", d, got, want)
		}
		for _, name := range []string{"a", "text", "at", "none"} {
			value, ok := used.value(name)
			if raw, has := rawjson.Get([]byte(d), name); ok != has || string(value) != string(raw) {
				t.Fatalf("%s of %s = %s, %v", name, d, value, ok)
			}
		}
	})
}

// TestCardAfterText checks that existing bytes do not count towards the size of a card.
func TestCardAfterText(t *testing.T) {
	r := entry(`{"a":"`+strings.Repeat("x", 160)+`"}`, "secondary=a")
	before := strings.Repeat("x", maxCardBytes)
	card := AppendCard(nil, r, EventTimeOf(r))
	if got := AppendCard([]byte(before), r, EventTimeOf(r)); string(got) != before+string(card) {
		t.Errorf("EX-2 card = %s, want %s", got[len(before):], card)
	}
}

// TestBinaryTextBound tests the smallest length of a binary text.
func TestBinaryTextBound(t *testing.T) {
	for n, want := range map[int]bool{252: false, 256: true} {
		if got := (Text{Content: base64.StdEncoding.EncodeToString(octets(n / 4 * 3))}).isBinary(); got != want {
			t.Errorf("EX-8 %d characters of base64: binary %v, want %v", n, got, want)
		}
	}
}

// TestURLsNeedNoEscapes checks that URLs can be written into JSON without escapes.
func TestURLsNeedNoEscapes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := entry("{}")
		r.Stream = rapid.String().Draw(t, "stream")
		r.ID = pdpp.RecordID(rapid.OneOf(rapid.String(), plainText()).Draw(t, "id"))
		r.ConnectionID = pdpp.ConnectionID(rapid.String().Draw(t, "connection"))
		blob := AppendBlobURL(nil, r.Stream, r.ConnectionID)
		window := fieldWindow{field: r.Stream}.appendURL(nil, r)
		for _, url := range [][]byte{AppendRecordURL(nil, r), blob, window} {
			if got := string(rawjson.AppendString(nil, string(url))); got != `"`+string(url)+`"` {
				t.Fatalf("URL %q", url)
			}
		}
	})
}
