package pdpp

import "time"

// Connection is one configured account or device of a subject.
type Connection struct {
	ID        ConnectionID
	Connector ConnectorKey
	Name      string // unique per subject and connector; for operators
	Label     string // the owner's free text
	Status    string // active
	CreatedAt time.Time
}

// DisplayName is the label to show, "" when it would say nothing (C-27).
func (c Connection) DisplayName() string {
	if isBlank(c.Label) || c.Label == string(c.ID) || c.Label == string(c.Connector) {
		return ""
	}
	return c.Label
}

func isBlank(s string) bool {
	for _, r := range s {
		switch r {
		case ' ', '\t', '\n', '\r':
		default:
			return false
		}
	}
	return true
}

// Catalog is what a subject has at one generation of the store: the registered
// manifests by connector key, and the connections by id. It is immutable.
type Catalog struct {
	Generation  int64
	Manifests   []*Manifest  // ascending by connector key
	Connections []Connection // ascending by id
}

// Manifest finds the manifest of a connector; nil when it is not registered.
func (c *Catalog) Manifest(key ConnectorKey) *Manifest {
	for _, m := range c.Manifests {
		if m.ConnectorKey == key {
			return m
		}
	}
	return nil
}

// Connection finds a connection by id.
func (c *Catalog) Connection(id ConnectionID) (Connection, bool) {
	for _, conn := range c.Connections {
		if conn.ID == id {
			return conn, true
		}
	}
	return Connection{}, false
}
