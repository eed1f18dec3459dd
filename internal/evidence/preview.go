package evidence

import (
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

// AppendJSON appends t as an entry of truncated_fields.
func (t Truncation) AppendJSON(dst []byte) []byte {
	w := rawjson.Writer(append(dst, '{'))
	w.Number("total_chars", t.TotalChars)
	w.Number("shown_chars", t.ShownChars)
	if t.AsJSON {
		w.Text("as", "json")
	}
	if t.Binary != nil {
		w.OpenObject("binary")
		w = t.Binary.AppendMembers(w)
		w.End("}")
	}
	w.End("}")
	return w
}

// A preview of at least minWholeNested characters does not cut an object or array of at
// most wholeNested bytes, because its beginning is of little use, and a blob reference
// without its id of none (REC-39).
const (
	wholeNested    = 1024
	minWholeNested = 128
)

// AppendPreview appends the preview of a compact top-level value with at most n
// characters (REC-39). A longer string, or the JSON text of a longer object or array
// that is not short, becomes a string of exactly its first n characters, or "" when it is
// binary. Any other value, also a stub, is appended unchanged, and the truncation is nil.
// declaredBlob has the meaning of declared in DetectBinary.
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

// measure returns the number of characters of a value that must be cut to n, or false
// when it is shorter or is never cut.
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

// runePrefix returns the first n characters of UTF-8 text.
func runePrefix(text []byte, n int) []byte {
	i := 0
	for ; n > 0 && i < len(text); n-- {
		_, size := utf8.DecodeRune(text[i:])
		i += size
	}
	return text[:i]
}
