package sortkey

import (
	"slices"
	"unicode/utf8"

	"pdpp"
	"pdpp/internal/rawjson"
)

// FromJSON encodes a compact JSON value as kind; false when it is null, mistyped,
// unparseable or a stub. Otherwise the result is never nil.
func FromJSON(kind pdpp.Kind, value []byte) ([]byte, bool) {
	return present(AppendJSON(nil, kind, value))
}

// AppendJSON is like FromJSON, and appends to dst. It returns dst unchanged and false
// if there is no value.
func AppendJSON(dst []byte, kind pdpp.Kind, value []byte) ([]byte, bool) {
	switch kind {
	case pdpp.KindString:
		in, ok := rawjson.Content(value)
		if !ok {
			return dst, false
		}
		return rawjson.AppendText(slices.Grow(dst, len(in)), in), true
	case pdpp.KindInteger, pdpp.KindNumber:
		return appendNumber(dst, kind, value)
	case pdpp.KindBoolean:
		return appendBool(dst, value)
	case pdpp.KindDate, pdpp.KindDateTime:
		text, ok := rawjson.Text(value)
		if !ok {
			return dst, false
		}
		return appendTimeText(dst, text)
	}
	return dst, false
}

// FromText encodes a filter operand as kind; false when it does not parse as that
// kind (REC-19). Numbers follow the JSON grammar, booleans are true and false.
func FromText(kind pdpp.Kind, operand string) ([]byte, bool) {
	switch kind {
	case pdpp.KindString:
		if !utf8.ValidString(operand) {
			return nil, false
		}
		return []byte(operand), true
	case pdpp.KindInteger, pdpp.KindNumber:
		return present(appendNumber(nil, kind, []byte(operand)))
	case pdpp.KindBoolean:
		return present(appendBool(nil, []byte(operand)))
	case pdpp.KindDate, pdpp.KindDateTime:
		return present(appendTimeText(nil, []byte(operand)))
	}
	return nil, false
}

// present makes the encoding of the empty string distinct from nil, which stores
// would write as NULL.
func present(enc []byte, ok bool) ([]byte, bool) {
	if !ok {
		return nil, false
	}
	if enc == nil {
		enc = []byte{}
	}
	return enc, true
}

func appendNumber(dst []byte, kind pdpp.Kind, text []byte) ([]byte, bool) {
	d, ok := parseDecimal(text)
	if !ok || kind == pdpp.KindInteger && !d.isInteger() {
		return dst, false
	}
	return d.append(dst), true
}

func appendBool(dst, text []byte) ([]byte, bool) {
	switch string(text) {
	case "false":
		return append(dst, 0), true
	case "true":
		return append(dst, 1), true
	}
	return dst, false
}
