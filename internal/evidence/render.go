package evidence

import (
	"bytes"
	"unicode/utf8"
)

// The highlight tags.
const (
	openMark  = "<mark>"
	closeMark = "</mark>"
)

// render writes a part of a text with its matches marked. What EX-7 removes and
// tags that the text itself has are left out, so every tag in the result is ours,
// and they are balanced. It reports whether there is one.
func render(content string, p part, places []place, total int) (preview string, highlighted bool) {
	shown := newGlyphs(content[p.start:p.end], p.start, places)
	out := make([]byte, 0, len(shown.text)+2*len(ellipsis)+len(openMark)+len(closeMark))
	if p.from > 0 {
		out = append(out, ellipsis...)
	}
	out, highlighted = shown.append(out)
	if p.to < total {
		out = append(out, ellipsis...)
	}
	return string(out), highlighted
}

// glyphs is text of which each byte is marked or not.
type glyphs struct {
	text   []byte
	marked []bool
}

// newGlyphs cleans the text that starts at the offset base. Removing a tag may
// bring the halves of another together; as the end of the text is looked at after
// each character, that one goes too.
func newGlyphs(s string, base int, places []place) glyphs {
	g := glyphs{text: make([]byte, 0, len(s)), marked: make([]bool, 0, len(s))}
	for i, r := range s {
		at := base + i
		for len(places) > 0 && places[0].end <= at {
			places = places[1:]
		}
		if isRemoved(r) {
			continue
		}
		isMarked := len(places) > 0 && places[0].start <= at
		g.text = utf8.AppendRune(g.text, r)
		for len(g.marked) < len(g.text) {
			g.marked = append(g.marked, isMarked)
		}
		if r == '>' {
			g.dropTag()
		}
	}
	return g
}

// dropTag removes the tag that the text ends with, if it does.
func (g *glyphs) dropTag() {
	for _, tag := range []string{openMark, closeMark} {
		if bytes.HasSuffix(g.text, []byte(tag)) {
			n := len(g.text) - len(tag)
			g.text, g.marked = g.text[:n], g.marked[:n]
			return
		}
	}
}

// append writes the text with a tag around each marked run.
func (g glyphs) append(dst []byte) (out []byte, highlighted bool) {
	for len(g.text) > 0 {
		n := 1
		for n < len(g.text) && g.marked[n] == g.marked[0] {
			n++
		}
		if g.marked[0] {
			dst = append(dst, openMark...)
			highlighted = true
		}
		dst = append(dst, g.text[:n]...)
		if g.marked[0] {
			dst = append(dst, closeMark...)
		}
		g.text, g.marked = g.text[n:], g.marked[n:]
	}
	return dst, highlighted
}
