package evidence

import (
	"unicode"
	"unicode/utf8"
)

// TextSearch searches a text that is read once, character by character, under simple case
// folding (FW-1). It uses the algorithm of Knuth, Morris and Pratt.
type TextSearch struct {
	pattern []rune
	fail    []int // for each prefix of the pattern, the length of its longest proper border
	matched int
}

// NewTextSearch returns a search for a text, which must not be empty.
func NewTextSearch(text string) *TextSearch {
	s := &TextSearch{pattern: make([]rune, 0, utf8.RuneCountInString(text))}
	for _, r := range text {
		s.pattern = append(s.pattern, foldRune(r))
	}
	s.fail = make([]int, len(s.pattern))
	for i, n := 1, 0; i < len(s.pattern); i++ {
		for n > 0 && s.pattern[n] != s.pattern[i] {
			n = s.fail[n-1]
		}
		if s.pattern[n] == s.pattern[i] {
			n++
		}
		s.fail[i] = n
	}
	return s
}

// Chars returns the length of a match in characters.
func (s *TextSearch) Chars() int { return len(s.pattern) }

// Next reads the next character and reports whether a match ends with it. Matches do not
// overlap.
func (s *TextSearch) Next(r rune) bool {
	r = foldRune(r)
	for s.matched > 0 && s.pattern[s.matched] != r {
		s.matched = s.fail[s.matched-1]
	}
	if s.pattern[s.matched] == r {
		s.matched++
	}
	if s.matched < len(s.pattern) {
		return false
	}
	s.matched = 0
	return true
}

// foldRune returns the smallest of the characters that fold together.
func foldRune(r rune) rune {
	if r < utf8.RuneSelf { // an upper-case letter is smaller than all that fold with it
		if r >= 'a' && r <= 'z' {
			r -= 'a' - 'A'
		}
		return r
	}
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return least
}
