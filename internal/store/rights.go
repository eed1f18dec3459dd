package store

import (
	"crypto/sha256"
	"time"

	"pdpp"
)

// TokenHash is the form in which the store knows a token.
type TokenHash [sha256.Size]byte

// HashToken hashes a bearer token.
func HashToken(token string) TokenHash {
	var buf [128]byte // most tokens are shorter
	return sha256.Sum256(append(buf[:0], token...))
}

// Rights reads tokens, grants, packages and clients.
type Rights interface {
	// Token finds a token by its hash, with the state of its grant or package, in
	// one indexed read. CodeNotFound when there is none. It does not check whether
	// the token is valid.
	Token(TokenHash) (Principal, error)
	// Grants lists grants, newest first.
	Grants(pdpp.SubjectID, GrantFilter) ([]Grant, error)
	// Grant finds one grant; CodeNotFound when the subject does not have it.
	Grant(pdpp.SubjectID, pdpp.GrantID) (Grant, error)
	// Tokens lists the tokens of a grant, or the owner's own when id is "".
	Tokens(subject pdpp.SubjectID, id pdpp.GrantID) ([]Token, error)
	// Packages lists packages, newest first.
	Packages(pdpp.SubjectID) ([]Package, error)
	// Package finds one package; CodeNotFound when the subject does not have it.
	Package(pdpp.SubjectID, pdpp.PackageID) (Package, error)
	// Members returns the members of a package in their order, with the state of
	// their grants, in one indexed read; none when the subject has no such package.
	// It does not check whether they are usable.
	Members(pdpp.SubjectID, pdpp.PackageID) ([]Member, error)
	// Client finds a client by id or by operator name; CodeNotFound when there is none.
	Client(subject pdpp.SubjectID, idOrName string) (Client, error)
}

// RightsWriter creates and revokes rights.
type RightsWriter interface {
	CreateClient(pdpp.SubjectID, Client) error
	CreateGrant(Grant) error
	// RevokeGrant revokes a grant; already reports that it was revoked before.
	// CodeNotFound when the subject does not have it.
	RevokeGrant(subject pdpp.SubjectID, id pdpp.GrantID, now time.Time) (g Grant, already bool, err error)
	// CreatePackage creates a package of grants, in their order, after Admit has
	// checked them, and returns it as stored.
	CreatePackage(Package, []NewMember) (Package, error)
	// RevokePackage revokes a package and the grants of its members. It returns
	// the grants that were not revoked before; already reports that the package
	// was. CodeNotFound when the subject does not have it.
	RevokePackage(subject pdpp.SubjectID, id pdpp.PackageID, now time.Time) (p Package, grants []pdpp.GrantID, already bool, err error)
	CreateToken(Token, TokenHash) error
	// RevokeToken revokes a token and those that were derived from it, whose family is its
	// id; CodeNotFound when the subject does not have it.
	RevokeToken(subject pdpp.SubjectID, id pdpp.TokenID, now time.Time) (t Token, already bool, err error)
	// RevokeFamily revokes the tokens of a family that are not revoked yet, and those that
	// were derived from them.
	RevokeFamily(subject pdpp.SubjectID, family string, now time.Time) error
	// PruneTokens removes the tokens of families that expired before a time, at most limit
	// of them, and returns how many.
	PruneTokens(before time.Time, limit int) (int64, error)
	// TouchTokens records when tokens were last used, with their packages and the
	// grants that were used for reading.
	TouchTokens(used map[Use]time.Time) error
}

// Use is the use of a token. Grant is the grant that authorized the read: the token's
// own, a member of its package, or "" for none.
type Use struct {
	Token pdpp.TokenID
	Grant pdpp.GrantID
}

// Principal is a token with the state that its rights depend on.
type Principal struct {
	ID        pdpp.TokenID
	Kind      pdpp.TokenKind
	Subject   pdpp.SubjectID
	Audience  []string
	Family    string // "" for a token of its own
	ExpiresAt time.Time
	Revoked   bool

	Grant      *GrantState   // of a client token; nil when the grant is missing
	Package    *PackageState // of a package token; nil when the package is missing
	Generation int64         // of the snapshot
}

// Live reports whether the token itself is valid at now.
func (p Principal) Live(now time.Time) bool { return !p.Revoked && now.Before(p.ExpiresAt) }

// GrantState is the state of a grant, without its document.
type GrantState struct {
	ID           pdpp.GrantID
	ConnectorKey pdpp.ConnectorKey
	Client       pdpp.ClientID
	Revoked      bool
	Consumed     bool
	ExpiresAt    time.Time // zero: until revoked
}

// Status returns the grant's status at now.
func (g GrantState) Status(now time.Time) pdpp.GrantStatus {
	status := lifeStatus(g.Revoked, g.ExpiresAt, now)
	if status == pdpp.GrantActive && g.Consumed {
		return pdpp.GrantConsumed
	}
	return status
}

// lifeStatus returns the status at now of a right that ends at a time; a zero end means never.
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
	Family     string         // of tokens that are revoked together; "" for a token of its own
	Label      string
	IssuedAt   time.Time
	ExpiresAt  time.Time
	RevokedAt  time.Time // zero: not revoked
	LastUsedAt time.Time // zero: never
}

// Status returns the token's status for operators.
func (t Token) Status(now time.Time) string {
	switch {
	case !t.RevokedAt.IsZero():
		return "revoked"
	case !now.Before(t.ExpiresAt):
		return "expired"
	}
	return "active"
}

// Grant is a grant as stored: the document, which never changes, and its state.
type Grant struct {
	ID           pdpp.GrantID
	Subject      pdpp.SubjectID
	Client       Client
	ConnectorKey pdpp.ConnectorKey
	Package      pdpp.PackageID // of which it is a member; "" for none
	Document     []byte         // the object of G-1
	Revoked      bool
	Consumed     bool
	IssuedAt     time.Time
	ExpiresAt    time.Time // zero: until revoked
	RevokedAt    time.Time
	LastUsedAt   time.Time
}

// Status returns the grant's status at now.
func (g Grant) Status(now time.Time) pdpp.GrantStatus {
	return GrantState{Revoked: g.Revoked, Consumed: g.Consumed, ExpiresAt: g.ExpiresAt}.Status(now)
}

// GrantFilter narrows a list of grants. Zero values do not narrow.
type GrantFilter struct {
	Client pdpp.ClientID
}

// Client is an application that has grants of an owner.
type Client struct {
	ID               pdpp.ClientID
	Name             string
	RegistrationMode RegistrationMode
	CreatedAt        time.Time
}

// RegistrationMode is how a client became known.
type RegistrationMode string

// The registration modes of clients.
const (
	ModeOperator      RegistrationMode = "operator"                    // by a command on the server
	ModeDynamic       RegistrationMode = "dynamic"                     // it registered itself (H-152)
	ModeDocument      RegistrationMode = "client_id_metadata_document" // its id is the URL of a document about it (H-154)
	ModePreRegistered RegistrationMode = "pre_registered_public"       // it is known to every server (H-153)
)
