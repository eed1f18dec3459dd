package evidence

import (
	"unicode"
	"unicode/utf8"
)

// TextSearch looks for a text in another that is read once, from its start: character by
// character under simple case folding (FW-1), in the way of Knuth, Morris and Pratt.
type TextSearch struct {
	pattern []rune
	fail    []int // for each prefix of the pattern, the longest one that it also ends with
	matched int
}

// NewTextSearch makes a TextSearch for a text that is not empty.
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

// Chars is the length of a match in characters.
func (s *TextSearch) Chars() int { return len(s.pattern) }

// Next takes the next character and reports whether a match ends with it. Matches do
// not overlap.
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

// foldRune is the least of the characters that fold together.
func foldRune(r rune) rune {
	if r < utf8.RuneSelf { // a capital letter comes before all that it folds with
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
