package schematext

import (
	"strconv"

	"pdpp/internal/rawjson"
	"pdpp/internal/rsclient"
)

// A projection is a compact document that the adapter derives, for a server that sent
// another form or too much (MS-85). Its members are spliced from the answer (MS-36).

// jsonObject is a JSON object that is being written, without its closing brace.
type jsonObject []byte

func (o *jsonObject) raw(name string, value []byte) {
	if len(*o) == 0 {
		*o = append(*o, '{')
	} else {
		*o = append(*o, ',')
	}
	*o = append(rawjson.AppendString(*o, name), ':')
	*o = append(*o, value...)
}

func (o *jsonObject) text(name, value string) { o.raw(name, rawjson.AppendString(nil, value)) }

func (o *jsonObject) number(name string, n int) { o.raw(name, strconv.AppendInt(nil, int64(n), 10)) }

// keep copies the named members of another object, where it has them.
func (o *jsonObject) keep(from []byte, names ...string) {
	for _, name := range names {
		if v, ok := rawjson.Get(from, name); ok {
			o.raw(name, v)
		}
	}
}

func (o jsonObject) close() []byte {
	if len(o) == 0 {
		return []byte("{}")
	}
	return append(o, '}')
}

func jsonArray(items [][]byte) []byte {
	b := []byte{'['}
	for i, item := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, item...)
	}
	return append(b, ']')
}

func jsonTexts(list []string) []byte {
	items := make([][]byte, len(list))
	for i, s := range list {
		items[i] = rawjson.AppendString(nil, s)
	}
	return jsonArray(items)
}

func jsonConnections(conns []rsclient.Connection) []byte {
	var items [][]byte
	for _, c := range conns {
		var o jsonObject
		o.text("connection_id", c.ID)
		if c.DisplayName != "" {
			o.text("display_name", c.DisplayName)
		}
		items = append(items, o.close())
	}
	return jsonArray(items)
}

// Project returns the compact document of the scope, within budget bytes where that is
// possible. offset is the one of the call, or -1. next is the offset of the first row that
// is not whole, or -1: a call with that offset continues there.
func (d *Document) Project(budget, offset int) (doc []byte, next int) {
	if d.scope.Stream == "" {
		return d.projectIndex(budget), -1
	}
	forms := d.rowForms()
	chosen := make(map[*row][]byte, len(forms))
	for row, f := range forms {
		chosen[row] = f[0]
	}
	size := len(d.projectRows(chosen))
	rows := d.inScope()
	cut := -1
	for step := 1; step < len(rowForms{}); step++ {
		for i := len(rows) - 1; i >= 0 && size > budget; i-- {
			form := forms[rows[i]][step]
			size += len(form) - len(chosen[rows[i]])
			chosen[rows[i]] = form
			if cut < 0 || rows[i].at < cut {
				cut = rows[i].at
			}
		}
	}
	if cut >= 0 && offset >= 0 {
		return d.projectFrom(offset, budget)
	}
	return d.projectRows(chosen), cut
}

// rowForms are the forms of a scoped row: whole, without the flags of its fields, and as
// in an index.
type rowForms [3][]byte

func (d *Document) rowForms() map[*row]rowForms {
	forms := map[*row]rowForms{}
	for _, r := range d.inScope() {
		forms[r] = rowForms{r.project(true), r.project(false), r.projectIndex()}
	}
	return forms
}

// projectIndex returns the document of all streams. Over budget it has their names only.
func (d *Document) projectIndex(budget int) []byte {
	rows := map[*row][]byte{}
	for _, r := range d.inScope() {
		rows[r] = r.projectIndex()
	}
	if doc := d.projectRows(rows); len(doc) <= budget {
		return doc
	}
	return d.envelope(func(src *connector) []byte {
		o := src.open()
		var names []string
		for _, r := range src.rows {
			names = append(names, r.Name)
		}
		o.raw("granted_connections", jsonConnections(connectionsOf(src.rows)))
		o.raw("stream_names", jsonTexts(names))
		return o.close()
	})
}

// projectRows returns the document with these forms of its rows.
func (d *Document) projectRows(rows map[*row][]byte) []byte {
	return d.envelope(func(src *connector) []byte {
		o := src.open()
		o.number("stream_count", len(src.rows))
		if len(src.shared) > 0 {
			o.raw("granted_connections", jsonConnections(src.shared))
		}
		var list [][]byte
		for _, r := range src.rows {
			if row := rows[r]; row != nil {
				list = append(list, row)
			}
		}
		o.raw("streams", jsonArray(list))
		return o.close()
	})
}

