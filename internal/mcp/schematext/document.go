package schematext

import (
	"slices"
	"strings"

	"pdpp/internal/mcp/quote"
	"pdpp/internal/rawjson"
	"pdpp/internal/rsclient"
)

// Scope is the stream and the connection to which a schema call is limited; "" means all.
type Scope struct{ Stream, Connection string }

// Args returns the arguments of a schema call with this scope.
func (s Scope) Args() []byte { return append(s.args(), '}') }

// args returns the arguments without the closing brace.
func (s Scope) args() rawjson.Writer {
	o := rawjson.Writer("{")
	o.Text("stream", s.Stream)
	o.Optional("connection_id", s.Connection)
	return o
}

// Document is a schema document with the rows of a scope, grouped by connector.
type Document struct {
	rsclient.Schema
	scope    Scope
	sources  []*connector
	excluded int // rows outside the scope
}

// connector is a connector with its rows of the scope.
type connector struct {
	rsclient.Source
	shared []rsclient.Connection // the connections of most rows
	rows   []*row
}

// row is one (connector, stream) entry, narrowed to the scope.
type row struct {
	rsclient.SchemaRow
	source *connector
	stated bool // whether the document states its connections
	at     int  // index in the list of all rows and fields of the scope
}

// Read reads the rows of a scope from a schema document.
func Read(body []byte, scope Scope) *Document {
	d := &Document{Schema: rsclient.SchemaOf(body), scope: scope}
	nested := map[int]*connector{}
	top := map[string]*connector{}
	for _, r := range d.Rows() {
		row := &row{SchemaRow: r, stated: r.OwnConnections || len(r.Connections) > 0}
		if !row.within(scope) {
			d.excluded++
			continue
		}
		switch src := nested[r.Index]; {
		case r.Index < 0 && top[r.ConnectorKey] == nil:
			row.source = d.open(r.Source)
			top[r.ConnectorKey] = row.source
		case r.Index < 0:
			row.source = top[r.ConnectorKey]
		case src == nil:
			row.source = d.open(d.Connectors[r.Index].Source)
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

// IsExact reports whether the server sent the compact document, with rows of the scope
// only.
func (d *Document) IsExact() bool { return d.Compact && d.excluded == 0 }

func (d *Document) open(s rsclient.Source) *connector {
	src := &connector{Source: s}
	d.sources = append(d.sources, src)
	return src
}

// within reports whether a row belongs to the scope. A row that states no connections may
// belong to any.
func (r *row) within(scope Scope) bool {
	if scope.Stream != "" && r.Name != scope.Stream {
		return false
	}
	return scope.Connection == "" || !r.stated ||
		slices.ContainsFunc(r.Connections, func(c rsclient.Connection) bool { return c.ID == scope.Connection })
}

func (r *row) narrow(scope Scope) {
	if scope.Connection == "" {
		return
	}
	r.Connections = slices.DeleteFunc(slices.Clone(r.Connections), func(c rsclient.Connection) bool { return c.ID != scope.Connection })
}

// repeatsRows reports whether all rows at top level are also under connectors (MS-86).
func (d *Document) repeatsRows() bool {
	nested := 0
	for _, c := range d.Connectors {
		nested += len(c.Rows)
	}
	return len(d.Streams) > 0 && len(d.Rows()) == nested
}

// connectionSet returns a key for a set of connections, by id and label in any order.
func connectionSet(conns []rsclient.Connection) string {
	keys := make([]string, len(conns))
	for i, c := range conns {
		// Labels are free text: quotes keep one from imitating a second entry.
		keys[i] = quote.ID(c.ID) + quote.ID(c.DisplayName)
	}
	slices.Sort(keys)
	return strings.Join(keys, "")
}

// sharedConnections returns the most frequent non-empty set of connections, the first
// among equals.
func sharedConnections(rows []*row) []rsclient.Connection {
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

// deviates reports whether a row has other connections than those shared by its connector.
func (r *row) deviates() bool {
	return r.stated && connectionSet(r.Connections) != connectionSet(r.source.shared)
}

// inScope returns all rows of the scope.
func (d *Document) inScope() []*row {
	var out []*row
	for _, src := range d.sources {
		out = append(out, src.rows...)
	}
	return out
}

// connectionsOf returns the connections of some rows, each once.
func connectionsOf(rows []*row) []rsclient.Connection {
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

// maxChoices bounds the list of Choices.
const maxChoices = 50

// Choices returns the connections that a full description could be of, as a JSON array of
// at most 50, and how many there are (MS-86). A scope with a connection has none.
func (d *Document) Choices() (list []byte, total int) {
	if d.scope.Connection != "" {
		return nil, 0
	}
	var choices [][]byte
	seen := map[string]bool{}
	for _, src := range d.sources {
		for _, c := range connectionsOf(src.rows) {
			pair := quote.ID(src.ConnectorKey) + quote.ID(c.ID)
			if seen[pair] {
				continue
			}
			seen[pair] = true
			if total++; total <= maxChoices {
				choices = append(choices, d.choice(src, c))
			}
		}
	}
	return jsonArray(choices), total
}

func (d *Document) choice(src *connector, c rsclient.Connection) []byte {
	o := rawjson.Writer("{")
	o.Text("connection_id", c.ID)
	o.Text("connector_key", src.ConnectorKey)
	o.Text("stream", d.scope.Stream)
	o.Optional("display_name", c.DisplayName)
	return append(o, '}')
}
