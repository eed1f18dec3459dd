package rawjson

import (
	"bytes"
	"iter"
)

// Scanner reads a compact value forwards, once. It iterates the members of objects and
// the elements of arrays, at any depth. Results alias the value. It stops where the value
// is malformed.
type Scanner struct {
	b   []byte
	at  int // the next value, or the comma before it
	key int // offset of the member whose value is next
}

// Scan begins to read a value.
func Scan(value []byte) Scanner { return Scanner{b: value} }

// Members iterates the members of the object that comes next: each decoded name, with
// the Scanner at its value. A value that the loop does not read is skipped. Any other
// value than an object has no members.
func (s *Scanner) Members() iter.Seq[[]byte] {
	return func(yield func(name []byte) bool) { s.members(yield) }
}

func (s *Scanner) members(yield func(name []byte) bool) {
	start, wanted := s.at, true
	if !s.enter('{') {
		return
	}
	for name, ok := s.name(); ok; name, ok = s.name() {
		value := s.at
		if wanted = wanted && yield(name); !wanted && start == 0 {
			return // nothing follows that could be read
		}
		if s.at == value {
			s.Value()
		}
	}
	s.leave('}')
}

// Elements iterates the elements of the array that comes next: each index, with the
// Scanner at the element. An element that the loop does not read is skipped. Any other
// value than an array has no elements.
func (s *Scanner) Elements() iter.Seq[int] {
	return func(yield func(i int) bool) { s.elements(yield) }
}

func (s *Scanner) elements(yield func(i int) bool) {
	start, wanted := s.at, true
	if !s.enter('[') {
		return
	}
	for i := 0; s.at < len(s.b) && s.b[s.at] != ']'; i++ {
		if s.b[s.at] == ',' {
			s.at++
		}
		value := s.at
		if wanted = wanted && yield(i); !wanted && start == 0 {
			return
		}
		if s.at == value {
			s.Value()
		}
	}
	s.leave(']')
}

// Index reads the object that comes next and appends its members to dst.
func (s *Scanner) Index(dst Object) Object {
	if !s.enter('{') {
		return dst
	}
	for name, ok := s.name(); ok; name, ok = s.name() {
		if value := s.Value(); value != nil {
			dst = append(dst, Member{name, value})
		}
	}
	s.leave('}')
	return dst
}

// Value reads the value that comes next; nil when there is none.
func (s *Scanner) Value() []byte {
	start, end := s.at, valueEnd(s.b, s.at)
	if end < 0 {
		s.stop()
		return nil
	}
	s.at = end
	return s.b[start:end:end]
}

// Key returns the key of the member whose value comes next, as written: "name":
func (s *Scanner) Key() []byte { return s.b[s.key:s.at:s.at] }

// Member reads the value that comes next and returns the whole member, as written.
func (s *Scanner) Member() []byte {
	start := s.key
	if s.Value() == nil {
		return nil
	}
	return s.b[start:s.at:s.at]
}

// Offset returns the offset of the next value; after the last value, the offset where it
// ends.
func (s *Scanner) Offset() int { return s.at }

// Kind returns the kind of the value that comes next.
func (s *Scanner) Kind() Kind { return KindOf(s.b[min(s.at, len(s.b)):]) }

// enter steps into the value that comes next if it begins with bracket, and skips it
// otherwise.
func (s *Scanner) enter(bracket byte) bool {
	if s.at >= len(s.b) || s.b[s.at] != bracket {
		s.Value()
		return false
	}
	s.at++
	return true
}

// leave steps over the bracket at the end of an object or array.
func (s *Scanner) leave(bracket byte) {
	if s.at >= len(s.b) || s.b[s.at] != bracket {
		s.stop()
		return
	}
	s.at++
}

// stop ends the reading of a malformed value.
func (s *Scanner) stop() { *s = Scanner{} }

// name reads the name of the next member, decoded; false when there is none.
func (s *Scanner) name() (name []byte, ok bool) {
	b, i := s.b, s.at
	if i < len(b) && b[i] == ',' {
		i++
	}
	if i >= len(b) || b[i] != '"' {
		return nil, false
	}
	s.key = i
	start, end := i+1, plain(b, i+1)
	if end+1 < len(b) && b[end] == '"' { // like most
		s.at = end + len(`":`)
		return b[start:end:end], true
	}
	return s.decodedName(start)
}

// decodedName is like name, for a name with escapes.
func (s *Scanner) decodedName(start int) (name []byte, ok bool) {
	end := stringEnd(s.b, start)
	if end < 0 || end >= len(s.b) {
		s.stop()
		return nil, false
	}
	s.at = end + len(`:`)
	name = s.b[start : end-1 : end-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		name = appendDecoded(make([]byte, 0, len(name)), name)
	}
	return name, true
}
