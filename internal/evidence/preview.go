package evidence

import (
	"strconv"
	"unicode/utf8"

	"pdpp/internal/rawjson"
)

// Truncation is one entry of truncated_fields (REC-39).
type Truncation struct {
	TotalChars int
	ShownChars int
	AsJSON     bool    // the value was an object or array
	Binary     *Binary // nil when the value is not binary
}

// AppendJSON appends t as it stands in truncated_fields.
func (t Truncation) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"total_chars":`...)
	dst = strconv.AppendInt(dst, int64(t.TotalChars), 10)
	dst = append(dst, `,"shown_chars":`...)
	dst = strconv.AppendInt(dst, int64(t.ShownChars), 10)
	if t.AsJSON {
		dst = append(dst, `,"as":"json"`...)
	}
	if t.Binary != nil {
		dst = append(dst, `,"binary":{`...)
		dst = t.Binary.AppendMembers(dst)
		dst = append(dst, '}')
	}
	return append(dst, '}')
}

// An object or array of at most wholeNested bytes is not cut by a preview of at least
// minWholeNested characters: the beginning of one is of little use, and a blob reference
// without its id of none (REC-39).
const (
	wholeNested    = 1024
	minWholeNested = 128
)

// AppendPreview appends the preview of a compact top-level value with at most n
// characters (REC-39). A string longer than that, or an object or array whose
// JSON text is and which is not short, becomes a string of its first n characters,
// exactly, without a mark; "" when it is binary. Anything else is appended as it is, and the
// truncation is nil. declaredBlob is as for DetectBinary. A stub is appended as
// it is too: who resolves stubs knows the text behind them.
func AppendPreview(dst, value []byte, n int, declaredBlob bool) ([]byte, *Truncation) {
	n = max(n, 0)
	total, ok := measure(value, n)
	if !ok {
		return append(dst, value...), nil
	}
	t := &Truncation{TotalChars: total, AsJSON: value[0] != '"'}
	if b, ok := DetectBinary(value, declaredBlob); ok {
		t.Binary = &b
		return append(dst, `""`...), t
	}
	t.ShownChars = n
	if t.AsJSON {
		return rawjson.AppendString(dst, string(runePrefix(value, n))), t
	}
	content, _ := rawjson.Content(value)
	dst = append(dst, '"')
	dst = append(dst, rawjson.Prefix(content, n)...)
	return append(dst, '"'), t
}

// measure counts the characters of a value that is longer than n; false when it
// is not, or is never cut.
func measure(value []byte, n int) (total int, ok bool) {
	switch rawjson.KindOf(value) {
	case rawjson.KindString:
		content, _ := rawjson.Content(value)
		if len(content) <= n { // no character is shorter than a byte
			return 0, false
		}
		total = rawjson.CharCount(content)
	case rawjson.KindObject, rawjson.KindArray:
		if len(value) <= n || n >= minWholeNested && len(value) <= wholeNested {
			return 0, false
		}
		total = utf8.RuneCount(value)
	default:
		return 0, false
	}
	return total, total > n
}

// runePrefix gives the first n characters of UTF-8 text.
func runePrefix(text []byte, n int) []byte {
	i := 0
	for ; n > 0 && i < len(text); n-- {
		_, size := utf8.DecodeRune(text[i:])
		i += size
	}
	return text[:i]
}
