package store

import (
	"crypto/sha256"
	"time"

	"pdpp"
)

// TokenHash is how a token is known to the store.
type TokenHash [sha256.Size]byte

// HashToken hashes a bearer token.
func HashToken(token string) TokenHash {
	var room [128]byte // most tokens are shorter
	return sha256.Sum256(append(room[:0], token...))
}

// Rights reads tokens, grants, packages and clients.
type Rights interface {
	// Token finds a token by its hash with all that decides about it, in one
	// indexed read. CodeNotFound when there is none. It judges nothing.
	Token(TokenHash) (Principal, error)
	// Grants lists grants, newest first.
	Grants(pdpp.SubjectID, GrantFilter) ([]Grant, error)
	// Grant finds one grant; CodeNotFound when the subject has none such.
	Grant(pdpp.SubjectID, pdpp.GrantID) (Grant, error)
	// Tokens lists the tokens of a grant, or the owner's own when id is "".
	Tokens(subject pdpp.SubjectID, id pdpp.GrantID) ([]Token, error)
	// Packages lists packages, newest first.
	Packages(pdpp.SubjectID) ([]Package, error)
	// Members gives the members of a package in their order, with all that
	// decides about each, in one indexed read; none when the subject has no such
	// package. It judges nothing.
	Members(pdpp.SubjectID, pdpp.PackageID) ([]Member, error)
	// Client finds a client by id or by operator name; CodeNotFound if none.
	Client(subject pdpp.SubjectID, idOrName string) (Client, error)
}

// RightsWriter creates and withdraws rights.
type RightsWriter interface {
	CreateClient(pdpp.SubjectID, Client) error
	CreateGrant(Grant) error
	// RevokeGrant withdraws a grant; already says that it was withdrawn
	// before. CodeNotFound when the subject has none such.
	RevokeGrant(subject pdpp.SubjectID, id pdpp.GrantID, now time.Time) (g Grant, already bool, err error)
	// CreatePackage makes a package of grants, in their order, once Admit agrees,
	// and gives it as stored.
	CreatePackage(Package, []NewMember) (Package, error)
	// RevokePackage withdraws a package and every member's grant. It gives the
	// grants that were not withdrawn before; already says that the package was.
	// CodeNotFound when the subject has none such.
	RevokePackage(subject pdpp.SubjectID, id pdpp.PackageID, now time.Time) (p Package, grants []pdpp.GrantID, already bool, err error)
	CreateToken(Token, TokenHash) error
	// RevokeToken ends a token; CodeNotFound when the subject has none such.
	RevokeToken(subject pdpp.SubjectID, id pdpp.TokenID, now time.Time) (t Token, already bool, err error)
	// TouchTokens notes when tokens were last used, and with them packages and the
	// grants that were read with.
	TouchTokens(used map[Use]time.Time) error
}

// Use is a token and the grant that was read with: the token's own, a member of its
// package, or "" for none.
type Use struct {
	Token pdpp.TokenID
	Grant pdpp.GrantID
}

// Principal is a presented token with everything that decides what it may do.
type Principal struct {
	ID        pdpp.TokenID
	Kind      pdpp.TokenKind
	Subject   pdpp.SubjectID
	Audience  []string
	ExpiresAt time.Time
	Revoked   bool

	Grant      *GrantState   // of a client token; nil when the grant is gone
	Package    *PackageState // of a package token; nil when the package is gone
	Generation int64         // of the snapshot
}

// Live reports whether the token itself is good at now.
func (p Principal) Live(now time.Time) bool { return !p.Revoked && now.Before(p.ExpiresAt) }

// GrantState is the life of a grant, without its document.
type GrantState struct {
	ID           pdpp.GrantID
	ConnectorKey pdpp.ConnectorKey
	Client       pdpp.ClientID
	Revoked      bool
	Consumed     bool
	ExpiresAt    time.Time // zero: until revoked
}

// Status is the grant's status at now.
func (g GrantState) Status(now time.Time) pdpp.GrantStatus {
	status := lifeStatus(g.Revoked, g.ExpiresAt, now)
	if status == pdpp.GrantActive && g.Consumed {
		return pdpp.GrantConsumed
	}
	return status
}

// lifeStatus is the status at now of what ends at a time, or never when it is zero.
func lifeStatus(revoked bool, end, now time.Time) pdpp.GrantStatus {
	switch {
	case revoked:
		return pdpp.GrantRevoked
	case !end.IsZero() && !now.Before(end):
		return pdpp.GrantExpired
	}
	return pdpp.GrantActive
}

// Token is a bearer token as stored, without its value.
type Token struct {
	ID         pdpp.TokenID
	Kind       pdpp.TokenKind
	Subject    pdpp.SubjectID
	Client     pdpp.ClientID  // "" for an owner token
	Grant      pdpp.GrantID   // of a client token
	Package    pdpp.PackageID // of a package token
	Audience   []string       // rest, mcp, mcp-developer
	Label      string
	IssuedAt   time.Time
	ExpiresAt  time.Time
	RevokedAt  time.Time // zero: not revoked
	LastUsedAt time.Time // zero: never
}

// Status is the token's status for operators.
func (t Token) Status(now time.Time) string {
	switch {
	case !t.RevokedAt.IsZero():
		return "revoked"
	case !now.Before(t.ExpiresAt):
		return "expired"
	}
	return "active"
}

// Grant is a grant as stored: the frozen document and its life.
type Grant struct {
	ID           pdpp.GrantID
	Subject      pdpp.SubjectID
	Client       Client
	ConnectorKey pdpp.ConnectorKey
	Package      pdpp.PackageID // that it is a member of; "" for none
	Document     []byte         // the object of G-1
	Revoked      bool
	Consumed     bool
	IssuedAt     time.Time
	ExpiresAt    time.Time // zero: until revoked
	RevokedAt    time.Time
	LastUsedAt   time.Time
}

// Status is the grant's status at now.
func (g Grant) Status(now time.Time) pdpp.GrantStatus {
	return GrantState{Revoked: g.Revoked, Consumed: g.Consumed, ExpiresAt: g.ExpiresAt}.Status(now)
}

// GrantFilter narrows a list of grants. Zero values do not narrow.
type GrantFilter struct {
	Client pdpp.ClientID
}

// Client is an application that grants are given to.
type Client struct {
	ID               pdpp.ClientID
	Name             string
	RegistrationMode string // operator
	CreatedAt        time.Time
}
