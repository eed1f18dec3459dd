package schemadoc

import (
	"slices"
	"strconv"
	"strings"

	"pdpp"
	"pdpp/internal/grant"
)

// connections appends the connections a row can be read on (S-7, X-7).
func (b *buffer) connections(conns []pdpp.Connection) {
	b.open("granted_connections", "[")
	for _, c := range conns {
		b.next()
		b.raw("{")
		b.connection(c)
		b.raw("}")
	}
	b.raw("]")
}

func (b *buffer) connection(c pdpp.Connection) {
	b.str("connection_id", string(c.ID))
	b.optional("display_name", c.DisplayName())
}

// narrowed names the one connection a read was narrowed to.
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

// connSet is a set of connections in a form that compares without order, by id
// and label. The empty set is "".
type connSet string

func setOf(conns []pdpp.Connection) connSet {
	keys := make([]string, len(conns))
	for i, c := range conns {
		// Labels are free text: quoted, they cannot imitate a second entry.
		keys[i] = string(c.ID) + strconv.Quote(c.DisplayName())
	}
	slices.Sort(keys)
	return connSet(strings.Join(keys, ""))
}

// sharedConnections finds the most frequent non-empty set of a connector's rows,
// the first seen among equals. Nil when no row has a connection.
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

// deviating appends a row's connections unless its connector shows the same set
// . An empty set is never shared, so it stays, as [].
func (b *buffer) deviating(conns []pdpp.Connection, shared connSet) {
	if set := setOf(conns); set == "" || set != shared {
		b.connections(conns)
	}
}
