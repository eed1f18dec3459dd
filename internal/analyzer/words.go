package analyzer

import "unicode/utf8"

// maxMarks limits the marks on one character. No language needs as many, and it is below
// the 30 after which package norm inserts grapheme joiners.
const maxMarks = 16

// word is the term being built.
type word struct {
	size  int  // bytes in the term buffer
	chars int  // characters in it
	kind  kind // of the last letter or digit; other when there is no term
	marks int  // on the last letter or digit
}

// words yields the terms of a normalized segment. It reports whether yield wants
// more.
func (s *scratch) words(seg []byte, yield func([]byte) bool) bool {
	var w word
	for i := 0; i < len(seg); {
		var f folded
		if c := seg[i]; c < utf8.RuneSelf {
			f = foldASCII(c)
			i++
		} else {
			r, n := utf8.DecodeRune(seg[i:])
			f = lookup(r)
			i += n
		}
		if f.kind == mark {
			s.addMark(&w, f.r)
			continue
		}
		if w.kind != other && (f.kind == other || f.kind == alone || w.kind == alone) {
			if !yield(s.term[:w.size]) {
				return false
			}
			w = word{}
		}
		if f.kind != other {
			s.add(&w, f.r)
			w.kind, w.marks = f.kind, 0
		}
	}
	return w.kind == other || yield(s.term[:w.size])
}

// foldASCII folds an ASCII character of a segment.
func foldASCII(c byte) folded {
	if class := byteClass[c]; class != separator {
		return folded{r: rune(class), kind: bare}
	}
	return folded{}
}

// addMark adds a mark to the last letter or digit, if that keeps marks.
func (s *scratch) addMark(w *word, r rune) {
	if w.kind < keeping || w.marks == maxMarks {
		return
	}
	w.marks++
	s.add(w, r)
}

// add adds a character to the term, unless it is full.
func (s *scratch) add(w *word, r rune) {
	if w.chars == maxTermChars {
		return
	}
	w.size += utf8.EncodeRune(s.term[w.size:], r)
	w.chars++
}
