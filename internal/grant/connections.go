package grant

import (
	"slices"

	"pdpp"
)

// connections resolves the connections of an entry. instance_ids contains ids,
// connections contains ids, names or labels. Without either, all active connections of
// the connector are meant.
func (r *resolver) connections(entry object) ([]pdpp.ConnectionID, error) {
	ids, hasIDs := entry.get("instance_ids")
	named, hasNamed := entry.get("connections")
	switch {
	case hasIDs && hasNamed:
		return nil, named.fault("cannot be combined with instance_ids; keep one")
	case hasIDs:
		return r.eachConnection(ids, byID)
	case hasNamed:
		return r.eachConnection(named, byAny)
	}
	var out []pdpp.ConnectionID
	for _, c := range r.own() {
		if active(c) {
			out = append(out, c.ID)
		}
	}
	if len(out) == 0 {
		return nil, entry.fault("connector %s has no active connection; add a connection first", show(r.manifest.ConnectorKey))
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

func active(c pdpp.Connection) bool { return c.Status == "active" }

// byID returns the connection with the id s.
func byID(own []pdpp.Connection, s string) []pdpp.Connection {
	for _, c := range own {
		if string(c.ID) == s {
			return []pdpp.Connection{c}
		}
	}
	return nil
}

// byAny returns the connections that have s as id, name or label. An id takes
// precedence, so that it can always resolve an ambiguous name or label.
func byAny(own []pdpp.Connection, s string) []pdpp.Connection {
	if found := byID(own, s); found != nil {
		return found
	}
	var out []pdpp.Connection
	for _, c := range own {
		if c.Name == s || c.Label == s {
			out = append(out, c)
		}
	}
	return out
}

// eachConnection resolves a list of connections and keeps its order.
func (r *resolver) eachConnection(n node, find func([]pdpp.Connection, string) []pdpp.Connection) ([]pdpp.ConnectionID, error) {
	own := r.own()
	items, err := n.items()
	if err != nil {
		return nil, err
	}
	var out []pdpp.ConnectionID
	for _, item := range items {
		s, err := item.text()
		if err != nil {
			return nil, err
		}
		c, err := r.connection(item, s, find(own, s))
		if err != nil {
			return nil, err
		}
		if slices.Contains(out, c.ID) {
			return nil, item.fault("connection %s is listed twice", show(c.ID))
		}
		out = append(out, c.ID)
	}
	return out, nil
}

// connection returns the only match of s, which must be active. A connection of another
// connector is reported like one that does not exist.
func (r *resolver) connection(n node, s string, found []pdpp.Connection) (pdpp.Connection, error) {
	switch {
	case len(found) == 0:
		return pdpp.Connection{}, n.fault("connector %s has no connection %s; its connections are %s",
			show(r.manifest.ConnectorKey), show(s), list(ids(r.own())))
	case len(found) > 1:
		return pdpp.Connection{}, n.fault("%s matches several connections; name one by its id: %s", show(s), list(ids(found)))
	case !active(found[0]):
		return pdpp.Connection{}, n.fault("connection %s is not active (%s)", show(found[0].ID), found[0].Status)
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
