package pdpp

import (
	"slices"
	"time"
)

// Grant is one consent: what one client may read of one source of one subject
// (rs-contract §11.2). It is resolved when it is created, and never again.
type Grant struct {
	ID                 GrantID
	IssuedAt           time.Time
	SubjectID          SubjectID
	ClientID           ClientID
	ClientName         string
	SourceKind         string
	SourceID           string
	ConnectorKey       ConnectorKey
	ManifestVersion    string
	ManifestDigest     string // "" when not recorded
	PurposeCode        string
	PurposeDescription string
	AccessMode         string // continuous or single_use
	Streams            []GrantStream
	Retention          *Retention
	ExpiresAt          time.Time // zero: until revoked
}

// Connections returns the connections that the grant covers, each once, in the order
// in which its streams name them.
func (g *Grant) Connections() []ConnectionID {
	var out []ConnectionID
	for _, s := range g.Streams {
		for _, id := range s.Connections {
			if !slices.Contains(out, id) {
				out = append(out, id)
			}
		}
	}
	return out
}

// Retention says how long the client promises to keep the data it has read.
type Retention struct {
	MaxDuration string // ISO 8601
	OnExpiry    string
}

// GrantStream is the granted part of one stream.
type GrantStream struct {
	Name        string
	Connections []ConnectionID // instance_ids on the wire
	Fields      []string
	Time        *TimeConstraint
	Resources   []RecordID // nil: all
}

// TimeConstraint limits visible records to those with Since <= t < Until (REC-28). A
// zero bound is open; at least one is set.
type TimeConstraint struct {
	Field string
	Since time.Time
	Until time.Time
}

// GrantStatus is the stored status of a grant. Whether a grant has expired also
// depends on the clock.
type GrantStatus string

// The statuses (H-17).
const (
	GrantActive   GrantStatus = "active"
	GrantConsumed GrantStatus = "consumed"
	GrantExpired  GrantStatus = "expired"
	GrantRevoked  GrantStatus = "revoked"
)

// TokenKind says what a token is bound to (C-16).
type TokenKind string

// The kinds.
const (
	TokenClient  TokenKind = "client"
	TokenOwner   TokenKind = "owner"
	TokenPackage TokenKind = "mcp_package"
)
