package quote

import (
	"strings"

	"pdpp/internal/mcp/limits"
)

// The highlight tags of search excerpts. Any other tag is plain text.
const (
	openMark  = "<mark>"
	closeMark = "</mark>"
)

// firstMarked returns the first n characters of a text with highlights, not counting tags,
// and how many characters that are. Its tags are complete and balanced: an open tag is
// closed, and an unmatched or incomplete tag is dropped (MS-63).
func firstMarked(s string, n int) (shown string, chars int) {
	if strings.IndexByte(s, '<') < 0 {
		shown = First(s, n)
		return shown, Count(shown)
	}
	var kept []byte // what is kept of s[:from], once a tag was dropped
	from, end := 0, 0
	open := false
	for end < len(s) && chars <= n {
		if tag := markAt(s, end); tag != "" {
			if opens := tag == openMark; opens != open {
				open = opens
			} else {
				kept = append(kept, s[from:end]...)
				from = end + len(tag)
			}
			end += len(tag)
			continue
		}
		if chars == n || isHalfMark(s[end:]) {
			break
		}
		run := s[end:] // up to where the next tag may be
		if next := strings.IndexByte(run[1:], '<'); next >= 0 {
			run = run[:1+next]
		}
		run = First(run, n-chars)
		end += len(run)
		chars += Count(run)
	}
	shown = s[from:end]
	if kept != nil {
		shown = string(append(kept, shown...))
	}
	if open {
		shown += closeMark
	}
	return strings.ReplaceAll(shown, openMark+closeMark, ""), chars
}

// markAt returns the tag at i, or "".
func markAt(s string, i int) string {
	switch {
	case strings.HasPrefix(s[i:], openMark):
		return openMark
	case strings.HasPrefix(s[i:], closeMark):
		return closeMark
	}
	return ""
}

// Balance repairs the highlight tags of a text.
func Balance(s string) string {
	shown, _ := firstMarked(s, len(s))
	return shown
}

// AroundMark returns at most n characters of a balanced text, not counting tags: those
// around its first highlight, with an ellipsis on each side that is cut. chars counts
// them.
func AroundMark(s string, n int) (shown string, chars int) {
	var before, after string
	if skip := beforeMark(s, n); skip > 0 {
		before, s = Ellipsis, s[skip:]
	}
	shown, chars = firstMarked(s, n-Count(before))
	if len(shown) < len(s) {
		shown, after = strings.TrimSuffix(shown, Ellipsis), Ellipsis
	}
	return before + shown + after, Count(before) + chars
}

// beforeMark counts the leading bytes of a balanced text to leave out, so that its first
// highlight is among n characters, with some of the text before it.
func beforeMark(s string, n int) int {
	before, rest, marked := strings.Cut(s, openMark)
	if !marked {
		return 0
	}
	found, _, _ := strings.Cut(rest, closeMark)
	if len(before)+len(found) <= n { // a character has at least one byte
		return 0
	}
	lead := Count(before)
	if lead+Count(found) <= n || lead <= n/3 {
		return 0
	}
	return len(First(before, lead-n/3))
}

// isHalfMark reports whether a text is an incomplete tag, as at the end of a text that was
// cut inside a tag.
func isHalfMark(s string) bool {
	return len(s) > 1 && (strings.HasPrefix(openMark, s) || strings.HasPrefix(closeMark, s))
}

// FirstMark returns the beginning of the first highlight of a balanced text, or "".
func FirstMark(s string) string {
	_, rest, ok := strings.Cut(s, openMark)
	if !ok {
		return ""
	}
	found, _, _ := strings.Cut(rest, closeMark)
	return strings.TrimSpace(First(strings.TrimSpace(found), limits.LabelChars))
}
