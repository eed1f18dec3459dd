package mcp

import (
	"strings"
	"unicode/utf8"

	"pdpp/internal/evidence"
	"pdpp/internal/rawjson"
)

// Everything that comes from records, labels, manifests or messages of a resource
// server is written as a JSON string (D14, MS-62).

// quoteID writes an identifier exactly: decoding the JSON string gives it byte for
// byte. What could hide in a terminal or reorder a line is escaped.
func quoteID(s string) string {
	if isPlain(s) {
		return `"` + s + `"`
	}
	return string(appendID(nil, s))
}

// idLen is the length of an identifier as quoteID writes it.
func idLen(s string) int {
	if isPlain(s) {
		return len(s) + len(`""`)
	}
	return len(quoteID(s))
}

// appendID appends an identifier as quoteID writes it.
func appendID(b []byte, s string) []byte {
	if isPlain(s) {
		return append(append(append(b, '"'), s...), '"')
	}
	start := len(b)
	b = rawjson.AppendString(b, s)
	if !hasHidden(s) {
		return b
	}
	return append(b[:start], escapeHidden(string(b[start:]))...)
}

func hasHidden[T string | []byte](text T) bool {
	for i := 0; i < len(text); {
		if text[i] < 0x7f {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(string(text[i:min(i+utf8.UTFMax, len(text))]))
		if isHidden(r) {
			return true
		}
		i += size
	}
	return false
}

// escapeHidden is a JSON text in which hidden characters are escapes.
func escapeHidden(text string) string {
	if !hasHidden(text) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if isHidden(r) {
			b.WriteString(escapeRune(r))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// visible is a name as a label shows it: as it is, with hidden characters as escapes.
func visible(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if r < ' ' || isHidden(r) {
			b.WriteString(escapeRune(r))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isHidden reports characters that an identifier shows as escapes: what nobody could
// see, beyond the controls that JSON escapes anyway.
func isHidden(r rune) bool { return r >= 0x7f && evidence.IsInvisible(r) }

// escapeRune is \uXXXX, or a pair of them.
func escapeRune(r rune) string {
	const digits = "0123456789abcdef"
	unit := func(u rune) string {
		return string([]byte{'\\', 'u', digits[u>>12&15], digits[u>>8&15], digits[u>>4&15], digits[u&15]})
	}
	if r < 0x10000 {
		return unit(r)
	}
	r -= 0x10000
	return unit(0xd800+r>>10) + unit(0xdc00+r&0x3ff)
}

// quote writes any other value, without the characters that nobody could see.
func quote(s string) string {
	if isPlain(s) {
		return `"` + s + `"`
	}
	return string(appendQuote(nil, s))
}

// appendQuote appends a value as quote writes it.
func appendQuote(b []byte, s string) []byte {
	if isPlain(s) {
		return append(append(append(b, '"'), s...), '"')
	}
	return rawjson.AppendString(b, evidence.Clean(s))
}

// measure counts the characters of a text, and the bytes that quote writes for it.
func measure(s string) (chars, quoted int) {
	quoted = len(`""`)
	for i := 0; i < len(s); {
		if plain := rawjson.Plain(s[i:]); plain > 0 {
			chars += plain
			quoted += plain
			i += plain
			continue
		}
		bytes, size := quotedChar(s, i)
		chars++
		quoted += bytes
		i += size
	}
	return chars, quoted
}

// charsWithin is how many characters of a text take at most so many bytes between
// quotes.
func charsWithin(s string, most int) int {
	chars := 0
	for i := 0; i < len(s); chars++ {
		bytes, size := quotedChar(s, i)
		if most -= bytes; most < 0 {
			break
		}
		i += size
	}
	return chars
}

// quotedChar is the length of the character at i as quote writes it, and as it is.
func quotedChar(s string, i int) (bytes, size int) {
	c := s[i]
	if c < utf8.RuneSelf {
		switch {
		case c == '"' || c == '\\' || c == '\n' || c == '\t':
			return 2, 1
		case c < ' ' || c == 0x7f:
			return 0, 1
		}
		return 1, 1
	}
	r, size := utf8.DecodeRuneInString(s[i:])
	switch {
	case r == utf8.RuneError && size == 1:
		return len("\uFFFD"), 1
	case evidence.IsRemovedAt(s, i, r):
		return 0, size
	}
	return size, size
}

// isPlain reports a text that quotes change nothing in.
func isPlain(s string) bool { return rawjson.Plain(s) == len(s) }

// isPrintable reports the inside of a JSON string that quote would write as it stands.
func isPrintable(content []byte) bool {
	for i := rawjson.Plain(content); i < len(content); i += rawjson.Plain(content[i:]) {
		if content[i] == '\\' {
			if i+1 == len(content) || strings.IndexByte(`"\nt`, content[i+1]) < 0 {
				return false
			}
			i += len(`\n`)
			continue
		}
		r, size := utf8.DecodeRune(content[i:])
		if r < utf8.RuneSelf || r == utf8.RuneError && size == 1 || evidence.IsInvisible(r) {
			return false
		}
		i += size
	}
	return true
}

// isBare reports whether a name may stand without quotes.
func isBare(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.' || r == '-')
	}) < 0
}

// bareName writes a field or stream name: bare where it can be, else quoted.
func bareName(s string) string {
	if isBare(s) {
		return s
	}
	return quoteID(s)
}

// firstChars is the first n characters of a text.
func firstChars(s string, n int) string {
	i := 0
	for n > 0 && len(s)-i > n {
		if plain := min(rawjson.Plain(s[i:]), n); plain > 0 { // of these a byte is a character
			i += plain
			n -= plain
			continue
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
		n--
	}
	if n > 0 {
		return s
	}
	return s[:i]
}

func charCount(s string) int { return rawjson.RuneCount(s) }
