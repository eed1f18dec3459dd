package ingest

import (
	"bytes"
	"strconv"

	"pdpp"
	"pdpp/internal/rawjson"
)

// identity returns the canonical id of a record (REC-2) for the key of a line. It
// compares the key with the key fields that are in data (I-4).
//
// The key of a one-field primary key is a string, a number, or an array of one of these;
// that of a compound one is an array with one part per field. A number becomes its
// decimal text: an integer as written, anything else its exact value without exponent
// and superfluous zeros, so that 1.50 and 15e-1 are both "1.5".
func identity(s *pdpp.Stream, key, data []byte) (pdpp.RecordID, *Rejection) {
	switch rawjson.KindOf(key) {
	case rawjson.KindNone:
		return "", badIdentity("The record has no key.")
	case rawjson.KindArray:
		return arrayIdentity(s, key, data)
	}
	if len(s.PrimaryKey) != 1 {
		return "", arity(s)
	}
	var buf [64]byte
	part, bad := appendPart(buf[:0], key)
	if bad == nil {
		bad = matches(s.PrimaryKey[0], part, data)
	}
	if bad != nil {
		return "", bad
	}
	return checked(pdpp.RecordID(part))
}

func arrayIdentity(s *pdpp.Stream, key, data []byte) (pdpp.RecordID, *Rejection) {
	n := 0
	for range rawjson.Elements(key) {
		n++
	}
	if n != len(s.PrimaryKey) {
		return "", arity(s)
	}
	parts := make([]string, 0, n)
	for element := range rawjson.Elements(key) {
		part, bad := appendPart(nil, element)
		if bad == nil {
			bad = matches(s.PrimaryKey[len(parts)], part, data)
		}
		if bad != nil {
			return "", bad
		}
		parts = append(parts, string(part))
	}
	return checked(canonical(parts))
}

// canonical joins the parts of a key (REC-2).
func canonical(parts []string) pdpp.RecordID {
	if len(parts) == 1 {
		return pdpp.RecordID(parts[0])
	}
	id := []byte{'['}
	for i, part := range parts {
		if i > 0 {
			id = append(id, ',')
		}
		id = rawjson.AppendString(id, part)
	}
	return pdpp.RecordID(append(id, ']'))
}

func checked(id pdpp.RecordID) (pdpp.RecordID, *Rejection) {
	switch {
	case id.Valid():
		return id, nil
	case id == "":
		return "", badIdentity("The key is empty.")
	case len(id) > pdpp.MaxRecordID:
		return "", badIdentity("The key is longer than 512 bytes.")
	}
	return "", badIdentity(`The key is "." or "..".`)
}

func arity(s *pdpp.Stream) *Rejection {
	n := len(s.PrimaryKey)
	if n == 1 {
		return badIdentity("The key must be one value: a string or a number.")
	}
	return badIdentity("The key must be an array of " + strconv.Itoa(n) + " values, one for each field of the primary key.")
}

// appendPart appends the text of one part of a key.
func appendPart(dst, value []byte) ([]byte, *Rejection) {
	switch rawjson.KindOf(value) {
	case rawjson.KindString:
		content, _ := rawjson.Content(value)
		if halfPair(content) {
			return dst, badIdentity("The key contains half a surrogate pair.")
		}
		dst = rawjson.AppendText(dst, content)
		if bytes.IndexByte(dst, 0) >= 0 {
			return dst, badIdentity("The key contains a NUL character.")
		}
		return dst, nil
	case rawjson.KindNumber:
		text, ok := appendDecimal(dst, value)
		if !ok {
			return dst, badIdentity("The key is longer than 512 bytes.")
		}
		return text, nil
	}
	return dst, badIdentity("The key is neither a string nor a number.")
}

// matches compares a part of the key with its field in data, if data has it.
func matches(field string, part, data []byte) *Rejection {
	value, ok := rawjson.Get(data, field)
	if !ok || sameText(value, part) {
		return nil
	}
	return badIdentity("The key differs from the field " + strconv.Quote(field) + " in data.")
}

// sameText compares a value with a text: strings decoded, numbers as written or in
// canonical form, booleans by their names.
func sameText(value, text []byte) bool {
	switch rawjson.KindOf(value) {
	case rawjson.KindString:
		decoded, _ := rawjson.Text(value)
		return bytes.Equal(decoded, text)
	case rawjson.KindNumber:
		if bytes.Equal(value, text) {
			return true
		}
		decimal, ok := appendDecimal(nil, value)
		return ok && bytes.Equal(decimal, text)
	case rawjson.KindBool:
		return bytes.Equal(value, text)
	}
	return false
}

// halfPair reports whether content has the escape of one surrogate without the other
// half. Decoding turns each into U+FFFD, so that different keys would become equal.
func halfPair(content []byte) bool {
	for {
		n := bytes.IndexByte(content, '\\')
		if n < 0 || n+2 > len(content) {
			return false
		}
		content = content[n:]
		switch {
		case content[1] != 'u':
			content = content[2:]
		case !surrogate(content, "89abAB"):
			if surrogate(content, "cdefCDEF") {
				return true
			}
			content = content[6:]
		case surrogate(content[6:], "cdefCDEF"):
			content = content[12:]
		default:
			return true
		}
	}
}

// surrogate reports whether b begins with \uD and one of the digits second.
func surrogate(b []byte, second string) bool {
	return len(b) >= 6 && b[0] == '\\' && b[1] == 'u' && b[2]|0x20 == 'd' && bytes.IndexByte([]byte(second), b[3]) >= 0
}
