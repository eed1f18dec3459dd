package rawjson

import (
	"bytes"
	"testing"
)

// FuzzWalk: a walk into all depths finds what Members and Elements find, and a value of
// which nothing is read, or a part, is stepped over.
func FuzzWalk(f *testing.F) {
	for _, s := range samples {
		f.Add([]byte(s))
	}
	f.Add([]byte(`{"a":[1,{"b":[]},"x"],"a":{},"c\u0064":[[2],{"e":null}]}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		ends(src) // no panic on any bytes
		value, err := CompactRelayed(nil, src)
		if err != nil {
			return
		}
		if !ends(value) {
			t.Fatalf("%s is not read to its end", value)
		}
		s := Scan(value)
		if got := rewrite(nil, &s); !bytes.Equal(got, reference(nil, value)) {
			t.Fatalf("%s was read as %s", value, got)
		}
	})
}

// ends reads of a value the first member of each member, and the first element of each
// element. It reports whether it is then at the end of the value.
func ends(value []byte) bool {
	s := Scan(value)
	if s.Kind() == KindArray {
		for range s.Elements() {
			for range s.Elements() {
				break
			}
		}
	} else {
		for range s.Members() {
			for range s.Members() {
				s.Value()
				break
			}
		}
	}
	return s.Offset() == len(value)
}

// rewrite writes a value as a walk finds it: names decoded, nothing between members.
func rewrite(dst []byte, s *Scanner) []byte {
	switch s.Kind() {
	case KindObject:
		dst = append(dst, '{')
		for name := range s.Members() {
			dst = rewrite(append(dst, name...), s)
		}
		return append(dst, '}')
	case KindArray:
		dst = append(dst, '[')
		for range s.Elements() {
			dst = rewrite(dst, s)
		}
		return append(dst, ']')
	}
	return append(dst, s.Value()...)
}

// reference returns what rewrite must write.
func reference(dst, value []byte) []byte {
	switch KindOf(value) {
	case KindObject:
		dst = append(dst, '{')
		for name, v := range Members(value) {
			dst = reference(append(dst, name...), v)
		}
		return append(dst, '}')
	case KindArray:
		dst = append(dst, '[')
		for v := range Elements(value) {
			dst = reference(dst, v)
		}
		return append(dst, ']')
	}
	return append(dst, value...)
}
