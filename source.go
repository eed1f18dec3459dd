package pdpp

import (
	"strings"
	"time"
)

// Connection is one configured account or device of a subject.
type Connection struct {
	ID        ConnectionID
	Connector ConnectorKey
	Name      string // unique per subject and connector; for operators
	Label     string // the owner's free text
	Status    string // ConnectionActive or ConnectionHidden
	CreatedAt time.Time
}

// The statuses of a connection. A hidden one is not offered to clients that ask for access;
// grants that cover it stay as they are.
const (
	ConnectionActive = "active"
	ConnectionHidden = "hidden"
)

// DisplayName returns the label to show, or "" if the label only repeats the id or the
// connector (C-27).
func (c Connection) DisplayName() string {
	if strings.Trim(c.Label, " \t\n\r") == "" || c.Label == string(c.ID) || c.Label == string(c.Connector) {
		return ""
	}
	return c.Label
}

// Catalog holds the registered manifests and the connections of a subject at one
// generation of the store. It is immutable.
type Catalog struct {
	Generation  int64
	Manifests   []*Manifest  // ascending by connector key
	Connections []Connection // ascending by id
}

// Manifest returns the manifest of a connector, or nil when it is not registered.
func (c *Catalog) Manifest(key ConnectorKey) *Manifest {
	for _, m := range c.Manifests {
		if m.ConnectorKey == key {
			return m
		}
	}
	return nil
}

// Connection returns the connection with the given id.
func (c *Catalog) Connection(id ConnectionID) (Connection, bool) {
	for _, conn := range c.Connections {
		if conn.ID == id {
			return conn, true
		}
	}
	return Connection{}, false
}
