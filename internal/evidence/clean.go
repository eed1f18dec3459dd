package evidence

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"pdpp/internal/rawjson"
)

// ellipsis marks a cut side.
const ellipsis = "…"

// Clean removes control characters, except newline and tab, and bidirectional
// controls (EX-7, the set of MS-62). Bytes that are not UTF-8 become U+FFFD.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		if isRemoved(r) {
			return -1
		}
		return r
	}, s)
}

func isRemoved(r rune) bool {
	switch {
	case r < 0x20:
		return r != '\n' && r != '\t'
	case r < 0x7F:
		return false
	}
	return r <= 0x9F || r == 0x061C || r == 0x200E || r == 0x200F ||
		r >= 0x2028 && r <= 0x202E || r >= 0x2066 && r <= 0x2069
}

// collapse gives s as one line of at most n characters: white space of any length
// is one space, line breaks of every kind included, and what EX-7 removes is gone.
// It reports whether something was left out at the end.
func collapse(s string, n int) (line string, cut bool) {
	var b strings.Builder
	gap := false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			gap = b.Len() > 0
			continue
		case isRemoved(r):
			continue
		}
		need := 1
		if gap {
			need = 2
		}
		if n -= need; n < 0 {
			return b.String(), true
		}
		if gap {
			b.WriteByte(' ')
		}
		gap = false
		b.WriteRune(r)
	}
	return b.String(), false
}

// maxRead bounds how much of a value is decoded for a title or a card.
const maxRead = 4096

// head decodes the beginning of a text. It reports whether it is not all of it.
func (t text) head() (s string, more bool) {
	part := rawjson.Prefix(t.content, maxRead)
	return string(rawjson.AppendText(nil, part)), len(part) < len(t.content) || !t.isWhole()
}

// cutChars gives the first n characters of s.
func cutChars(s string, n int) (head string, cut bool) {
	for i := range s {
		if n == 0 {
			return s[:i], true
		}
		n--
	}
	return s, false
}

// cutBytes gives the longest prefix of s that has at most n bytes as the inside of
// a JSON string and ends with a whole character. s has been cleaned.
func cutBytes(s string, n int) string {
	for i, r := range s {
		size := utf8.RuneLen(r)
		if r == '"' || r == '\\' || r < ' ' {
			size = 2
		}
		if n -= size; n < 0 {
			return s[:i]
		}
	}
	return s
}
