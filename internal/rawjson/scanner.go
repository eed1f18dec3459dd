package rawjson

import "bytes"

// Scanner reads a compact object forwards, once: it goes from member to member, and
// what is inside of one can be read on the way. What it gives aliases the object. It
// stops where the object is broken.
type Scanner struct {
	b  []byte
	at int // the next member or the comma before it, or the value of the member whose name was read
}

// Scan begins to read an object. What is none has no members.
func Scan(obj []byte) Scanner {
	if len(obj) == 0 || obj[0] != '{' {
		return Scanner{}
	}
	return Scanner{obj, 1}
}

// Name reads the name of the next member, decoded; false when there is none. Its value
// comes next.
func (s *Scanner) Name() (name []byte, ok bool) {
	b, i := s.b, s.at
	if i < len(b) && b[i] == ',' {
		i++
	}
	if i >= len(b) || b[i] != '"' {
		return nil, false
	}
	start := i + 1
	i = plain(b, start)
	if i < len(b) && b[i] == '"' { // as nearly all are
		s.at = i + len(`":`)
		return b[start:i:i], true
	}
	end := stringEnd(b, start)
	if end < 0 {
		return nil, s.stop()
	}
	s.at = end + len(`:`)
	name = b[start : end-1 : end-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		name = appendDecoded(make([]byte, 0, len(name)), name)
	}
	return name, true
}

// stop ends the reading of a broken object.
func (s *Scanner) stop() bool {
	s.b, s.at = nil, 0
	return false
}

// Offset is where the value stands that comes next.
func (s *Scanner) Offset() int { return s.at }

// Kind is the kind of the value that comes next.
func (s *Scanner) Kind() Kind { return KindOf(s.b[min(s.at, len(s.b)):]) }

// Value reads a value; nil when there is none.
func (s *Scanner) Value() []byte {
	start, end := s.at, valueEnd(s.b, s.at)
	if end < 0 {
		s.stop()
		return nil
	}
	s.at = end
	return s.b[start:end:end]
}

// Object reads a value that is an object and appends its members to dst; the value is
// nil when it is broken.
func (s *Scanner) Object(dst Object) (members Object, value []byte) {
	inner := Scanner{s.b, s.at + 1}
	for name, ok := inner.Name(); ok; name, ok = inner.Name() {
		if value := inner.Value(); value != nil {
			dst = append(dst, Member{name, value})
		}
	}
	return dst, s.leave(inner.at, '}')
}

// Array reads a value that is an array and appends its elements to dst; the value is
// nil when it is broken.
func (s *Scanner) Array(dst [][]byte) (elements [][]byte, value []byte) {
	inner := Scanner{s.b, s.at + 1}
	for inner.at < len(inner.b) && inner.b[inner.at] != ']' {
		if inner.b[inner.at] == ',' {
			inner.at++
		}
		if value := inner.Value(); value != nil {
			dst = append(dst, value)
		}
	}
	return dst, s.leave(inner.at, ']')
}

// leave steps behind a value that ends with a bracket at i.
func (s *Scanner) leave(i int, bracket byte) []byte {
	if i < 1 || i >= len(s.b) || s.b[i] != bracket {
		s.stop()
		return nil
	}
	start := s.at
	s.at = i + 1
	return s.b[start:s.at:s.at]
}
