package evidence

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"pdpp/internal/rawjson"
)

// ellipsis marks a side where text was cut.
const ellipsis = "…"

// Clean removes invisible characters (EX-7). Invalid UTF-8 becomes U+FFFD.
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

// isClean reports whether Clean returns s unchanged.
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

// collapse returns s as one line of at most n characters. It replaces any white space by
// one space and removes the characters of EX-7. It reports whether the end was cut.
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

// isLine reports whether s is ASCII text that collapse returns unchanged.
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

// maxRead bounds the number of characters that are decoded for a title or a card.
const maxRead = 4096

// head decodes the beginning of a text. It reports whether there is more.
func (r *Record) head(t text) (s string, more bool) {
	part := rawjson.Prefix(t.content, maxRead)
	return r.Texts.Decoded(part), len(part) < len(t.content) || !t.isWhole()
}

// isASCII reports whether every character of s is one byte.
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

// charCount returns the number of characters of s.
func charCount(s string) int {
	if isASCII(s) {
		return len(s)
	}
	return utf8.RuneCountInString(s)
}

// cutChars returns the first n characters of s.
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

// cutBytes returns the longest prefix of s that has at most n bytes inside a JSON string
// and ends at a character boundary. s must be clean.
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
