package analyzer

import (
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// kind is the effect of a normalized character on the term being built.
type kind uint8

const (
	other   kind = iota // separates
	mark                // joins the letter or digit before it
	bare                // joins the run; marks on it are removed
	keeping             // joins the run; marks on it are kept
	alone               // a term of its own, with the marks that follow
)

// folded is a character as it is indexed.
type folded struct {
	r       rune
	kind    kind
	ccc     uint8 // canonical combining class
	settled bool  // not ignored, and left as it is by NFKC after any character
}

// page has the classes of 256 characters. Pages are built when first needed, because the
// data of a person is in few scripts.
type page [256]folded

var pages [(unicode.MaxRune + 1) / len(page{})]atomic.Pointer[page]

// lookup returns what classify does, from a cache.
func lookup(r rune) folded {
	switch {
	case r >= 0x4E00 && r <= 0x9FFF: // Han
		return folded{r: r, kind: alone, settled: true}
	case r >= 0xAC00 && r <= 0xD7A3: // Hangul syllables
		return folded{r: r, kind: keeping, settled: true}
	}
	p := pages[r>>8].Load()
	if p == nil {
		p = makePage(r &^ 0xFF)
		pages[r>>8].Store(p)
	}
	return p[r&0xFF]
}

func makePage(first rune) *page {
	p := new(page)
	for i := range p {
		p[i] = classify(first + rune(i))
	}
	return p
}

// classify returns the class of a character. Its kind and folding are valid only for
// characters in NFKC.
func classify(r rune) folded {
	f := fold(r)
	text := utf8.AppendRune([]byte("0"), r)
	f.ccc = norm.NFKC.Properties(text[1:]).CCC()
	f.settled = !isIgnored(r) && norm.NFKC.QuickSpan(text) == len(text)
	return f
}

func fold(r rune) folded {
	switch {
	case unicode.Is(unicode.M, r):
		return folded{r: r, kind: mark}
	case !unicode.IsLetter(r) && !unicode.IsNumber(r):
		return folded{r: r, kind: other}
	case isSpaceless(r):
		return folded{r: r, kind: alone}
	case unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Common):
		return folded{r: foldCase(base(r)), kind: bare}
	}
	return folded{r: foldCase(r), kind: keeping}
}

// isSpaceless reports whether a letter or digit belongs to a script that is
// written without spaces. The kana length mark and its neighbours have no script
// of their own in Unicode, being shared by Han and kana.
func isSpaceless(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana,
		unicode.Thai, unicode.Lao, unicode.Khmer) ||
		r >= 0x3005 && r <= 0x303C || r == 0x30FC
}

// base returns the letter of a composed character: the first of its canonical
// decomposition. The others are marks.
func base(r rune) rune {
	var buf [utf8.UTFMax]byte
	d := norm.NFD.Properties(buf[:utf8.EncodeRune(buf[:], r)]).Decomposition()
	if len(d) == 0 {
		return r
	}
	first, _ := utf8.DecodeRune(d)
	return first
}

// foldCase returns one representative of all characters that are equal under simple case
// folding. Converting to upper case first makes, for example, final and medial sigma
// equal. A character without a partner is unchanged, which lower case alone would not
// always ensure.
func foldCase(r rune) rune {
	if unicode.SimpleFold(r) == r {
		return r
	}
	return unicode.ToLower(unicode.ToUpper(r))
}

// isIgnored reports whether r is removed first of all: the variation selectors, Mongolian
// ones included, and the grapheme joiner.
func isIgnored(r rune) bool {
	return r == 0x034F || r >= 0x180B && r <= 0x180F && r != 0x180E ||
		r >= 0xFE00 && r <= 0xFE0F || r >= 0xE0100 && r <= 0xE01EF
}
