package evidence

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"pdpp/internal/rawjson"
)

// ellipsis marks a cut side.
const ellipsis = "…"

// Clean removes the characters that nobody could see (EX-7). Bytes that are not UTF-8
// become U+FFFD.
func Clean(s string) string {
	if isClean(s) {
		return s
	}
	out := make([]byte, 0, len(s))
	for i, r := range s {
		if !IsRemovedAt(s, i, r) {
			out = utf8.AppendRune(out, r)
		}
	}
	return string(out)
}

// isClean reports that Clean has nothing to change.
func isClean(s string) bool {
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c < 0x7F {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if IsRemovedAt(s, i, r) || n == 1 && c >= utf8.RuneSelf {
			return false
		}
		i += n
	}
	return true
}

// collapse gives s as one line of at most n characters: white space of any length
// is one space, line breaks of every kind included, and what EX-7 removes is gone.
// It reports whether something was left out at the end.
func collapse(s string, n int) (line string, cut bool) {
	if isLine(s, n) {
		return s, false
	}
	var b strings.Builder
	b.Grow(min(len(s), n*utf8.UTFMax))
	gap := false
	for i, r := range s {
		switch {
		case unicode.IsSpace(r):
			gap = b.Len() > 0
			continue
		case IsRemovedAt(s, i, r):
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

// isLine reports that s is ASCII text that collapse gives as it is.
func isLine(s string, n int) bool {
	if len(s) > n {
		return false
	}
	before := byte(' ') // no space at the start
	for i := range len(s) {
		c := s[i]
		if c < ' ' || c >= 0x7F || c == ' ' && before == ' ' {
			return false
		}
		before = c
	}
	return before != ' ' || s == ""
}

// maxRead bounds how much of a value is decoded for a title or a card.
const maxRead = 4096

// head decodes the beginning of a text. It reports whether it is not all of it.
func (r *Record) head(t text) (s string, more bool) {
	part := rawjson.Prefix(t.content, maxRead)
	return r.Texts.Decoded(part), len(part) < len(t.content) || !t.isWhole()
}

// isASCII reports that characters of s are bytes.
func isASCII(s string) bool {
	for ; len(s) >= 8; s = s[8:] {
		if (s[0] | s[1] | s[2] | s[3] | s[4] | s[5] | s[6] | s[7]) >= utf8.RuneSelf {
			return false
		}
	}
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// charCount counts the characters of s.
func charCount(s string) int {
	if isASCII(s) {
		return len(s)
	}
	return utf8.RuneCountInString(s)
}

// cutChars gives the first n characters of s.
func cutChars(s string, n int) (head string, cut bool) {
	if len(s) <= n { // no character is shorter than a byte
		return s, false
	}
	if isASCII(s[:n]) {
		return s[:n], true
	}
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
