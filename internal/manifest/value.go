package manifest

import (
	"encoding/json"
	"slices"
)

// value is one JSON value and its place. The zero raw means absent.
type value struct {
	at  *path
	raw json.RawMessage
}

// absent reports that there is nothing to read: no such key, or null.
func (v value) absent() bool { return len(v.raw) == 0 || v.raw[0] == 'n' }

func (v value) isObject() bool { return len(v.raw) > 0 && v.raw[0] == '{' }
func (v value) isList() bool   { return len(v.raw) > 0 && v.raw[0] == '[' }
func (v value) isString() bool { return len(v.raw) > 0 && v.raw[0] == '"' }
func (v value) isBool() bool   { return len(v.raw) > 0 && (v.raw[0] == 't' || v.raw[0] == 'f') }

// text decodes a string value; "" for anything else.
func (v value) text() string {
	var s string
	if v.isString() {
		// The input was checked as a whole, so a string always decodes.
		_ = json.Unmarshal(v.raw, &s)
	}
	return s
}

// items splits a list; nil for anything else.
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

// object splits an object one level deep; ok is false for anything else.
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

// object is a JSON object that remembers the order of its keys, which a Go map
// does not.
type object struct {
	at      *path
	raw     json.RawMessage // as written; nil for one that overlay put together
	names   []string
	members map[string]json.RawMessage
}

func (o *object) set(name string, raw json.RawMessage) {
	if _, had := o.members[name]; !had {
		o.names = append(o.names, name)
	}
	o.members[name] = raw
}

// get gives a member; an absent value when there is none.
func (o object) get(name string) value {
	return value{at: o.at.key(name), raw: o.members[name]}
}

// overlay puts the members of over, but for the keys in skip, on top of o: a
// replaced member keeps its position, a new one goes to the end.
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

// encode writes the object compactly in its order.
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

// encodeString writes s as a JSON string. Marshal escapes more than it must (<,
// > and &), which is harmless here and makes the sizes of M-10 upper bounds.
func encodeString(s string) []byte {
	out, err := json.Marshal(s)
	if err != nil {
		return []byte(`""`) // unreachable: every Go string can be encoded
	}
	return out
}