// envelope returns the document around its connectors.
func (d *Document) envelope(connector func(*connector) []byte) []byte {
	var o jsonObject
	o.text("object", "schema")
	o.text("detail", "compact")
	o.keep(d.Document, "bearer", "package", "partial")
	o.number("connector_count", len(d.sources))
	o.number("stream_count", len(d.inScope()))
	var list [][]byte
	for _, src := range d.sources {
		list = append(list, connector(src))
	}
	o.raw("connectors", jsonArray(list))
	o.keep(d.Document, "unavailable_connections", "links", "meta")
	return o.close()
}

func (src *connector) open() *jsonObject {
	var o jsonObject
	if src.ConnectorKey != "" {
		o.text("connector_key", src.ConnectorKey)
	}
	if src.ConnectorName != "" {
		o.text("connector_display_name", src.ConnectorName)
	}
	return &o
}

// identityMembers are the members that every form of a row keeps (MS-85).
var identityMembers = []string{
	"name", "connector_key", "display_name", "connection_id", "primary_key", "cursor_field", "consent_time_field", "label",
}

// projectIndex returns a row of an index.
func (r *row) projectIndex() []byte {
	var o jsonObject
	o.keep(r.Raw, identityMembers...)
	facts := r.facts()
	if facts.fields >= 0 {
		o.number("field_count", facts.fields)
	}
	if facts.searchStated {
		o.raw("search_modes", jsonTexts(facts.search))
	}
	if facts.aggregateStated {
		o.raw("aggregate", strconv.AppendBool(nil, facts.aggregate))
	}
	r.appendConnections(&o)
	return o.close()
}

// project returns a row with its capabilities, and with the flags of its fields or
// their number.
func (r *row) project(flags bool) []byte {
	var o jsonObject
	o.keep(r.Raw, identityMembers...)
	fields := r.fields()
	if flags {
		var caps jsonObject
		for _, f := range fields {
			caps.text(f.name, f.flags)
		}
		o.raw("field_capabilities", caps.close())
	} else {
		o.number("more_fields", len(fields))
	}
	o.keep(r.Raw, "query_capabilities", "views", "expand_capabilities", "time_constraint")
	r.appendConnections(&o)
	return o.close()
}

// appendConnections appends a row's connections unless its connector lists them.
func (r *row) appendConnections(o *jsonObject) {
	if r.stated && (r.deviates() || len(r.Connections) == 0) {
		o.raw("granted_connections", jsonConnections(r.Connections))
	}
}

// Scoped returns a full document with the rows of the scope only, each once (MS-86). A
// document that has nothing else is returned unchanged.
func (d *Document) Scoped() []byte {
	repeats := d.repeatsRows()
	if d.excluded == 0 && !repeats {
		return d.Document
	}
	kept := map[*byte]bool{}
	for _, r := range d.inScope() {
		kept[&r.Raw[0]] = true
	}
	var o jsonObject
	for name, value := range rawjson.Members(d.Document) {
		switch string(name) {
		case "connectors":
			o.raw("connectors", scopedConnectors(value, kept))
		case "streams":
			if !repeats {
				o.raw("streams", keptRows(value, kept))
			}
		case "connector_count":
			o.number("connector_count", len(d.sources))
		case "stream_count":
			o.number("stream_count", len(d.inScope()))
		default:
			o.raw(string(name), value)
		}
	}
	return o.close()
}

// scopedConnectors drops the connectors that have no row of the scope.
func scopedConnectors(connectors []byte, kept map[*byte]bool) []byte {
	var list [][]byte
	for c := range rawjson.Elements(connectors) {
		streams, _ := rawjson.Get(c, "streams")
		rows := keptRows(streams, kept)
		if len(rows) == len("[]") {
			continue
		}
		var o jsonObject
		for name, value := range rawjson.Members(c) {
			if string(name) == "streams" {
				value = rows
			}
			o.raw(string(name), value)
		}
		list = append(list, o.close())
	}
	return jsonArray(list)
}

// keptRows filters a list of rows. Rows are identified by their address in the document.
func keptRows(list []byte, kept map[*byte]bool) []byte {
	var rows [][]byte
	for r := range rawjson.Elements(list) {
		if len(r) > 0 && kept[&r[0]] {
			rows = append(rows, r)
		}
	}
	return jsonArray(rows)
}
