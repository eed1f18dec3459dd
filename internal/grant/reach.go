package grant

import (
	"slices"

	"pdpp"
)

// Reach is everything that one caller can read of one subject.
type Reach struct {
	Owner    bool
	Subject  pdpp.SubjectID
	GrantID  pdpp.GrantID  // "" for an owner
	ClientID pdpp.ClientID // "" for an owner

	Rows []Row // grant order; for an owner by connector key, then manifest order

	// Undeclared lists the granted streams that the manifest no longer declares (C-28).
	Undeclared []string

	declares func(stream string) bool // whether the source of the grant declares it

	// connector and undeclaredOn are in the grant even when no row contains them. A
	// request that selects them gets an empty result, not an error.
	connector    pdpp.ConnectorKey
	undeclaredOn []pdpp.ConnectionID // connections of undeclared streams
}

// Row is one stream of one connector, with the connections on which it can be read.
type Row struct {
	Manifest    *pdpp.Manifest
	Stream      *pdpp.Stream
	Access      *Access
	Connections []pdpp.Connection // may be empty
}

// Binding is one pair of connection and stream that the caller may read.
type Binding struct {
	Connection pdpp.Connection
	Manifest   *pdpp.Manifest
	Stream     *pdpp.Stream
	Access     *Access
}

// ForClient returns the reach of a grant (C-24). Connections come from the grant; the
// catalog supplies labels only.
func ForClient(g *pdpp.Grant, c *pdpp.Catalog) *Reach {
	r := &Reach{Subject: g.SubjectID, GrantID: g.ID, ClientID: g.ClientID, connector: g.ConnectorKey}
	m := c.Manifest(g.ConnectorKey)
	if m != nil && g.SourceID != "" && m.SourceID != g.SourceID {
		m = nil // a source with the same key but another id is not granted
	}
	r.declares = func(stream string) bool { return m != nil && m.Stream(stream) != nil }
	for i := range g.Streams {
		gs := &g.Streams[i]
		var s *pdpp.Stream
		if m != nil {
			s = m.Stream(gs.Name)
		}
		if s == nil {
			r.Undeclared = append(r.Undeclared, gs.Name)
			r.undeclaredOn = append(r.undeclaredOn, gs.Connections...)
			continue
		}
		row := Row{Manifest: m, Stream: s, Access: clientAccess(s, gs)}
		for _, id := range gs.Connections {
			conn, ok := c.Connection(id)
			if !ok {
				conn = pdpp.Connection{ID: id, Connector: g.ConnectorKey}
			}
			row.Connections = append(row.Connections, conn)
		}
		r.Rows = append(r.Rows, row)
	}
	return r
}

// ForOwner returns the reach of an owner: everything of the subject (G-5).
func ForOwner(subject pdpp.SubjectID, c *pdpp.Catalog) *Reach {
	r := &Reach{Owner: true, Subject: subject, declares: func(string) bool { return false }}
	for _, m := range c.Manifests {
		var conns []pdpp.Connection
		for _, conn := range c.Connections {
			if conn.Connector == m.ConnectorKey {
				conns = append(conns, conn)
			}
		}
		for _, s := range m.Streams {
			r.Rows = append(r.Rows, Row{Manifest: m, Stream: s, Access: ownerAccess(s), Connections: conns})
		}
	}
	return r
}

// Selector narrows a read to a connection, or to a connector by its key or source id
// (C-6). Zero values do not narrow.
type Selector struct {
	Connection pdpp.ConnectionID
	Connector  pdpp.ConnectorKey
}

// Select returns the rows that match a selector. A connection or connector outside the
// reach is an error. Streams that are not on the connection are omitted (S-4).
func (r *Reach) Select(sel Selector) ([]Row, error) {
	rows := r.Rows
	if sel.Connector != "" {
		rows = slices.DeleteFunc(slices.Clone(rows), func(row Row) bool {
			return row.Manifest.ConnectorKey != sel.Connector && row.Manifest.SourceID != string(sel.Connector)
		})
		if len(rows) == 0 && sel.Connector != r.connector {
			return nil, &pdpp.Error{
				Code: pdpp.CodeNotFound, Param: "connector_id",
				Message: "There is no connector " + quote(string(sel.Connector)) + " here. The schema lists the connectors.",
			}
		}
	}
	if sel.Connection == "" {
		return rows, nil
	}
	var out []Row
	for _, row := range rows {
		for _, conn := range row.Connections {
			if conn.ID == sel.Connection {
				row.Connections = []pdpp.Connection{conn}
				out = append(out, row)
				break
			}
		}
	}
	if len(out) == 0 && !slices.Contains(r.undeclaredOn, sel.Connection) {
		return nil, connectionNotFound("connection_id")
	}
	return out, nil
}

// Stream returns the rows of a stream that a request names, narrowed by a selector (C-23).
func (r *Reach) Stream(name string, sel Selector) ([]Row, error) {
	named := slices.DeleteFunc(slices.Clone(r.Rows), func(row Row) bool { return row.Stream.Name != name })
	if len(named) == 0 {
		return nil, r.noStream(name)
	}
	if _, err := r.Select(sel); err != nil {
		return nil, err
	}
	narrowed := &Reach{Rows: named}
	rows, err := narrowed.Select(sel)
	if err != nil && pdpp.CodeOf(err) == pdpp.CodeNotFound {
		// The connector is in reach but does not have this stream.
		return nil, connectionNotFound("connector_id")
	}
	return rows, err
}

func (r *Reach) noStream(name string) error {
	if slices.Contains(r.Undeclared, name) {
		return &pdpp.Error{
			Code: pdpp.CodeStreamNotDeclared, Stream: name,
			Message: "Stream " + quote(name) + " is granted, but its source no longer declares it.",
		}
	}
	if r.Owner {
		return &pdpp.Error{
			Code: pdpp.CodeNotFound, Stream: name,
			Message: "No source declares a stream " + quote(name) + ". The schema lists the streams.",
		}
	}
	return &pdpp.Error{
		Code: pdpp.CodeStreamNotAllowed, Stream: name, NeedsBroaderGrant: r.declares(name),
		Message:  "Stream " + quote(name) + " is not in this grant. The schema lists the granted streams.",
		NextStep: "Ask the owner to approve this stream, or read one that is granted.",
	}
}

func connectionNotFound(param string) error {
	return &pdpp.Error{
		Code: pdpp.CodeConnectionNotFound, Param: param,
		Message: "There is no such connection here. The schema lists the connections.",
	}
}

// Bindings returns the bindings of rows, in row order.
func Bindings(rows []Row) []Binding {
	var out []Binding
	for _, row := range rows {
		for _, conn := range row.Connections {
			out = append(out, Binding{Connection: conn, Manifest: row.Manifest, Stream: row.Stream, Access: row.Access})
		}
	}
	return out
}

// Ref returns the reference to a binding for an ambiguity error (C-43).
func (r *Reach) Ref(b Binding) pdpp.ConnectionRef {
	return pdpp.ConnectionRef{
		ConnectionID: b.Connection.ID, ConnectorKey: b.Manifest.ConnectorKey,
		DisplayName: b.Connection.DisplayName(), GrantID: r.GrantID,
	}
}
