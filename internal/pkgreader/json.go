package pkgreader

import (
	"bytes"
	"slices"
	"strconv"

	"pdpp/internal/rawjson"
)

// object is a JSON object in the making, without its closing brace.
type object []byte

func (o *object) raw(name string, value []byte) {
	if len(*o) == 0 {
		*o = append(*o, '{')
	} else {
		*o = append(*o, ',')
	}
	*o = append(*o, '"')
	*o = append(*o, name...) // names are ours and need no escapes
	*o = append(*o, '"', ':')
	*o = append(*o, value...)
}

// text adds a string; nothing when it is empty.
func (o *object) text(name, value string) {
	if value != "" {
		o.raw(name, nil)
		*o = rawjson.AppendString(*o, value)
	}
}

func (o *object) int(name string, n int) {
	o.raw(name, nil)
	*o = strconv.AppendInt(*o, int64(n), 10)
}

func (o *object) bool(name string, v bool) {
	o.raw(name, nil)
	*o = strconv.AppendBool(*o, v)
}

// keep copies a member of another object, if it has it.
func (o *object) keep(from []byte, name string) {
	if v, ok := rawjson.Get(from, name); ok {
		o.raw(name, v)
	}
}

func (o object) close() []byte {
	if len(o) == 0 {
		return []byte("{}")
	}
	return append(o, '}')
}

// array is a JSON array in the making, without its closing bracket.
type array []byte

func (a *array) add(value []byte) {
	if len(*a) == 0 {
		*a = append(*a, '[')
	} else {
		*a = append(*a, ',')
	}
	*a = append(*a, value...)
}

func (a array) close() []byte {
	if len(a) == 0 {
		return []byte("[]")
	}
	return append(a, ']')
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
	o := reopen(obj)
	o.raw(name, value)
	return o.close()
}

// reopen is a copy of an object that more members can be added to.
func reopen(obj []byte) object {
	if len(obj) <= len("{}") {
		return nil
	}
	return slices.Clone(bytes.TrimSuffix(obj, []byte("}")))
}

// without is an object without some of its members.
func without(obj []byte, names ...string) []byte {
	out := object("{")
	s := rawjson.Scan(obj)
	for name := range s.Members() {
		if slices.Contains(names, string(name)) {
			continue
		}
		if len(out) > len("{") {
			out = append(out, ',')
		}
		out = append(out, s.Member()...)
	}
	return out.close()
}
