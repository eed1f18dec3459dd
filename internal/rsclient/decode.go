package rsclient

import (
	"strconv"
	"strings"

	"pdpp/internal/rawjson"
)

// The decoding table (appendix A). The first name is ours and the only one we emit;
// the others are what other servers write. The first that has a value wins.
var (
	listPaths       = [][]string{{"data"}, {"results"}, {"data", "results"}, {"data", "data"}}
	hitRecordNames  = []string{"record_key", "record_id", "id"}
	rowRecordNames  = []string{"id", "record_key"}
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

// Identity names a record. Parts that are not known are "".
type Identity struct {
	Connection string
	Stream     string
	Record     string
}

// or fills what is missing from another identity.
func (i Identity) or(other Identity) Identity {
	if i.Connection == "" {
		i.Connection = other.Connection
	}
	if i.Stream == "" {
		i.Stream = other.Stream
	}
	if i.Record == "" {
		i.Record = other.Record
	}
	return i
}

// Source says where a record, hit or row comes from. What is not known is "".
type Source struct {
	ConnectorKey  string // as received; text shows it by ShortKey
	DisplayName   string // of the connection
	ConnectorName string // connector_display_name
}

// Label is the best name of the source that a server gave: of the connection, else
// of the connector; "" when it gave none.
func (s Source) Label() string {
	if s.DisplayName != "" {
		return s.DisplayName
	}
	return s.ConnectorName
}

// ShortKey is a connector key as text shows it: that of a key shaped like a URL is
// its last path segment (IO-7).
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

// RetryWith is the hint of an error object: a name, or an object with a field.
func RetryWith(errorObject []byte) string {
	v := get(errorObject, "retry_with")
	if rawjson.KindOf(v) == rawjson.KindObject {
		v = get(v, "field")
	}
	s, _ := rawjson.String(v)
	return s
}

// ConnectionOf is the connection that an object names.
func ConnectionOf(obj []byte) string { return firstID(obj, connectionNames) }

func sourceOf(obj []byte) Source {
	return Source{
		ConnectorKey:  firstID(obj, connectorNames),
		DisplayName:   text(obj, "display_name"),
		ConnectorName: text(obj, "connector_display_name"),
	}
}

// or fills what is missing from another source.
func (s Source) or(other Source) Source {
	if s.ConnectorKey == "" {
		s.ConnectorKey = other.ConnectorKey
	}
	if s.DisplayName == "" {
		s.DisplayName = other.DisplayName
	}
	if s.ConnectorName == "" {
		s.ConnectorName = other.ConnectorName
	}
	return s
}

// get is a member of an object; nil when it has none, or is no object.
func get(obj []byte, name string) []byte {
	v, _ := rawjson.Get(obj, name)
	return v
}

// text is a member that is a string; "" when it is none.
func text(obj []byte, name string) string {
	s, _ := rawjson.String(get(obj, name))
	return s
}

// texts are the strings of a member that is a list.
func texts(obj []byte, name string) []string {
	var list []string
	for v := range rawjson.Elements(get(obj, name)) {
		if s, ok := rawjson.String(v); ok {
			list = append(list, s)
		}
	}
	return list
}

// firstID is the first of several members that holds an identifier: a string that
// is not empty, or a number, whose digits count (REC-2).
func firstID(obj []byte, names []string) string {
	for _, name := range names {
		v := get(obj, name)
		if s, ok := rawjson.String(v); ok && s != "" {
			return s
		}
		if rawjson.KindOf(v) == rawjson.KindNumber {
			return string(v)
		}
	}
	return ""
}

// number is a member that is an integer and not negative; -1 when it is none.
func number(obj []byte, name string) int {
	n, err := strconv.Atoi(string(get(obj, name)))
	if err != nil || n < 0 {
		return -1
	}
	return n
}

// isTrue and isFalse tell what a member says; neither, when it is no truth value.
func isTrue(obj []byte, name string) bool  { return string(get(obj, name)) == "true" }
func isFalse(obj []byte, name string) bool { return string(get(obj, name)) == "false" }

// object is a member that is an object; nil when it is none.
func object(obj []byte, name string) []byte {
	if v := get(obj, name); rawjson.KindOf(v) == rawjson.KindObject {
		return v
	}
	return nil
}
