package rsclient

import (
	"pdpp/internal/evidence"
	"pdpp/internal/rawjson"
)

// RecordReader reads records one after the other. It holds the current record, and
// reuses strings of the previous one.
type RecordReader struct {
	Record
	// Asked is the requested identity; it fills the missing parts of records.
	Asked Identity
	// Declared has the declarations of their streams.
	Declared Presentations
	// Texts allocates the strings of the records. If it is nil, each is allocated
	// separately.
	Texts *rawjson.Texts

	fields rawjson.Object // the members of the payload
	// about is the declaration of the stream of the last described record.
	about                *evidence.Presentation
	connectorKey, stream string
}

// Row reads a row of a page (MS-60).
func (r *RecordReader) Row(raw []byte) { r.read(raw, envelopeNames) }

// Detail reads the answer of the record route, which also has links and meta.
func (r *RecordReader) Detail(body []byte) { r.read(body, detailNames) }

func (r *RecordReader) read(raw []byte, envelope map[string]bool) {
	m := r.members(raw)
	r.Raw = raw
	r.Identity = Identity{r.id(r.Connection, m.connection, m.instance), r.text(r.Stream, m.stream), r.id(r.Identity.Record, m.id, m.recordKey)}.or(r.Asked)
	r.Source = r.source(&m)
	r.EmittedAt, r.Truncated, r.Expanded = r.text("", m.emittedAt), truncationsOf(m.truncated), relationsOf(m.expanded)
	r.Deleted, r.DeletedAt, r.RemovedReason = string(m.deleted) == "true", r.text("", m.deletedAt), r.text("", m.removedReason)
	r.Payload = asObject(m.data)
	if r.Flat = r.Payload == nil; r.Flat {
		r.Payload = without(raw, envelope)
		r.fields = rawjson.Index(r.fields[:0], r.Payload)
	}
}

// Origin reads only the connection and the source of a row.
func (r *RecordReader) Origin(raw []byte) {
	var m recordMembers
	s := rawjson.Scan(raw)
	for name := range s.Members() {
		if at := m.named(name); at != nil && *at == nil {
			*at = s.Value()
		}
	}
	r.Identity = Identity{Connection: r.id(r.Connection, m.connection, m.instance)}.or(r.Asked)
	r.Source = r.source(&m)
}

func (r *RecordReader) source(m *recordMembers) Source {
	return Source{
		ConnectorKey: r.id(r.ConnectorKey, m.connectorKey, m.connector), DisplayName: r.text(r.DisplayName, m.displayName),
		ConnectorName: r.text(r.ConnectorName, m.connectorName),
	}
}

// recordMembers are the members of a record that are read, under all their names
// (appendix A); nil where there is none.
type recordMembers struct {
	id, recordKey, stream, connection, instance  []byte
	connectorKey, connector                      []byte
	displayName, connectorName                   []byte
	data, expanded, truncated                    []byte
	emittedAt, deleted, deletedAt, removedReason []byte
}

// named returns the member with a name; nil for one that is not read.
func (m *recordMembers) named(name []byte) *[]byte {
	switch string(name) {
	case "id":
		return &m.id
	case "record_key":
		return &m.recordKey
	case "stream":
		return &m.stream
	case "connection_id":
		return &m.connection
	case "connector_instance_id":
		return &m.instance
	case "connector_key":
		return &m.connectorKey
	case "connector_id":
		return &m.connector
	case "display_name":
		return &m.displayName
	case "connector_display_name":
		return &m.connectorName
	case "data":
		return &m.data
	case "expanded":
		return &m.expanded
	case "truncated_fields":
		return &m.truncated
	case "emitted_at":
		return &m.emittedAt
	case "deleted":
		return &m.deleted
	case "deleted_at":
		return &m.deletedAt
	case "removed_reason":
		return &m.removedReason
	}
	return nil
}

// members finds the members of a record, the first of each name, and in the same pass
// those of its payload.
func (r *RecordReader) members(raw []byte) (m recordMembers) {
	const usual = 16 // fields of a record
	if r.fields = r.fields[:0]; cap(r.fields) == 0 {
		r.fields = make(rawjson.Object, 0, usual)
	}
	s := rawjson.Scan(raw)
	for name := range s.Members() {
		at := m.named(name)
		switch {
		case at == &m.data && m.data == nil && s.Kind() == rawjson.KindObject:
			start := s.Offset()
			r.fields = s.Index(r.fields)
			m.data = raw[start:max(start, s.Offset())]
		case at != nil && *at == nil:
			*at = s.Value()
		}
	}
	return m
}

// id returns the first of two members that holds an identifier: a non-empty string, or
// a number, which is used as its digits (REC-2).
func (r *RecordReader) id(before string, first, second []byte) string {
	for _, v := range [...][]byte{first, second} {
		if s := r.text(before, v); s != "" {
			return s
		}
		if rawjson.KindOf(v) == rawjson.KindNumber {
			return r.Texts.Copy(v)
		}
	}
	return ""
}

// text decodes a string; "" for any other value. It often equals the text of the
// previous record, before, whose string is then reused.
func (r *RecordReader) text(before string, value []byte) string {
	content, ok := rawjson.Content(value)
	switch {
	case !ok:
		return ""
	case string(content) == before && rawjson.Is(value, before):
		return before
	}
	return r.Texts.Decoded(content)
}

// Project removes all fields of the payload except the named ones (PROJ-2).
func (r *RecordReader) Project(fields []string) {
	r.Record.Project(fields)
	r.fields = rawjson.Index(r.fields[:0], r.Payload)
}

// Describe fills e with the record. It is valid until the next one is read.
func (r *RecordReader) Describe(e *evidence.Record) {
	if r.about == nil || r.connectorKey != r.ConnectorKey || r.stream != r.Stream {
		r.about = r.Declared.For(r.ConnectorKey, r.Stream)
		r.connectorKey, r.stream = r.ConnectorKey, r.Stream
	}
	r.describe(e, r.about)
	e.Texts = r.Texts
	e.SetFields(r.fields)
}
