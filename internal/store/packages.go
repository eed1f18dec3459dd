package store

import (
	"time"

	"pdpp"
)

// MaxMembers bounds the members of a package (H-16).
const MaxMembers = 100

// PackageState is the state of a package, without its members.
type PackageState struct {
	ID        pdpp.PackageID
	Client    pdpp.ClientID
	Revoked   bool
	IssuedAt  time.Time
	ExpiresAt time.Time // zero: until revoked
}

// Status returns the package's status at now; a package is never consumed.
func (p PackageState) Status(now time.Time) pdpp.GrantStatus {
	return lifeStatus(p.Revoked, p.ExpiresAt, now)
}

// Package is a package as stored. It has no rights of its own: every read is
// authorized by the grant of one member (H-80).
type Package struct {
	ID         pdpp.PackageID
	Subject    pdpp.SubjectID
	Client     Client
	IssuedAt   time.Time
	ExpiresAt  time.Time // with its last member; zero: until revoked
	RevokedAt  time.Time // zero: not revoked
	LastUsedAt time.Time // zero: never
}

// Status returns the package's status at now.
func (p Package) Status(now time.Time) pdpp.GrantStatus {
	return lifeStatus(!p.RevokedAt.IsZero(), p.ExpiresAt, now)
}

// Member is a grant in a package, for the one connection that it covers (H-82).
type Member struct {
	GrantID     pdpp.GrantID
	Connection  pdpp.ConnectionID
	DisplayName string      // of the connection; "" when it would add nothing (C-27)
	Grant       *GrantState // nil when the package's owner has no such grant
}

// Fault returns why a member of a client's package is not usable at now (H-83):
// CodeGrantRevoked, CodeGrantExpired, or CodeGrantInvalid for a grant that is missing
// or another client's. It returns "" for a usable member.
func (m Member) Fault(client pdpp.ClientID, now time.Time) pdpp.Code {
	if m.Grant == nil || m.Grant.Client != client {
		return pdpp.CodeGrantInvalid
	}
	switch m.Grant.Status(now) {
	case pdpp.GrantRevoked:
		return pdpp.CodeGrantRevoked
	case pdpp.GrantExpired:
		return pdpp.CodeGrantExpired
	}
	return "" // a consumed grant gets no further token, but can still be read with (H-149)
}

// NewMember is a grant that is to become a member of a package.
type NewMember struct {
	Grant      pdpp.GrantID
	Connection pdpp.ConnectionID // the only one that the grant covers
	SingleUse  bool              // the token of the package uses the grant up (H-149)
}

// Admit checks that grants can become the members of a new package (H-16, H-82). It
// sets the end of the package to that of the last grant. find finds a grant of the
// package's subject.
func (p *Package) Admit(members []NewMember, find func(pdpp.GrantID) (Grant, error)) error {
	if len(members) < 1 || len(members) > MaxMembers {
		return pdpp.Errorf(pdpp.CodeInvalidInput, "A package has 1 to %d members, not %d.", MaxMembers, len(members))
	}
	by := make(map[pdpp.ConnectionID]pdpp.GrantID, len(members))
	var end time.Time
	endless := false
	for _, m := range members {
		g, err := find(m.Grant)
		if err != nil {
			return err
		}
		if err := p.admit(g); err != nil {
			return err
		}
		if other, taken := by[m.Connection]; taken {
			return pdpp.Errorf(pdpp.CodeInvalidInput, "Grants %s and %s cover the same connection %s.", other, g.ID, m.Connection)
		}
		by[m.Connection] = g.ID
		endless = endless || g.ExpiresAt.IsZero()
		if g.ExpiresAt.After(end) {
			end = g.ExpiresAt
		}
	}
	if endless {
		end = time.Time{}
	}
	p.ExpiresAt = end
	return nil
}

// admit checks one grant by itself.
func (p *Package) admit(g Grant) error {
	switch {
	case g.Client.ID != p.Client.ID:
		return pdpp.Errorf(pdpp.CodeInvalidInput, "Grant %s is another client's.", g.ID)
	case g.Status(p.IssuedAt) != pdpp.GrantActive:
		return pdpp.Errorf(pdpp.CodeInvalidInput, "Grant %s is %s.", g.ID, g.Status(p.IssuedAt))
	case g.Package != "":
		return pdpp.Errorf(pdpp.CodeInvalidInput, "Grant %s is already in package %s.", g.ID, g.Package)
	}
	return nil
}
