package grant

import (
	"slices"
	"strconv"

	"pdpp"
)

// connections resolves the connections of an entry. InstanceIDs contains ids,
// Connections contains ids, names or labels. Without either, all active connections of
// the connector are meant.
func (r *resolver) connections(spec SpecStream, at string) ([]pdpp.ConnectionID, error) {
	switch {
	case spec.InstanceIDs != nil:
		return eachConnection(r, spec.InstanceIDs, r.byID, at+".instance_ids")
	case spec.Connections != nil:
		return eachConnection(r, spec.Connections, r.byAny, at+".connections")
	}
	var out []pdpp.ConnectionID
	for _, c := range r.own() {
		if Active(c) {
			out = append(out, c.ID)
		}
	}
	if len(out) == 0 {
		return nil, faultAt(at, "connector %s has no active connection; add a connection first", Show(r.manifest.ConnectorKey))
	}
	return out, nil
}

// own returns the connections of the connector of the spec, by id.
func (r *resolver) own() []pdpp.Connection {
	var out []pdpp.Connection
	for _, c := range r.catalog.Connections {
		if c.Connector == r.manifest.ConnectorKey {
			out = append(out, c)
		}
	}
	return out
}

// Active reports whether a connection can be granted.
func Active(c pdpp.Connection) bool { return c.Status == pdpp.ConnectionActive }

// byID returns the connection of the connector with the id s.
func (r *resolver) byID(s string) []pdpp.Connection {
	c, ok := r.catalog.Connection(pdpp.ConnectionID(s))
	if !ok || c.Connector != r.manifest.ConnectorKey {
		return nil
	}
	return []pdpp.Connection{c}
}

// byAny returns the connections that have s as id, name or label. An id takes
// precedence, so that it can always resolve an ambiguous name or label.
func (r *resolver) byAny(s string) []pdpp.Connection {
	if found := r.byID(s); found != nil {
		return found
	}
	var out []pdpp.Connection
	for _, c := range r.own() {
		if c.Name == s || c.Label == s {
			out = append(out, c)
		}
	}
	return out
}

// eachConnection resolves a list of connections and keeps its order.
func eachConnection[S ~string](r *resolver, names []S, find func(string) []pdpp.Connection, at string) ([]pdpp.ConnectionID, error) {
	var out []pdpp.ConnectionID
	for i, name := range names {
		at := at + "[" + strconv.Itoa(i) + "]"
		c, err := r.connection(at, string(name), find(string(name)))
		if err != nil {
			return nil, err
		}
		if slices.Contains(out, c.ID) {
			return nil, faultAt(at, "connection %s is listed twice", Show(c.ID))
		}
		out = append(out, c.ID)
	}
	return out, nil
}

// connection returns the only match of s, which must be active. A connection of another
// connector is reported like one that does not exist.
func (r *resolver) connection(at, s string, found []pdpp.Connection) (pdpp.Connection, error) {
	switch {
	case len(found) == 0:
		return pdpp.Connection{}, faultAt(at, "connector %s has no connection %s; its connections are %s",
			Show(r.manifest.ConnectorKey), Show(s), list(ids(r.own())))
	case len(found) > 1:
		return pdpp.Connection{}, faultAt(at, "%s matches several connections; name one by its id: %s", Show(s), list(ids(found)))
	case !Active(found[0]):
		return pdpp.Connection{}, faultAt(at, "connection %s is not active (%s)", Show(found[0].ID), found[0].Status)
	}
	return found[0], nil
}

func ids(conns []pdpp.Connection) []pdpp.ConnectionID {
	var out []pdpp.ConnectionID
	for _, c := range conns {
		out = append(out, c.ID)
	}
	return out
}
