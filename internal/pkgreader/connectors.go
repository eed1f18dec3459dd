package pkgreader

import (
	"slices"
	"strings"

	"pdpp/internal/rawjson"
)

// connectors are the connectors of a merged schema document. Members whose connectors
// differ only in connections and streams share one entry, so that several accounts of
// one connector are one block of the document (H-92).
type connectors struct {
	list []*connector
}

// connector is an entry of the merged document.
type connector struct {
	head   []byte // its members except stream_count, granted_connections and streams
	rows   []*row
	byText map[string]*row
}

// row is a stream that one or more members grant on the same terms.
type row struct {
	text        []byte // without granted_connections
	connections []string
}

// add adds the connector of a member's document.
func (c *connectors) add(m *Member, from []byte) {
	into := c.find(without(from, "stream_count", "granted_connections", "streams"))
	shared := []string{string(m.connection())}
	if stated, ok := rawjson.Get(from, "granted_connections"); ok {
		shared = texts(stated)
	}
	streams, _ := rawjson.Get(from, "streams")
	for text := range rawjson.Elements(streams) {
		if rawjson.KindOf(text) != rawjson.KindObject {
			continue
		}
		connections := shared
		if own, ok := rawjson.Get(text, "granted_connections"); ok {
			connections = texts(own)
		}
		into.add(without(text, "granted_connections"), connections)
	}
}

// find returns the entry with this head, and adds one if there is none.
func (c *connectors) find(head []byte) *connector {
	for _, known := range c.list {
		if string(known.head) == string(head) {
			return known
		}
	}
	entry := &connector{head: head, byText: make(map[string]*row)}
	c.list = append(c.list, entry)
	return entry
}

// add adds a row, or its connections to an equal row.
func (c *connector) add(text []byte, connections []string) {
	r := c.byText[string(text)]
	if r == nil {
		r = &row{text: text}
		c.rows, c.byText[string(text)] = append(c.rows, r), r
	}
	for _, connection := range connections {
		if !slices.Contains(r.connections, connection) {
			r.connections = append(r.connections, connection)
		}
	}
}

func (c *connectors) rows() int {
	n := 0
	for _, entry := range c.list {
		n += len(entry.rows)
	}
	return n
}

func (c *connectors) json() []byte {
	list := rawjson.Writer("[")
	for _, entry := range c.list {
		list.Raw(entry.json())
	}
	return append(list, ']')
}

// json writes the entry. The most frequent connections are the connector's; rows with
// others state their own.
func (c *connector) json() []byte {
	shared := c.shared()
	streams := rawjson.Writer("[")
	for _, r := range c.rows {
		if set := r.set(); set == "[]" || set != shared {
			streams.Raw(setMember(r.text, "granted_connections", []byte(set)))
		} else {
			streams.Raw(r.text)
		}
	}
	out := reopen(c.head)
	out.Number("stream_count", len(c.rows))
	if shared != "" {
		out.Member("granted_connections", []byte(shared))
	}
	out.Member("streams", append(streams, ']'))
	return append(out, '}')
}

// shared returns the most frequent non-empty set of connections; of equally frequent
// sets the first; "" if there is none.
func (c *connector) shared() string {
	count := make(map[string]int)
	for _, r := range c.rows {
		count[r.set()]++
	}
	best := ""
	for _, r := range c.rows {
		if set := r.set(); set != "[]" && (best == "" || count[set] > count[best]) {
			best = set
		}
	}
	return best
}

// set returns the value of granted_connections for the row. Rows list them in the order
// of the members, so equal sets have equal texts.
func (r *row) set() string { return "[" + strings.Join(r.connections, ",") + "]" }

// connection returns the entry for the member's connection in granted_connections.
func (m *Member) connection() []byte {
	o := rawjson.Writer("{")
	o.Optional("connection_id", m.Connection)
	o.Optional("display_name", m.DisplayName)
	return append(o, '}')
}

// texts returns the elements of a JSON array as strings.
func texts(list []byte) []string {
	var out []string
	for v := range rawjson.Elements(list) {
		out = append(out, string(v))
	}
	return out
}
