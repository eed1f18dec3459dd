package schematext

import (
	"pdpp/internal/rawjson"
	"pdpp/internal/rsclient"
)

// A projection is a compact document that the adapter derives, for a server that sent
// another form or too much (MS-85). Its members are spliced from the answer (MS-36).

// keep copies the named members of another object, where it has them.
func keep(o *rawjson.Writer, from []byte, names ...string) {
	for _, name := range names {
		if v, ok := rawjson.Get(from, name); ok {
			o.Member(name, v)
		}
	}
}

func jsonArray(items [][]byte) []byte {
	w := rawjson.Writer("[")
	for _, item := range items {
		w.Raw(item)
	}
	return append(w, ']')
}

func jsonConnections(conns []rsclient.Connection) []byte {
	var items [][]byte
	for _, c := range conns {
		o := rawjson.Writer("{")
		o.Text("connection_id", c.ID)
		o.Optional("display_name", c.DisplayName)
		items = append(items, append(o, '}'))
	}
	return jsonArray(items)
}

// Project returns the compact document of the scope, within budget bytes where that is
// possible. offset is the one of the call, or -1. next is the offset of the first row that
// is not complete, at which a further call continues; -1 if all are complete.
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
		o.Member("granted_connections", jsonConnections(connectionsOf(src.rows)))
		rawjson.List(&o, "stream_names", names)
		return append(o, '}')
	})
}

// projectRows returns the document with these forms of its rows.
func (d *Document) projectRows(rows map[*row][]byte) []byte {
	return d.envelope(func(src *connector) []byte {
		o := src.open()
		o.Number("stream_count", len(src.rows))
		if len(src.shared) > 0 {
			o.Member("granted_connections", jsonConnections(src.shared))
		}
		var list [][]byte
		for _, r := range src.rows {
			if row := rows[r]; row != nil {
				list = append(list, row)
			}
		}
		o.Values("streams", list)
		return append(o, '}')
	})
}

// envelope returns the document around its connectors.
func (d *Document) envelope(connector func(*connector) []byte) []byte {
	o := rawjson.Writer("{")
	o.Text("object", "schema")
	o.Text("detail", "compact")
	keep(&o, d.Document, "bearer", "package", "partial")
	o.Number("connector_count", len(d.sources))
	o.Number("stream_count", len(d.inScope()))
	var list [][]byte
	for _, src := range d.sources {
		list = append(list, connector(src))
	}
	o.Values("connectors", list)
	keep(&o, d.Document, "unavailable_connections", "links", "meta")
	return append(o, '}')
}

func (src *connector) open() rawjson.Writer {
	o := rawjson.Writer("{")
	o.Optional("connector_key", src.ConnectorKey)
	o.Optional("connector_display_name", src.ConnectorName)
	return o
}

// identityMembers are the members that every form of a row keeps (MS-85).
var identityMembers = []string{
	"name", "connector_key", "display_name", "connection_id", "primary_key", "cursor_field", "consent_time_field", "label",
}

// projectIndex returns a row of an index.
func (r *row) projectIndex() []byte {
	o := rawjson.Writer("{")
	keep(&o, r.Raw, identityMembers...)
	facts := r.facts()
	if facts.fields >= 0 {
		o.Number("field_count", facts.fields)
	}
	if facts.searchStated {
		rawjson.List(&o, "search_modes", facts.search)
	}
	if facts.aggregateStated {
		o.Flag("aggregate", facts.aggregate)
	}
	r.appendConnections(&o)
	return append(o, '}')
}

// project returns a row with its capabilities, and with the flags of its fields or
// their number.
func (r *row) project(flags bool) []byte {
	o := rawjson.Writer("{")
	keep(&o, r.Raw, identityMembers...)
	fields := r.fields()
	if flags {
		caps := rawjson.Writer("{")
		for _, f := range fields {
			caps.Text(f.name, f.flags)
		}
		o.Member("field_capabilities", append(caps, '}'))
	} else {
		o.Number("more_fields", len(fields))
	}
	keep(&o, r.Raw, "query_capabilities", "views", "expand_capabilities", "time_constraint")
	r.appendConnections(&o)
	return append(o, '}')
}

// appendConnections appends a row's connections unless its connector lists them.
func (r *row) appendConnections(o *rawjson.Writer) {
	if r.stated && (r.deviates() || len(r.Connections) == 0) {
		o.Member("granted_connections", jsonConnections(r.Connections))
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
	o := rawjson.Writer("{")
	for name, value := range rawjson.Members(d.Document) {
		switch string(name) {
		case "connectors":
			o.Member("connectors", scopedConnectors(value, kept))
		case "streams":
			if !repeats {
				o.Member("streams", keptRows(value, kept))
			}
		case "connector_count":
			o.Number("connector_count", len(d.sources))
		case "stream_count":
			o.Number("stream_count", len(d.inScope()))
		default:
			o.Member(string(name), value)
		}
	}
	return append(o, '}')
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
		o := rawjson.Writer("{")
		for name, value := range rawjson.Members(c) {
			if string(name) == "streams" {
				value = rows
			}
			o.Member(string(name), value)
		}
		list = append(list, append(o, '}'))
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
