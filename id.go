package pdpp

import "regexp"

// Each kind of identifier has its own type, so that one cannot be passed in place of
// another.
type (
	// SubjectID names the person whose data it is ("own_…").
	SubjectID string
	// ConnectionID names one configured account or device of a subject ("cin_…").
	ConnectionID string
	// ConnectorKey names a kind of source ("mail").
	ConnectorKey string
	// GrantID names one grant ("grt_…").
	GrantID string
	// PackageID names several grants behind one token ("gpkg_…").
	PackageID string
	// ClientID names an application that has a grant ("cli_…").
	ClientID string
	// TokenID names a token and is not secret ("tok_…"). It may be logged.
	TokenID string
	// RecordID is the canonical key of a record within one binding (REC-2).
	RecordID string
)

var (
	connectionIDForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)
	connectorKeyForm = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)
)

// Valid reports whether id has the form of a connection id (C-22).
func (id ConnectionID) Valid() bool { return connectionIDForm.MatchString(string(id)) }

// Valid reports whether k has the form of a connector key (C-22).
func (k ConnectorKey) Valid() bool { return connectorKeyForm.MatchString(string(k)) }
