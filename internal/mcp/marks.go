package mcp

import "strings"

// The highlight tags. Only these two are tags.
const (
	openMark  = "<mark>"
	closeMark = "</mark>"
)

// firstMarked gives the first n characters of a text with highlights; tags are not
// counted. The result has balanced tags and no half of one: an open one is closed, an
// unmatched one is dropped (MS-63). chars is how many characters it shows.
func firstMarked(s string, n int) (shown string, chars int) {
	if strings.IndexByte(s, '<') < 0 {
		shown = firstChars(s, n)
		return shown, charCount(shown)
	}
	var b strings.Builder
	b.Grow(len(s) + len(closeMark))
	open := false
	for s != "" && chars <= n {
		if rest, ok := strings.CutPrefix(s, openMark); ok {
			if s = rest; !open {
				b.WriteString(openMark)
			}
			open = true
			continue
		}
		if rest, ok := strings.CutPrefix(s, closeMark); ok {
			if s = rest; open {
				b.WriteString(closeMark)
			}
			open = false
			continue
		}
		if chars == n || isHalfMark(s) {
			break
		}
		run := s // up to where the next tag may be
		if next := strings.IndexByte(s[1:], '<'); next >= 0 {
			run = s[:1+next]
		}
		run = firstChars(run, n-chars)
		b.WriteString(run)
		s = s[len(run):]
		chars += charCount(run)
	}
	if open {
		b.WriteString(closeMark)
	}
	return strings.ReplaceAll(b.String(), openMark+closeMark, ""), chars
}

// balanced is a whole text with its tags repaired.
func balanced(s string) string {
	shown, _ := firstMarked(s, len(s))
	return shown
}

// aroundMark shows at most n characters of a balanced text, tags not counted, with
// the first highlight among them and … on each side that is cut here.
func aroundMark(s string, n int) (shown string, chars int) {
	before, rest, marked := strings.Cut(s, openMark)
	lead, _, _ := strings.Cut(rest, closeMark)
	if skip := charCount(before) - n/3; marked && charCount(before)+charCount(lead) > n && skip > 0 {
		s = "…" + s[len(firstChars(s, skip)):]
	}
	shown, chars = firstMarked(s, n)
	if len(shown) < len(s) {
		shown = strings.TrimSuffix(shown, "…") + "…"
	}
	return shown, chars
}

// isHalfMark reports that a text is the beginning of a tag: what was cut within one
// ends so.
func isHalfMark(s string) bool {
	return len(s) > 1 && (strings.HasPrefix(openMark, s) || strings.HasPrefix(closeMark, s))
}

// firstMark is the beginning of the first highlight of a balanced text; "" when there
// is none.
func firstMark(s string) string {
	_, rest, ok := strings.Cut(s, openMark)
	if !ok {
		return ""
	}
	found, _, _ := strings.Cut(rest, closeMark)
	return strings.TrimSpace(firstChars(strings.TrimSpace(found), LabelChars))
}
