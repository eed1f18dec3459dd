package schemadoc

import (
	"slices"
	"strconv"
	"strings"

	"pdpp"
	"pdpp/internal/grant"
)

// connections appends the connections on which a row can be read (S-7, X-7).
func (b *buffer) connections(conns []pdpp.Connection) {
	b.OpenArray("granted_connections")
	for _, c := range conns {
		b.Object()
		b.connection(c)
		b.End("}")
	}
	b.End("]")
}

func (b *buffer) connection(c pdpp.Connection) {
	b.Text("connection_id", string(c.ID))
	b.Optional("display_name", c.DisplayName())
}

// narrowed appends the connection that a request selected, if any.
func (b *buffer) narrowed(row grant.Row, req Request) {
	if req.Connection == "" {
		return
	}
	for _, c := range row.Connections {
		if c.ID == req.Connection {
			b.connection(c)
			return
		}
	}
}

// connSet is a comparable set of connections, by id and label. The empty set is "".
type connSet string

func setOf(conns []pdpp.Connection) connSet {
	keys := make([]string, len(conns))
	for i, c := range conns {
		// Labels are free text. Quoted, they cannot look like a second entry.
		keys[i] = string(c.ID) + strconv.Quote(c.DisplayName())
	}
	slices.Sort(keys)
	return connSet(strings.Join(keys, ""))
}

// sharedConnections returns the most frequent non-empty set of the rows of a connector,
// and the first of equally frequent ones. It returns nil when no row has a
// connection.
func sharedConnections(rows []grant.Row) []pdpp.Connection {
	count := make(map[connSet]int, len(rows))
	for _, row := range rows {
		count[setOf(row.Connections)]++
	}
	var best []pdpp.Connection
	most := 0
	for _, row := range rows {
		if n := count[setOf(row.Connections)]; n > most && len(row.Connections) > 0 {
			best, most = row.Connections, n
		}
	}
	return best
}

// connectionsUnless appends the connections of a row unless its connector has the same
// set. An empty set is never shared and is written as [].
func (b *buffer) connectionsUnless(conns []pdpp.Connection, shared connSet) {
	if set := setOf(conns); set == "" || set != shared {
		b.connections(conns)
	}
}
