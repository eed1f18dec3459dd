package rsclient

import (
	"cmp"
	"strconv"
	"strings"

	"pdpp/internal/rawjson"
)

// The decoding table (appendix A). The first name is ours and the only one we write;
// the others are those of other servers. The first that has a value wins.
var (
	listPaths       = [][]string{{"data"}, {"results"}, {"data", "results"}, {"data", "data"}}
	hitRecordNames  = []string{"record_key", "record_id", "id"}
	windowRecord    = []string{"record_id", "id", "record_key"}
	connectionNames = []string{"connection_id", "connector_instance_id"}
	connectorNames  = []string{"connector_key", "connector_id"}
	relationNames   = []string{"name", "relation"}
	targetNames     = []string{"stream", "target_stream"}
	keyNames        = []string{"foreign_key", "child_parent_key_field"}
)

// envelopeNames are the members of a flat record that are not its payload: identity
// and operation (MS-60, MS-103), under all their names.
var envelopeNames = map[string]bool{
	"object": true, "id": true, "record_key": true, "stream": true,
	"connection_id": true, "connector_instance_id": true, "connector_key": true, "connector_id": true,
	"display_name": true, "connector_display_name": true, "emitted_at": true,
	"expanded": true, "truncated_fields": true, "deleted": true, "deleted_at": true, "removed_reason": true,
}

// Identity names a record. Unknown parts are "".
type Identity struct {
	Connection string
	Stream     string
	Record     string
}

// or returns the identity with missing parts taken from other.
func (i Identity) or(other Identity) Identity {
	return Identity{cmp.Or(i.Connection, other.Connection), cmp.Or(i.Stream, other.Stream), cmp.Or(i.Record, other.Record)}
}

// Source names the source of a record, hit or row. Unknown parts are "".
type Source struct {
	ConnectorKey  string // as received; text shows it by ShortKey
	DisplayName   string // of the connection
	ConnectorName string // connector_display_name
}

// Label returns the best name of the source: that of the connection, or else of the
// connector; "" if both are missing.
func (s Source) Label() string { return cmp.Or(s.DisplayName, s.ConnectorName) }

// ShortKey returns a connector key for texts: of a key that is a URL, the last path
// segment (IO-7).
func ShortKey(key string) string {
	_, rest, ok := strings.Cut(key, "://")
	if !ok {
		return key
	}
	if end := strings.IndexAny(rest, "?#"); end >= 0 {
		rest = rest[:end]
	}
	rest = strings.TrimRight(rest, "/")
	if last := rest[strings.LastIndexByte(rest, '/')+1:]; last != "" {
		return last
	}
	return key
}

// RetryWith returns the hint of an error object, which is a name, or an object with a
// field.
func RetryWith(errorObject []byte) string {
	v := get(errorObject, "retry_with")
	if rawjson.KindOf(v) == rawjson.KindObject {
		v = get(v, "field")
	}
	s, _ := rawjson.String(v)
	return s
}

// ConnectionOf returns the connection that an object names.
func ConnectionOf(obj []byte) string { return firstID(obj, connectionNames) }

func sourceOf(obj []byte) Source {
	var buf memberBuffer
	return index(&buf, obj).source()
}

// or returns the source with missing parts taken from other.
func (s Source) or(other Source) Source {
	return Source{cmp.Or(s.ConnectorKey, other.ConnectorKey), cmp.Or(s.DisplayName, other.DisplayName), cmp.Or(s.ConnectorName, other.ConnectorName)}
}

// members is the index of an object.
type members rawjson.Object

// memberBuffer holds the index of most objects; larger ones are allocated.
type memberBuffer [24]rawjson.Member

func index(buf *memberBuffer, obj []byte) members { return members(rawjson.Index(buf[:0], obj)) }

func (m members) get(name string) []byte    { return rawjson.Object(m).Get(name) }
func (m members) text(name string) string   { return asText(m.get(name)) }
func (m members) object(name string) []byte { return asObject(m.get(name)) }
func (m members) number(name string) int    { return asNumber(m.get(name)) }
func (m members) isTrue(name string) bool   { return string(m.get(name)) == "true" }
func (m members) isFalse(name string) bool  { return string(m.get(name)) == "false" }

// firstID returns the first of several members that holds an identifier: a non-empty
// string, or a number, which is used as its digits (REC-2).
func (m members) firstID(names []string) string {
	for _, name := range names {
		v := m.get(name)
		if s, ok := rawjson.String(v); ok && s != "" {
			return s
		}
		if rawjson.KindOf(v) == rawjson.KindNumber {
			return string(v)
		}
	}
	return ""
}

func (m members) source() Source {
	return Source{
		ConnectorKey:  m.firstID(connectorNames),
		DisplayName:   m.text("display_name"),
		ConnectorName: m.text("connector_display_name"),
	}
}

// namesOther reports whether an answer names another record than the requested one. An
// answer that names none counts as the requested record (IO-13).
func namesOther(body []byte, asked string) bool {
	named := false
	for _, name := range []string{"id", "record_key", "record_id"} { // ours has id near its start
		v := get(body, name)
		id := asText(v)
		if rawjson.KindOf(v) == rawjson.KindNumber {
			id = string(v)
		}
		switch id {
		case "":
		case asked:
			return false
		default:
			named = true
		}
	}
	return named
}

// get returns a member of an object; nil if it is missing.
func get(obj []byte, name string) []byte {
	v, _ := rawjson.Get(obj, name)
	return v
}

func text(obj []byte, name string) string   { return asText(get(obj, name)) }
func object(obj []byte, name string) []byte { return asObject(get(obj, name)) }
func number(obj []byte, name string) int    { return asNumber(get(obj, name)) }
func isTrue(obj []byte, name string) bool   { return string(get(obj, name)) == "true" }
func isFalse(obj []byte, name string) bool  { return string(get(obj, name)) == "false" }

func firstID(obj []byte, names []string) string {
	var buf memberBuffer
	return index(&buf, obj).firstID(names)
}

// asText decodes a string; "" for any other value.
func asText(v []byte) string {
	s, _ := rawjson.String(v)
	return s
}

// asTexts returns the strings of a list.
func asTexts(v []byte) []string {
	var list []string
	for item := range rawjson.Elements(v) {
		if s, ok := rawjson.String(item); ok {
			list = append(list, s)
		}
	}
	return list
}

// asObject returns an object; nil for any other value.
func asObject(v []byte) []byte {
	if rawjson.KindOf(v) == rawjson.KindObject {
		return v
	}
	return nil
}

// asNumber returns an integer that is not negative; -1 for any other value.
func asNumber(v []byte) int {
	if rawjson.KindOf(v) != rawjson.KindNumber {
		return -1
	}
	n, err := strconv.Atoi(string(v))
	if err != nil || n < 0 {
		return -1
	}
	return n
}
