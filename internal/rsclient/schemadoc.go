package rsclient

import (
	"slices"
	"strings"

	"pdpp/internal/rawjson"
)

// Schema is a schema document (MS-83).
type Schema struct {
	Document   []byte // the document, without what a server may have put around it
	Compact    bool   // the document says that it is compact
	Scope      string // of the token, as the document states it; "" if it does not
	Connectors []SchemaConnector
	Streams    []SchemaRow // rows at top level, which some servers send in addition to connectors or instead of them
	Meta       []byte
}

// SchemaConnector is a connector with the rows of its streams.
type SchemaConnector struct {
	Source
	Raw         []byte
	Connections []Connection
	Rows        []SchemaRow
}

// Connection is one of granted_connections.
type Connection struct{ ID, DisplayName string }

// SchemaRow is a stream of a connector.
type SchemaRow struct {
	Source
	Raw    []byte
	Name   string
	Label  string
	Index  int // its connector in Connectors; -1 for rows at top level
	Fields []SchemaField

	// Connection is the one to which the row is limited; "" if it is not.
	Connection string
	// Connections are the connections that the row lists, or else the one to which it is
	// limited, or else those of its connector.
	Connections    []Connection
	OwnConnections bool // the row itself states them

	CursorField      string
	ConsentTimeField string
	FieldCount       int // -1 if not stated
	SearchModes      []string
	Aggregate        bool
	Views            []SchemaView
	Relations        []SchemaRelation
	Capabilities     []byte // query_capabilities, an object; nil when not stated
}

// SchemaField is a field with its capabilities: Flags or Object.
type SchemaField struct {
	Name   string
	Flags  string
	Object []byte
}

// SchemaView is a named view.
type SchemaView struct {
	ID     string
	Fields []string
}

// SchemaRelation is one of expand_capabilities.
type SchemaRelation struct {
	Name        string
	Stream      string
	Cardinality string
	Key         string // the field of the related records that holds the id of this one; "" if not stated
	Max         int    // -1 if not stated
	Usable      bool
}

// SchemaOf reads a schema answer; any other body has no rows.
func SchemaOf(body []byte) Schema {
	doc := DocumentOf(body)
	s := Schema{
		Document: doc, Compact: text(doc, "detail") == "compact", Scope: text(object(doc, "bearer"), "scope"), Meta: object(doc, "meta"),
	}
	for c := range rawjson.Elements(get(doc, "connectors")) {
		if rawjson.KindOf(c) != rawjson.KindObject {
			continue
		}
		conn := SchemaConnector{Source: sourceOf(c), Raw: c, Connections: connectionsIn(c)}
		if conn.ConnectorKey == "" {
			conn.ConnectorKey = text(object(c, "source"), "id")
		}
		for row := range rawjson.Elements(get(c, "streams")) {
			if r, ok := rowOf(row, conn, len(s.Connectors)); ok {
				conn.Rows = append(conn.Rows, r)
			}
		}
		s.Connectors = append(s.Connectors, conn)
	}
	for row := range rawjson.Elements(get(doc, "streams")) {
		if r, ok := rowOf(row, SchemaConnector{}, -1); ok {
			s.Streams = append(s.Streams, r)
		}
	}
	return s
}

// saysOwner reports whether a schema answer says that the token is an owner's. Only
// tokens of our own servers show that by their prefix.
func saysOwner(body []byte) bool {
	bearer := object(DocumentOf(body), "bearer")
	return strings.EqualFold(text(bearer, "token_kind"), "owner") || strings.EqualFold(text(bearer, "scope"), "owner")
}

// DocumentOf returns the schema document of an answer, which some servers send as the
// member data.
func DocumentOf(body []byte) []byte {
	data := object(body, "data")
	for _, name := range []string{"connectors", "streams", "granted_connections"} {
		if get(data, name) != nil {
			return data
		}
	}
	if text(data, "object") == "schema" {
		return data
	}
	return body
}

// Rows returns all rows: those of the connectors, then the rows at top level that are
// not also in a connector.
func (s Schema) Rows() []SchemaRow {
	var rows []SchemaRow
	for _, c := range s.Connectors {
		rows = append(rows, c.Rows...)
	}
	known := rows
	for _, r := range s.Streams {
		same := func(o SchemaRow) bool {
			return o.Name == r.Name && (r.ConnectorKey == "" || o.ConnectorKey == r.ConnectorKey) && r.Connection == o.Connection
		}
		if !slices.ContainsFunc(known, same) {
			rows = append(rows, r)
		}
	}
	return rows
}

func rowOf(raw []byte, c SchemaConnector, index int) (SchemaRow, bool) {
	r := SchemaRow{
		Source: sourceOf(raw).or(Source{ConnectorKey: c.ConnectorKey, ConnectorName: c.ConnectorName}),
		Raw:    raw, Index: index, Name: text(raw, "name"), Label: text(raw, "label"),
		Connection: ConnectionOf(raw), Connections: c.Connections, Fields: fieldsIn(raw),
		CursorField: text(raw, "cursor_field"), ConsentTimeField: text(raw, "consent_time_field"), FieldCount: number(raw, "field_count"),
		SearchModes: asTexts(get(raw, "search_modes")), Aggregate: isTrue(raw, "aggregate"),
		Views: viewsIn(raw), Relations: expandIn(raw), Capabilities: object(raw, "query_capabilities"),
	}
	if get(raw, "granted_connections") != nil {
		r.Connections, r.OwnConnections = connectionsIn(raw), true
	}
	if r.Connection != "" && !r.OwnConnections {
		r.Connections = []Connection{{r.Connection, r.DisplayName}}
	}
	if len(r.Capabilities) <= len(`{}`) {
		r.Capabilities = nil
	}
	return r, r.Name != ""
}

func connectionsIn(obj []byte) []Connection {
	var list []Connection
	for v := range rawjson.Elements(get(obj, "granted_connections")) {
		if id := ConnectionOf(v); id != "" {
			list = append(list, Connection{id, sourceOf(v).Label()})
		}
	}
	return list
}

func fieldsIn(row []byte) []SchemaField {
	var list []SchemaField
	for name, v := range rawjson.Members(get(row, "field_capabilities")) {
		f := SchemaField{Name: string(name)}
		switch rawjson.KindOf(v) {
		case rawjson.KindString:
			f.Flags, _ = rawjson.String(v)
		case rawjson.KindObject:
			f.Object = v
		}
		list = append(list, f)
	}
	return list
}

func viewsIn(row []byte) []SchemaView {
	var list []SchemaView
	for v := range rawjson.Elements(get(row, "views")) {
		if id := text(v, "id"); id != "" {
			list = append(list, SchemaView{id, asTexts(get(v, "fields"))})
		}
	}
	return list
}

func expandIn(row []byte) []SchemaRelation {
	var list []SchemaRelation
	for v := range rawjson.Elements(get(row, "expand_capabilities")) {
		r := SchemaRelation{
			Name: firstID(v, relationNames), Stream: firstID(v, targetNames), Cardinality: text(v, "cardinality"),
			Key: firstID(v, keyNames), Max: number(v, "max_limit"), Usable: !isFalse(v, "usable"),
		}
		if r.Name != "" {
			list = append(list, r)
		}
	}
	return list
}
