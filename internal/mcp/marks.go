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
	var kept []byte // of s[:from], once a tag was dropped
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
		run = firstChars(run, n-chars)
		end += len(run)
		chars += charCount(run)
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

// markAt is the tag that stands at i; "" when none does.
func markAt(s string, i int) string {
	switch {
	case strings.HasPrefix(s[i:], openMark):
		return openMark
	case strings.HasPrefix(s[i:], closeMark):
		return closeMark
	}
	return ""
}

// balanced is a whole text with its tags repaired.
func balanced(s string) string {
	shown, _ := firstMarked(s, len(s))
	return shown
}

// aroundMark shows at most n characters of a balanced text, tags not counted, with
// the first highlight among them and … on each side that is cut here.
func aroundMark(s string, n int) (shown string, chars int) {
	var before, after string
	if skip := beforeMark(s, n); skip > 0 {
		before, s = ellipsis, s[skip:]
	}
	shown, chars = firstMarked(s, n-charCount(before))
	if len(shown) < len(s) {
		shown, after = strings.TrimSuffix(shown, ellipsis), ellipsis
	}
	return before + shown + after, charCount(before) + chars
}

// beforeMark is how many bytes of a balanced text are left out so that its first
// highlight is among n characters, with some of what stands before it.
func beforeMark(s string, n int) int {
	before, rest, marked := strings.Cut(s, openMark)
	if !marked {
		return 0
	}
	found, _, _ := strings.Cut(rest, closeMark)
	if len(before)+len(found) <= n { // no character is shorter than a byte
		return 0
	}
	lead := charCount(before)
	if lead+charCount(found) <= n || lead <= n/3 {
		return 0
	}
	return len(firstChars(before, lead-n/3))
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
