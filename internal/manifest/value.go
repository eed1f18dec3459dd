package manifest

import (
	"encoding/json"
	"slices"
)

// value is one JSON value and its place. An empty raw means absent.
type value struct {
	at  *path
	raw json.RawMessage
}

// absent reports whether the key is missing or the value is null.
func (v value) absent() bool { return len(v.raw) == 0 || v.raw[0] == 'n' }

func (v value) isObject() bool { return len(v.raw) > 0 && v.raw[0] == '{' }
func (v value) isList() bool   { return len(v.raw) > 0 && v.raw[0] == '[' }
func (v value) isString() bool { return len(v.raw) > 0 && v.raw[0] == '"' }
func (v value) isBool() bool   { return len(v.raw) > 0 && (v.raw[0] == 't' || v.raw[0] == 'f') }

// text decodes a string. It returns "" for any other value.
func (v value) text() string {
	var s string
	if v.isString() {
		// wellFormed has checked the input, so a string always decodes.
		_ = json.Unmarshal(v.raw, &s)
	}
	return s
}

// items returns the items of a list, or nil for any other value.
func (v value) items() []value {
	if !v.isList() {
		return nil
	}
	var raws []json.RawMessage
	_ = json.Unmarshal(v.raw, &raws)
	out := make([]value, len(raws))
	for i, raw := range raws {
		out[i] = value{at: v.at.item(i), raw: raw}
	}
	return out
}

// object returns the members of an object. ok is false for any other value.
func (v value) object() (o object, ok bool) {
	o = object{at: v.at, raw: v.raw, members: map[string]json.RawMessage{}}
	if !v.isObject() {
		return o, false
	}
	dec := newDecoder(v.raw)
	if _, err := dec.Token(); err != nil {
		return o, false
	}
	for dec.More() {
		tok, err := dec.Token()
		name, isName := tok.(string)
		var raw json.RawMessage
		if err != nil || !isName || dec.Decode(&raw) != nil {
			return o, false
		}
		o.set(name, raw)
	}
	return o, true
}

// object is a JSON object that preserves the order of its keys.
type object struct {
	at      *path
	raw     json.RawMessage // nil for a result of overlay
	names   []string
	members map[string]json.RawMessage
}

func (o *object) set(name string, raw json.RawMessage) {
	if _, had := o.members[name]; !had {
		o.names = append(o.names, name)
	}
	o.members[name] = raw
}

// get returns a member, or an absent value.
func (o object) get(name string) value {
	return value{at: o.at.key(name), raw: o.members[name]}
}

// overlay returns o with the members of over, except the keys in skip. A replaced member
// keeps its position; new members are at the end.
func (o object) overlay(over object, skip ...string) object {
	out := object{at: over.at, members: make(map[string]json.RawMessage, len(o.members)+len(over.members))}
	for _, name := range o.names {
		out.set(name, o.members[name])
	}
	for _, name := range over.names {
		if !slices.Contains(skip, name) {
			out.set(name, over.members[name])
		}
	}
	return out
}

// encode returns the object as compact JSON in its order.
func (o object) encode() json.RawMessage {
	out := []byte{'{'}
	for i, name := range o.names {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, encodeString(name)...)
		out = append(out, ':')
		out = append(out, o.members[name]...)
	}
	return append(out, '}')
}

// encodeString returns s as a JSON string. Marshal also escapes <, > and &, which makes
// the sizes of M-10 upper bounds.
func encodeString(s string) []byte {
	out, err := json.Marshal(s)
	if err != nil {
		return []byte(`""`) // unreachable: every Go string can be encoded
	}
	return out
}
