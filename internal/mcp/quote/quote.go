package quote

import (
	"strings"
	"unicode/utf8"

	"pdpp/internal/evidence"
	"pdpp/internal/rawjson"
)

// ID quotes an identifier exactly: decoding the JSON string returns it byte for byte.
// Characters that could hide in a terminal or reorder a line are escaped.
func ID(s string) string {
	if isPlain(s) {
		return `"` + s + `"`
	}
	return string(AppendID(nil, s))
}

// IDLen returns the length of an identifier as ID writes it.
func IDLen(s string) int {
	if isPlain(s) {
		return len(s) + len(`""`)
	}
	return len(ID(s))
}

// AppendID appends an identifier as ID writes it.
func AppendID(b []byte, s string) []byte {
	if isPlain(s) {
		return append(append(append(b, '"'), s...), '"')
	}
	start := len(b)
	b = rawjson.AppendString(b, s)
	if !hasHidden(s) {
		return b
	}
	return append(b[:start], EscapeHidden(string(b[start:]))...)
}

func hasHidden(text string) bool {
	for i := 0; i < len(text); {
		if text[i] < 0x7f {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if isHidden(r) {
			return true
		}
		i += size
	}
	return false
}

// EscapeHidden returns a JSON text with its hidden characters escaped.
func EscapeHidden(text string) string {
	if !hasHidden(text) {
		return text
	}
	return escape(text, isHidden)
}

// Visible returns a name for a label: unquoted, with hidden characters escaped.
func Visible(s string) string {
	if isPlain(s) {
		return s
	}
	return escape(s, func(r rune) bool { return r < ' ' || isHidden(r) })
}

func escape(s string, isEscaped func(rune) bool) string {
	var b strings.Builder
	for _, r := range s {
		if isEscaped(r) {
			b.WriteString(escapeRune(r))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isHidden reports whether a character is invisible, apart from the control characters that
// JSON escapes anyway.
func isHidden(r rune) bool { return r >= 0x7f && evidence.IsInvisible(r) }

// escapeRune returns \uXXXX, or a surrogate pair of them.
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

// Text quotes a value that is not an identifier, without its invisible characters.
func Text(s string) string {
	if isPlain(s) {
		return `"` + s + `"`
	}
	return string(AppendText(nil, s))
}

// AppendText appends a value as Text writes it.
func AppendText(b []byte, s string) []byte {
	if isPlain(s) {
		return append(append(append(b, '"'), s...), '"')
	}
	return rawjson.AppendString(b, evidence.Clean(s))
}

// Measure counts the characters of a text, and the bytes that Text writes for it.
func Measure(s string) (chars, quoted int) {
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

// CharsWithin counts the leading characters of a text that Text writes in at most limit
// bytes between the quotes.
func CharsWithin(s string, limit int) int {
	chars := 0
	for i := 0; i < len(s); chars++ {
		bytes, size := quotedChar(s, i)
		if limit -= bytes; limit < 0 {
			break
		}
		i += size
	}
	return chars
}

// quotedChar returns the length of the character at i as Text writes it, and in s.
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

// isPlain reports whether a text needs no escapes.
func isPlain(s string) bool { return rawjson.Plain(s) == len(s) }

// IsPrintable reports whether Text would write the content of a JSON string unchanged.
func IsPrintable(content []byte) bool {
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

// Name writes the name of a field or stream: bare where it cannot be misread, else quoted.
func Name(s string) string {
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !isNameRune(r) && (r < 'A' || r > 'Z') }) < 0 {
		return s
	}
	return ID(s)
}

func isNameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' || r == '.' || r == '-'
}

// Code returns an error code that is safe to print without quotes.
func Code(code string) string {
	return strings.Map(func(r rune) rune {
		if isNameRune(r) {
			return r
		}
		return '_'
	}, First(code, 64))
}

// Names joins names as Name writes them.
func Names(names []string, sep string) string { return strings.Join(each(names, Name), sep) }

// IDs joins identifiers as ID writes them.
func IDs(ids []string, sep string) string { return strings.Join(each(ids, ID), sep) }

// List returns identifiers as a JSON array.
func List(ids []string) string { return "[" + IDs(ids, ",") + "]" }

func each(list []string, f func(string) string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = f(s)
	}
	return out
}
