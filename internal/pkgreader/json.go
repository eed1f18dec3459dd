package pkgreader

import (
	"bytes"
	"slices"

	"pdpp/internal/rawjson"
)

// keep copies the member name of the object from, if there is one.
func keep(w *rawjson.Writer, from []byte, name string) {
	if v, ok := rawjson.Get(from, name); ok {
		w.Member(name, v)
	}
}

func quoted(s string) []byte { return rawjson.AppendString(nil, s) }

// setMember returns obj with a member set; a member of the same name is replaced.
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

// reopen returns a copy of an object without its closing brace, so that members can be
// added.
func reopen(obj []byte) rawjson.Writer {
	if len(obj) <= len("{}") {
		return rawjson.Writer("{")
	}
	return slices.Clone(bytes.TrimSuffix(obj, []byte("}")))
}

// without returns an object without the named members.
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
