package evidence

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// part is the part of a text that is shown: bytes start to end, which are its characters
// from to to.
type part struct {
	start, end int
	from, to   int
}

// maxRetreat is the number of characters by which a cut may move to a word boundary.
const maxRetreat = 20

// leading returns the beginning of a text. content may be only its beginning; total is
// the number of characters of the whole text.
func leading(content string, total, most int) part {
	return around(content, group{}, total, most)
}

// around returns the part of a text to show: the group with the same number of characters
// before and after, or more on one side where the other ends. It cuts at a word boundary
// if one is near. The part has at most most characters; a longer group is cut.
func around(content string, g group, total, most int) part {
	if total <= most {
		return part{end: len(content), to: charCount(content)}
	}
	var core part
	if len(g.places) > 0 {
		first, last := g.places[0], g.places[len(g.places)-1]
		core = part{first.start, last.end, first.from, last.to}
	}
	if over := core.to - core.from - most; over > 0 {
		core.end = back(content, core.end, over)
		core.to -= over
	}
	spare := most - (core.to - core.from)
	before := min(core.from, spare/2)
	after := min(total-core.to, spare-before)
	before = min(core.from, spare-after)
	p := core
	p.start = back(content, core.start, before)
	p.from -= before
	end, _ := cutChars(content[core.end:], after)
	p.end = core.end + len(end)
	p.to += charCount(end)
	if p.from > 0 {
		p.trimStart(content, core.start)
	}
	if p.to < total {
		p.trimEnd(content, core.end)
	}
	return p
}

// back returns the offset n characters before i.
func back(s string, i, n int) int {
	if n <= i && isASCII(s[i-n:i]) {
		return i - n
	}
	for ; n > 0 && i > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
	}
	return i
}

// trimStart moves the start to the beginning of a word, at most to limit.
func (p *part) trimStart(content string, limit int) {
	at, chars := p.start, p.from
	for n := 0; !isBreak(content, at); n++ {
		if n == maxRetreat || at >= limit {
			at, chars = p.start, p.from
			break
		}
		_, size := utf8.DecodeRuneInString(content[at:])
		at += size
		chars++
	}
	for at < limit {
		r, size := utf8.DecodeRuneInString(content[at:])
		if !unicode.IsSpace(r) {
			break
		}
		at += size
		chars++
	}
	p.start, p.from = at, chars
}

// trimEnd moves the end to the end of a word, at least to limit.
func (p *part) trimEnd(content string, limit int) {
	at, chars := p.end, p.to
	for n := 0; !isBreak(content, at); n++ {
		if n == maxRetreat || at <= limit {
			at, chars = p.end, p.to
			break
		}
		_, size := utf8.DecodeLastRuneInString(content[:at])
		at -= size
		chars--
	}
	for at > limit {
		r, size := utf8.DecodeLastRuneInString(content[:at])
		if !unicode.IsSpace(r) {
			break
		}
		at -= size
		chars--
	}
	p.end, p.to = at, chars
}

// isBreak reports whether the text may be cut at i: not within a word, between a
// character and its marks, or within a tag.
func isBreak(s string, i int) bool {
	const joiner = '\u200d'
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i:])
	if i == len(s) || unicode.IsSpace(after) {
		return true
	}
	if unicode.IsMark(after) || before == joiner || after == joiner || isSpaced(before) && isSpaced(after) {
		return false
	}
	return !inTag(s, i)
}

// isSpaced reports whether r is part of a word in a script that has spaces.
func isSpaced(r rune) bool {
	if !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) {
		return false
	}
	const firstThai = 0x0E01 // no script below comes before it
	return r < firstThai || !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer)
}

// inTag reports whether i is inside a highlight tag of the text itself.
func inTag(s string, i int) bool {
	for _, tag := range []string{openMark, closeMark} {
		lo := max(0, i-len(tag)+1)
		hi := min(len(s), i+len(tag)-1)
		if strings.Contains(s[lo:hi], tag) {
			return true
		}
	}
	return false
}
