package mcp

import (
	"slices"
	"strings"

	"pdpp/internal/rawjson"
)

// schemaScope is what a schema call was narrowed to; "" for everything.
type schemaScope struct{ stream, connection string }

// schemaDoc is a schema document read for its rows: those of its scope, grouped by the
// connector they stand under.
type schemaDoc struct {
	raw      []byte
	sources  []*schemaSource
	excluded int  // rows outside the scope
	repeated bool // the top-level streams are all under connectors as well
}

// schemaSource is a connector with the rows of the scope.
type schemaSource struct {
	raw    []byte // nil when its rows stood at top level
	key    string // as received
	name   string
	shared []schemaConn // of most rows
	rows   []*schemaRow
}

// schemaRow is one (connector, stream) entry.
type schemaRow struct {
	raw    []byte
	source *schemaSource
	name   string
	label  string
	conns  []schemaConn
	stated bool // whether the document says on which connections
}

// schemaConn is a connection; raw is its entry, nil where it was named by the row.
type schemaConn struct {
	id    string
	label string
	raw   []byte
}

// schemaDocument is the document in an answer: the body, or its data (MS-83).
func schemaDocument(body []byte) []byte {
	data, _ := rawjson.Get(body, "data")
	if rawjson.KindOf(data) != rawjson.KindObject {
		return body
	}
	for _, name := range []string{"connectors", "streams", "granted_connections"} {
		if _, ok := rawjson.Get(data, name); ok {
			return data
		}
	}
	if textMember(data, "object") == "schema" {
		return data
	}
	return body
}

// readSchema reads the rows of the scope. Rows at top level count where no connector
// has them.
func readSchema(raw []byte, scope schemaScope) *schemaDoc {
	d := &schemaDoc{raw: raw}
	seen := map[string]bool{}
	connectors, _ := rawjson.Get(raw, "connectors")
	for c := range rawjson.Elements(connectors) {
		src := &schemaSource{raw: c, key: connectorKey(c), name: textMember(c, "connector_display_name")}
		if src.name == "" {
			src.name = textMember(c, "display_name")
		}
		streams, _ := rawjson.Get(c, "streams")
		for r := range rawjson.Elements(streams) {
			row := readRow(r, src)
			seen[row.identity()] = true
			d.add(row, scope)
		}
	}
	d.readTop(scope, seen)
	for _, src := range d.sources {
		src.shared = sharedConns(src.rows)
	}
	return d
}

// readTop reads the rows that stand at top level, connector by connector.
func (d *schemaDoc) readTop(scope schemaScope, seen map[string]bool) {
	streams, _ := rawjson.Get(d.raw, "streams")
	d.repeated = rawjson.KindOf(streams) == rawjson.KindArray && len(seen) > 0
	tops := map[string]*schemaSource{}
	for r := range rawjson.Elements(streams) {
		key := connectorKey(r)
		src := tops[key]
		if src == nil {
			src = &schemaSource{key: key, name: textMember(r, "connector_display_name")}
			tops[key] = src
		}
		row := readRow(r, src)
		if seen[row.identity()] {
			continue
		}
		d.repeated = false
		d.add(row, scope)
	}
}

// add keeps a row of the scope, narrowed to its connection.
func (d *schemaDoc) add(row *schemaRow, scope schemaScope) {
	if !row.within(scope) {
		d.excluded++
		return
	}
	if scope.connection != "" {
		row.conns = slices.DeleteFunc(slices.Clone(row.conns), func(c schemaConn) bool { return c.id != scope.connection })
	}
	if len(row.source.rows) == 0 {
		d.sources = append(d.sources, row.source)
	}
	row.source.rows = append(row.source.rows, row)
}

// within reports whether a row belongs to the scope. One that says nothing about
// connections may belong to any.
func (r *schemaRow) within(scope schemaScope) bool {
	if scope.stream != "" && r.name != scope.stream {
		return false
	}
	return scope.connection == "" || !r.stated ||
		slices.ContainsFunc(r.conns, func(c schemaConn) bool { return c.id == scope.connection })
}

// identity tells rows apart within a document.
func (r *schemaRow) identity() string {
	return r.source.key + "\x00" + r.name + "\x00" + textMember(r.raw, "connection_id")
}

func readRow(raw []byte, src *schemaSource) *schemaRow {
	row := &schemaRow{raw: raw, source: src, name: textMember(raw, "name"), label: textMember(raw, "label")}
	own, granted := readConns(raw)
	switch {
	case granted || len(own) > 0:
		row.conns, row.stated = own, true
	case src.raw != nil:
		shared, granted := readConns(src.raw)
		row.conns, row.stated = shared, granted || len(shared) > 0
	}
	return row
}

// readConns reads the connections that a row or a connector names: its list, and the
// one it is narrowed to. granted says that there is a list.
func readConns(obj []byte) (conns []schemaConn, granted bool) {
	list, _ := rawjson.Get(obj, "granted_connections")
	granted = rawjson.KindOf(list) == rawjson.KindArray
	for item := range rawjson.Elements(list) {
		if id := connectionID(item); id != "" {
			conns = append(conns, schemaConn{id, textMember(item, "display_name"), item})
		}
	}
	id := connectionID(obj)
	if id != "" && !slices.ContainsFunc(conns, func(c schemaConn) bool { return c.id == id }) {
		conns = append(conns, schemaConn{id: id, label: textMember(obj, "display_name")})
	}
	return conns, granted
}

// connsKey compares sets of connections without order, by id and label.
func connsKey(conns []schemaConn) string {
	keys := make([]string, len(conns))
	for i, c := range conns {
		keys[i] = quoteID(c.id) + quoteID(c.label)
	}
	slices.Sort(keys)
	return strings.Join(keys, "")
}

// sharedConns is the most frequent non-empty set, the first seen among equals.
func sharedConns(rows []*schemaRow) []schemaConn {
	count := map[string]int{}
	for _, r := range rows {
		count[connsKey(r.conns)]++
	}
	var best []schemaConn
	most := 0
	for _, r := range rows {
		if n := count[connsKey(r.conns)]; n > most && len(r.conns) > 0 {
			best, most = r.conns, n
		}
	}
	return best
}

// deviates reports that a row has other connections than its connector shows.
func (r *schemaRow) deviates() bool {
	return r.stated && connsKey(r.conns) != connsKey(r.source.shared)
}

// rows are all rows of the scope.
func (d *schemaDoc) rows() []*schemaRow {
	var out []*schemaRow
	for _, src := range d.sources {
		out = append(out, src.rows...)
	}
	return out
}

// allConns are the connections of some rows, each once.
func allConns(rows []*schemaRow) []schemaConn {
	var out []schemaConn
	seen := map[string]bool{}
	for _, r := range rows {
		for _, c := range r.conns {
			if !seen[c.id] {
				seen[c.id] = true
				out = append(out, c)
			}
		}
	}
	return out
}
