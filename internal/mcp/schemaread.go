package mcp

import (
	"slices"
	"strings"

	"pdpp/internal/rsclient"
)

// schemaScope is what a schema call was narrowed to; "" for everything.
type schemaScope struct{ stream, connection string }

// schemaDoc is a schema document with the rows of a scope, by the connector they
// stand under.
type schemaDoc struct {
	rsclient.Schema
	scope    schemaScope
	sources  []*schemaSource
	excluded int // rows outside the scope
}

// schemaSource is a connector with its rows of the scope.
type schemaSource struct {
	rsclient.Source
	raw    []byte                // nil when its rows stood at top level
	shared []rsclient.Connection // of most rows
	rows   []*schemaRow
}

// schemaRow is one (connector, stream) entry, narrowed to the scope.
type schemaRow struct {
	rsclient.SchemaRow
	source *schemaSource
	stated bool // whether the document says on which connections
	at     int  // its place in the list of all rows and fields of the scope
}

// readSchema reads the rows of a scope.
func readSchema(body []byte, scope schemaScope) *schemaDoc {
	d := &schemaDoc{Schema: rsclient.SchemaOf(body), scope: scope}
	nested := map[int]*schemaSource{}
	top := map[string]*schemaSource{}
	for _, r := range d.Rows() {
		row := &schemaRow{SchemaRow: r, stated: r.OwnConnections || len(r.Connections) > 0}
		if !row.within(scope) {
			d.excluded++
			continue
		}
		switch src := nested[r.Index]; {
		case r.Index < 0 && top[r.ConnectorKey] == nil:
			row.source = d.open(r.Source, nil)
			top[r.ConnectorKey] = row.source
		case r.Index < 0:
			row.source = top[r.ConnectorKey]
		case src == nil:
			c := d.Connectors[r.Index]
			row.source = d.open(c.Source, c.Raw)
			nested[r.Index] = row.source
		default:
			row.source = src
		}
		row.narrow(scope)
		row.source.rows = append(row.source.rows, row)
	}
	at := 0
	for _, src := range d.sources {
		src.shared = sharedConnections(src.rows)
		for _, row := range src.rows {
			row.at = at
			at += 1 + row.fieldCount()
		}
	}
	return d
}

func (d *schemaDoc) open(s rsclient.Source, raw []byte) *schemaSource {
	src := &schemaSource{Source: s, raw: raw}
	d.sources = append(d.sources, src)
	return src
}

// within reports whether a row belongs to the scope. One that says nothing about
// connections may belong to any.
func (r *schemaRow) within(scope schemaScope) bool {
	if scope.stream != "" && r.Name != scope.stream {
		return false
	}
	return scope.connection == "" || !r.stated ||
		slices.ContainsFunc(r.Connections, func(c rsclient.Connection) bool { return c.ID == scope.connection })
}

func (r *schemaRow) narrow(scope schemaScope) {
	if scope.connection == "" {
		return
	}
	r.Connections = slices.DeleteFunc(slices.Clone(r.Connections), func(c rsclient.Connection) bool { return c.ID != scope.connection })
}

// repeatsRows reports that the rows at top level are all under connectors as well
// (MS-86).
func (d *schemaDoc) repeatsRows() bool {
	nested := 0
	for _, c := range d.Connectors {
		nested += len(c.Rows)
	}
	return len(d.Streams) > 0 && len(d.Rows()) == nested
}

// connectionSet compares connections without order, by id and label.
func connectionSet(conns []rsclient.Connection) string {
	keys := make([]string, len(conns))
	for i, c := range conns {
		// Labels are free text: quoted, they cannot imitate a second entry.
		keys[i] = quoteID(c.ID) + quoteID(c.DisplayName)
	}
	slices.Sort(keys)
	return strings.Join(keys, "")
}

// sharedConnections is the most frequent set that is not empty, the first seen among
// equals.
func sharedConnections(rows []*schemaRow) []rsclient.Connection {
	count := map[string]int{}
	for _, r := range rows {
		count[connectionSet(r.Connections)]++
	}
	var best []rsclient.Connection
	most := 0
	for _, r := range rows {
		if n := count[connectionSet(r.Connections)]; n > most && len(r.Connections) > 0 {
			best, most = r.Connections, n
		}
	}
	return best
}

// deviates reports that a row has other connections than its connector shows.
func (r *schemaRow) deviates() bool {
	return r.stated && connectionSet(r.Connections) != connectionSet(r.source.shared)
}

// inScope are all rows of the scope.
func (d *schemaDoc) inScope() []*schemaRow {
	var out []*schemaRow
	for _, src := range d.sources {
		out = append(out, src.rows...)
	}
	return out
}

// connectionsOf are the connections of some rows, each once.
func connectionsOf(rows []*schemaRow) []rsclient.Connection {
	var out []rsclient.Connection
	seen := map[string]bool{}
	for _, r := range rows {
		for _, c := range r.Connections {
			if !seen[c.ID] {
				seen[c.ID] = true
				out = append(out, c)
			}
		}
	}
	return out
}
