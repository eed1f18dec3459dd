package rawjson

import (
	"bytes"
	"encoding/binary"
	"iter"
	"math/bits"
)

// Get finds the member of a compact object with the decoded name name. The value
// aliases obj and may be a stub.
func Get(obj []byte, name string) ([]byte, bool) {
	if KindOf(obj) != KindObject {
		return nil, false
	}
	s := Scanner{b: obj, at: 1}
	for found, ok := s.name(); ok; found, ok = s.name() {
		value := s.Value()
		if string(found) == name {
			return value, value != nil
		}
	}
	return nil, false
}

// Member is a member of an object: its decoded name, and its value as written.
type Member struct{ Name, Value []byte }

// Object is the index of an object: all its members, found in one pass.
type Object []Member

// Index appends the members of a compact object to dst; both alias obj like those of
// Members.
func Index(dst Object, obj []byte) Object {
	s := Scan(obj)
	return s.Index(dst)
}

// Get finds the first member with a name; nil when there is none.
func (o Object) Get(name string) []byte {
	for i := range o {
		if string(o[i].Name) == name {
			return o[i].Value
		}
	}
	return nil
}

// Members iterates the members of a compact object in order. name is decoded, and
// aliases obj when it has no escapes; value aliases obj and may be a stub. Any other
// value than an object has no members.
func Members(obj []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) { members(obj, yield) }
}

func members(obj []byte, yield func(name, value []byte) bool) {
	if KindOf(obj) != KindObject {
		return
	}
	s := Scanner{b: obj, at: 1}
	for name, ok := s.name(); ok; name, ok = s.name() {
		if value := s.Value(); value == nil || !yield(name, value) {
			return
		}
	}
}

// Elements iterates the elements of a compact array. Any other value than an array has
// none.
func Elements(arr []byte) iter.Seq[[]byte] {
	return func(yield func(value []byte) bool) { elements(arr, yield) }
}

func elements(arr []byte, yield func(value []byte) bool) {
	if len(arr) == 0 || arr[0] != '[' {
		return
	}
	for i := 1; ; {
		end := valueEnd(arr, i)
		if end < 0 || !yield(arr[i:end:end]) {
			return
		}
		i = end + 1
	}
}

// GetString returns a string member of a compact object, or "".
func GetString(obj []byte, name string) string {
	v, _ := Get(obj, name)
	s, _ := String(v)
	return s
}

// Is reports whether a value is a string that decodes to s.
func Is(value []byte, s string) bool {
	content, ok := Content(value)
	return ok && isName(content, s)
}

// isName compares a raw name with a decoded one. An escape is always longer than the
// character it encodes, so only longer raw names need decoding.
func isName(raw []byte, name string) bool {
	if len(raw) < len(name) || len(raw) > len(`\u0000`)*len(name) { // the longest raw name that can decode to this length
		return false
	}
	escaped := bytes.IndexByte(raw, '\\') >= 0
	if !escaped || len(raw) == len(name) {
		return !escaped && string(raw) == name
	}
	var buf [128]byte
	return string(appendDecoded(buf[:0], raw)) == name
}

// valueEnd returns the offset after the value at i, or -1 when there is none.
func valueEnd(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return stringEnd(b, i+1)
	case '{', '[':
		return nestedEnd(b, i)
	case 0:
		return stubEnd(b, i+1)
	}
	start := i
	for i < len(b) && b[i] != ',' && b[i] != '}' && b[i] != ']' {
		i++
	}
	if i == start {
		return -1
	}
	return i
}

// stringEnd returns the offset after the string whose content starts at start; -1 when it
// does not end. Most strings are short, so it tests the first bytes itself and calls the
// faster search only for longer ones.
func stringEnd(b []byte, start int) int {
	const short = 32
	i := start
	for i+8 <= len(b) && i < start+short {
		m := quoteOrSlash(binary.LittleEndian.Uint64(b[i:]))
		if m == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(m) >> 3
		if b[i] == '"' {
			return i + 1
		}
		i += len(`\x`)
	}
	return longEnd(b, i)
}

// longEnd returns what stringEnd does, for the rest of a long string. start must not be
// inside an escape. A quote ends the string unless an odd number of backslashes precedes
// it.
func longEnd(b []byte, start int) int {
	for i := start; i < len(b); {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return -1
		}
		i += n
		slashes := 0
		for j := i - 1; j >= start && b[j] == '\\'; j-- {
			slashes++
		}
		i++
		if slashes%2 == 0 {
			return i
		}
	}
	return -1
}

func stubEnd(b []byte, start int) int {
	n := bytes.IndexByte(b[start:], 0)
	if n < 0 {
		return -1
	}
	return start + n + 1
}

// nestedEnd returns the offset after the array or object at i.
func nestedEnd(b []byte, i int) int {
	for depth := 0; i >= 0 && i < len(b); {
		switch b[i] {
		case '"':
			i = stringEnd(b, i+1)
		case 0:
			i = stubEnd(b, i+1)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			i++
			if depth--; depth == 0 {
				return i
			}
		default:
			i++
		}
	}
	return -1
}
