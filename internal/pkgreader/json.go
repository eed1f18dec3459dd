package pkgreader

import (
	"bytes"
	"slices"

	"pdpp/internal/rawjson"
)

// keep copies a member of another object, if it has it.
func keep(w *rawjson.Writer, from []byte, name string) {
	if v, ok := rawjson.Get(from, name); ok {
		w.Member(name, v)
	}
}

func quoted(s string) []byte { return rawjson.AppendString(nil, s) }

// setMember is an object with a member, in place of one of that name.
func setMember(obj []byte, name string, value []byte) []byte {
	s := rawjson.Scan(obj)
	for known := range s.Members() {
		if string(known) == name {
			start := s.Offset()
			return slices.Concat(obj[:start], value, obj[start+len(s.Value()):])
		}
	}
	w := reopen(obj)
	w.Member(name, value)
	return append(w, '}')
}

// reopen is a copy of an object that more members can be added to.
func reopen(obj []byte) rawjson.Writer {
	if len(obj) <= len("{}") {
		return rawjson.Writer("{")
	}
	return slices.Clone(bytes.TrimSuffix(obj, []byte("}")))
}

// without is an object without some of its members.
func without(obj []byte, names ...string) []byte {
	w := rawjson.Writer("{")
	s := rawjson.Scan(obj)
	for name := range s.Members() {
		if !slices.Contains(names, string(name)) {
			w.Raw(s.Member())
		}
	}
	return append(w, '}')
}
