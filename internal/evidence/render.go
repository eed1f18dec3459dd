package evidence

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// The highlight tags and their common suffix.
const (
	openMark  = "<mark>"
	closeMark = "</mark>"
	markEnd   = "mark>"
)

// render returns a part of a text with its matches marked. It removes the characters of
// EX-7 and the tags of the text itself, so that all tags in the result are highlights and
// balanced. It reports whether there is one.
func render(content string, p part, places []place, total int) (preview string, highlighted bool) {
	text, base := content[p.start:p.end], p.start
	var b strings.Builder
	b.Grow(len(text) + 2*len(ellipsis) + len(places)*len(openMark+closeMark))
	if !isPlain(text) {
		text, places = scrub(text, base, places)
		base = 0
	}
	if p.from > 0 {
		b.WriteString(ellipsis)
	}
	highlighted = writeMarked(&b, text, base, places)
	if p.to < total {
		b.WriteString(ellipsis)
	}
	return b.String(), highlighted
}

// isPlain reports whether scrub would not change a text.
func isPlain(s string) bool { return isClean(s) && !strings.Contains(s, markEnd) }

// scrub cleans the text at the offset base and returns the new places. Removing a tag may
// join the halves of another one. That one is removed too, because scrub checks the end
// of the result after each character.
func scrub(s string, base int, places []place) (text string, moved []place) {
	out := make([]byte, 0, len(s))
	for i, r := range s {
		at := base + i
		for len(places) > 0 && places[0].end <= at {
			places = places[1:]
		}
		if IsRemovedAt(s, i, r) {
			continue
		}
		if len(places) > 0 && places[0].start <= at {
			moved = append(moved, place{start: len(out), end: len(out) + utf8.RuneLen(r)})
		}
		out = utf8.AppendRune(out, r)
		if r == '>' {
			out, moved = dropTag(out, moved)
		}
	}
	return string(out), moved
}

// dropTag removes a tag at the end of a text, if there is one, and the places in it.
func dropTag(text []byte, places []place) ([]byte, []place) {
	for _, tag := range []string{openMark, closeMark} {
		if !bytes.HasSuffix(text, []byte(tag)) {
			continue
		}
		n := len(text) - len(tag)
		for len(places) > 0 && places[len(places)-1].end > n {
			places = places[:len(places)-1]
		}
		return text[:n], places
	}
	return text, places
}

// writeMarked writes the text at the offset base with a tag around each sequence of
// adjacent places. It reports whether there is one.
func writeMarked(b *strings.Builder, text string, base int, places []place) (highlighted bool) {
	done := 0
	for len(places) > 0 {
		start, end := places[0].start, places[0].end
		for places = places[1:]; len(places) > 0 && places[0].start <= end; places = places[1:] {
			end = places[0].end
		}
		start, end = max(start-base, done), min(end-base, len(text))
		if start >= end {
			continue
		}
		b.WriteString(text[done:start])
		b.WriteString(openMark)
		b.WriteString(text[start:end])
		b.WriteString(closeMark)
		done, highlighted = end, true
	}
	b.WriteString(text[done:])
	return highlighted
}
