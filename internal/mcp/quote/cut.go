package quote

import (
	"strconv"
	"unicode/utf8"

	"pdpp/internal/mcp/limits"
	"pdpp/internal/rawjson"
)

// Ellipsis marks where a shortened text ends.
const Ellipsis = "…"

// First returns the first n characters of a text.
func First(s string, n int) string {
	i := 0
	for n > 0 && len(s)-i > n {
		if plain := min(rawjson.Plain(s[i:]), n); plain > 0 { // one byte per character
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

// Count counts the characters of a text.
func Count(s string) int { return rawjson.RuneCount(s) }

// Short returns the first n characters of a text, with an ellipsis when it is longer.
func Short(s string, n int) string {
	if head := First(s, n); head != s {
		return head + Ellipsis
	}
	return s
}

// HeadBytes returns the longest prefix of a text that has at most n bytes and ends at a
// character boundary.
func HeadBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return s[:max(0, n)]
}

// CutBytes shortens a text to at most n bytes, ellipsis included.
func CutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return HeadBytes(s, n-len(Ellipsis)) + Ellipsis
}

// CutMark states the length of a shortened text; total is -1 where it is unknown.
func CutMark(total int) string { return string(AppendCutMark(nil, total)) }

// AppendCutMark appends what CutMark returns.
func AppendCutMark(b []byte, total int) []byte {
	if total < 0 {
		return append(b, "(cut)"...)
	}
	return append(strconv.AppendInt(append(b, "(cut:"...), int64(total), 10), ')')
}

// Cut quotes a value, cut at n characters (MS-63).
func Cut(s string, n int) string {
	total := Count(s)
	if total <= n {
		return Text(s)
	}
	return Text(First(s, n)+Ellipsis) + CutMark(total)
}

// Scalar writes a JSON value in one line: strings quoted and cut at n characters, numbers
// and words unchanged. A number that is too long for a line is cut like a string.
func Scalar(v []byte, n int) string {
	switch rawjson.KindOf(v) {
	case rawjson.KindString:
		s, _ := rawjson.String(v)
		return Cut(s, n)
	case rawjson.KindNumber:
		if len(v) > 2*limits.PreviewChars {
			return Cut(string(v), n)
		}
		return string(v)
	case rawjson.KindNone:
		return "null"
	case rawjson.KindArray, rawjson.KindObject:
		return Cut(string(v), n)
	}
	return string(v)
}
