package rawjson

import "iter"

// ScanValue begins to read a value of any kind.
func ScanValue(value []byte) Scanner { return Scanner{b: value} }

// Members goes through the object that comes next, from name to name; what is no object
// has none. What the loop does not read of the values is stepped over.
func (s *Scanner) Members() iter.Seq[[]byte] {
	return func(yield func(name []byte) bool) { s.members(yield) }
}

func (s *Scanner) members(yield func(name []byte) bool) {
	if s.Kind() != KindObject {
		s.Value()
		return
	}
	start, wanted := s.at, true
	s.at++
	for name, ok := s.Name(); ok; name, ok = s.Name() {
		value := s.at
		if wanted = wanted && yield(name); s.at == value {
			s.Value()
		}
	}
	end := s.at
	s.at = start
	s.leave(end, '}')
}

// Elements goes through the array that comes next; what is no array has no elements.
// What the loop does not read of them is stepped over.
func (s *Scanner) Elements() iter.Seq[int] {
	return func(yield func(i int) bool) { s.elements(yield) }
}

func (s *Scanner) elements(yield func(i int) bool) {
	if s.Kind() != KindArray {
		s.Value()
		return
	}
	start, wanted := s.at, true
	s.at++
	for i := 0; s.at < len(s.b) && s.b[s.at] != ']'; i++ {
		if s.b[s.at] == ',' {
			s.at++
		}
		value := s.at
		if wanted = wanted && yield(i); s.at == value {
			s.Value()
		}
	}
	end := s.at
	s.at = start
	s.leave(end, ']')
}
