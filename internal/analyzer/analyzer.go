package analyzer

import "unicode/utf8"

// Limits of Q-4.
const (
	// maxTermChars is the length at which a term is cut.
	maxTermChars = 64
	// MaxFieldTerms is the number of distinct terms indexed per field. The caller
	// counts them.
	MaxFieldTerms = 20000
)

// Terms calls yield for every term of text in order, repeated terms included,
// until yield returns false. The slice passed is only valid during the call.
// Terms may be called from several goroutines, and from within yield.
func Terms(text string, yield func(term []byte) bool) {
	s := scratchPool.Get().(*scratch)
	s.scan(text, yield)
	s.release()
}

// Query returns the distinct terms of a query in order of first appearance.
func Query(q string) []string {
	var terms []string
	seen := make(map[string]struct{})
	Terms(q, func(term []byte) bool {
		if _, ok := seen[string(term)]; !ok {
			t := string(term)
			seen[t] = struct{}{}
			terms = append(terms, t)
		}
		return true
	})
	return terms
}

// scan finds the terms of text. It folds ASCII words itself, and passes a word with any
// other character to segment as a whole.
func (s *scratch) scan(text string, yield func([]byte) bool) {
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case byteClass[c] == separator:
			i++
		case isWord(byteClass[c]):
			end, n, ok := s.asciiRun(text, i)
			if !ok {
				end, ok = s.segment(text, i, yield)
			} else {
				ok = yield(s.term[:n])
			}
			if !ok {
				return
			}
			i = end
		default:
			if n := separatorLen(text[i:]); n > 0 {
				i += n
				continue
			}
			end, ok := s.segment(text, i, yield)
			if !ok {
				return
			}
			i = end
		}
	}
}

// asciiRun folds the run of ASCII letters and digits that starts at start into
// the term buffer. It returns the end of the run and the length of its term; ok is false
// when the word continues with a character that is not ASCII.
func (s *scratch) asciiRun(text string, start int) (end, n int, ok bool) {
	i := start
	stop := min(len(text), start+maxTermChars)
	for ; i < stop; i++ {
		c := byteClass[text[i]]
		if !isWord(c) {
			break
		}
		s.term[i-start] = c
	}
	n = i - start
	for i < len(text) && isWord(byteClass[text[i]]) {
		i++
	}
	if i < len(text) && byteClass[text[i]] == nonASCII && separatorLen(text[i:]) == 0 {
		return 0, 0, false
	}
	return i, n, true
}

// segment yields the terms from start to the next certain separator. They do not depend
// on the text outside: a mark after a separator has no letter to belong to, whatever
// normalization does with the two. It returns the end, and false when yield did.
func (s *scratch) segment(text string, start int, yield func([]byte) bool) (end int, ok bool) {
	if end, n, ok := s.simpleWord(text, start); ok {
		return end, yield(s.term[:n])
	}
	end = segmentEnd(text, start)
	return end, s.words(s.normalize(text[start:end]), yield)
}

// simpleWord is like asciiRun, for a segment that is one word of letters and digits
// which normalization does not change, whatever is around them: most words in Latin,
// Greek and Cyrillic letters. ok is false for any other segment.
func (s *scratch) simpleWord(text string, start int) (end, n int, ok bool) {
	var w word
	for end = start; end < len(text); {
		c := byteClass[text[end]]
		if isWord(c) {
			s.add(&w, rune(c))
			end++
			continue
		}
		if c == separator || separatorLen(text[end:]) > 0 {
			break
		}
		r, size := utf8.DecodeRuneInString(text[end:])
		f := lookup(r)
		if f.kind != bare || !f.settled {
			return 0, 0, false
		}
		s.add(&w, f.r)
		end += size
	}
	return end, w.size, true
}

// segmentEnd returns the offset of the next certain separator at or after start.
func segmentEnd(text string, start int) int {
	for i := start; i < len(text); i++ {
		c := byteClass[text[i]]
		if c == separator || c == nonASCII && separatorLen(text[i:]) > 0 {
			return i
		}
	}
	return len(text)
}
