package analyzer

import (
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Spans is like Terms, with positions: it returns the same terms in the same order,
// each with its part of the text, text[start:end]. That part is what a person would
// highlight: whole characters with their marks and variation selectors, and the whole
// word where the term was cut. When a character becomes several terms, each of them has
// its whole range, so ranges may overlap; starts and ends never decrease. Memory does
// not grow with text, unless text is one word.
func Spans(text string, yield func(term []byte, start, end int) bool) {
	s := scratchPool.Get().(*scratch)
	s.spans(text, yield)
	s.release()
}

// spans is like scan, with positions. They are separate because Terms reads everything
// that is stored, and positions would slow it down.
func (s *scratch) spans(text string, yield func([]byte, int, int) bool) {
	for i := 0; i < len(text); {
		switch class := byteClass[text[i]]; {
		case class == separator:
			i++
			continue
		case isWord(class):
			if end, n, ok := s.asciiRun(text, i); ok {
				if !yield(s.term[:n], i, end) {
					return
				}
				i = end
				continue
			}
		default:
			if n := separatorLen(text[i:]); n > 0 {
				i += n
				continue
			}
		}
		end, ok := s.spanSegment(text, i, yield)
		if !ok {
			return
		}
		i = end
	}
}

// spanSegment does what segment does, with positions.
func (s *scratch) spanSegment(text string, start int, yield func([]byte, int, int) bool) (end int, ok bool) {
	if end, n, ok := s.simpleWord(text, start); ok {
		return end, yield(s.term[:n], start, end)
	}
	end = segmentEnd(text, start)
	w := spanWord{scratch: s, yield: yield}
	return end, w.segment(text[start:end], start)
}

// spanWord is the term being built, with its position.
type spanWord struct {
	*scratch
	word
	start, end int
	yield      func([]byte, int, int) bool
}

// segment yields the terms of a segment that starts at the offset base of the
// text. It reports whether yield wants more.
func (w *spanWord) segment(seg string, base int) bool {
	if !isSettled(seg) {
		return w.unsettled(seg, base) && w.flush()
	}
	for i, r := range seg {
		if !w.step(r, base+i, base+nextRune(seg, i)) {
			return false
		}
	}
	return w.flush()
}

// unsettled handles a segment that normalization changes. It goes piece by
// piece: from one character that neither composes with what is before it nor is
// reordered to the next. Pieces are normalized independently (UAX #15 §9.1).
func (w *spanWord) unsettled(seg string, base int) bool {
	start := 0
	w.clean = w.clean[:0]
	for i, r := range seg {
		if isIgnored(r) {
			continue // it belongs to the character before it
		}
		if len(w.clean) > 0 && isBoundary(r) {
			if !w.piece(base+start, base+i) {
				return false
			}
			w.clean = w.clean[:0]
		}
		if len(w.clean) == 0 {
			start = i
		}
		w.clean = utf8.AppendRune(w.clean, r)
	}
	return len(w.clean) == 0 || w.piece(base+start, base+len(seg))
}

// piece adds the characters in clean, which are those of the text from start to end.
func (w *spanWord) piece(start, end int) bool {
	w.norm = norm.NFKC.Append(w.norm[:0], w.clean...)
	for i := 0; i < len(w.norm); {
		r, n := utf8.DecodeRune(w.norm[i:])
		if !w.step(r, start, end) {
			return false
		}
		i += n
	}
	return true
}

// step adds one normalized character to the term, like words.
func (w *spanWord) step(r rune, start, end int) bool {
	f := foldRune(r)
	if f.kind == mark {
		if w.kind != other {
			w.end = end
			w.addMark(&w.word, f.r)
		}
		return true
	}
	if f.kind == other || f.kind == alone || w.kind == alone {
		if !w.flush() {
			return false
		}
	}
	if f.kind == other {
		return true
	}
	if w.kind == other {
		w.start = start
	}
	w.add(&w.word, f.r)
	w.kind, w.marks, w.end = f.kind, 0, end
	return true
}

// flush yields the term, if there is one.
func (w *spanWord) flush() bool {
	if w.kind == other {
		return true
	}
	n := w.size
	w.word = word{}
	return w.yield(w.term[:n], w.start, w.end)
}

func foldRune(r rune) folded {
	if r < utf8.RuneSelf {
		return foldASCII(byte(r))
	}
	return lookup(r)
}

// isBoundary reports whether text may be normalized separately from r on.
func isBoundary(r rune) bool {
	if r < utf8.RuneSelf {
		return true
	}
	var buf [utf8.UTFMax]byte
	return norm.NFKC.Properties(buf[:utf8.EncodeRune(buf[:], r)]).BoundaryBefore()
}

// nextRune returns the offset after the character at i.
func nextRune(s string, i int) int {
	if s[i] < utf8.RuneSelf {
		return i + 1
	}
	_, n := utf8.DecodeRuneInString(s[i:])
	return i + n
}
