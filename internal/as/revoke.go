package as

import (
	"context"
	"time"

	"pdpp"
	"pdpp/internal/secret"
	"pdpp/internal/store"
)

// client returns the client that has a grant or package.
func (a access) client(v store.View, subject pdpp.SubjectID) (pdpp.ClientID, error) {
	if a.Package != "" {
		p, err := v.Package(subject, a.Package)
		return p.Client.ID, err
	}
	g, err := v.Grant(subject, a.Grant)
	return g.Client.ID, err
}

// revoke revokes a grant or package and ends its families (H-171). CodeNotFound when the
// subject does not have it.
func (a access) revoke(tx store.Tx, subject pdpp.SubjectID, now time.Time) error {
	var err error
	if a.Package != "" {
		_, _, _, err = tx.RevokePackage(subject, a.Package, now)
	} else {
		_, _, err = tx.RevokeGrant(subject, a.Grant, now)
	}
	if err != nil {
		return err
	}
	families, err := familiesOf(tx, a.id())
	if err != nil {
		return err
	}
	for _, f := range families {
		if err := f.end(tx, EndedByRevocation, now); err != nil {
			return err
		}
	}
	return nil
}

// RevokeGrant revokes a grant of an owner. It is effective when it returns. CodeNotFound when
// the owner has no such grant.
func (s *Server) RevokeGrant(ctx context.Context, subject pdpp.SubjectID, id pdpp.GrantID) error {
	return s.change(ctx, store.ByOwner, func(tx store.Tx) error { return access{Grant: id}.revoke(tx, subject, s.now()) })
}

// RevokePackage revokes a package of an owner with its members. It is effective when it
// returns. CodeNotFound when the owner has no such package.
func (s *Server) RevokePackage(ctx context.Context, subject pdpp.SubjectID, id pdpp.PackageID) error {
	return s.change(ctx, store.ByOwner, func(tx store.Tx) error { return access{Package: id}.revoke(tx, subject, s.now()) })
}

// RevokeClient revokes everything that a client has of an owner. It is effective when it
// returns. CodeNotFound when the owner does not know the client.
func (s *Server) RevokeClient(ctx context.Context, subject pdpp.SubjectID, id pdpp.ClientID) error {
	return s.change(ctx, store.ByOwner, func(tx store.Tx) error {
		client, err := tx.Client(subject, string(id))
		if err != nil {
			return err
		}
		held, err := heldBy(tx, subject, client.ID)
		if err != nil {
			return err
		}
		for _, a := range held {
			if err := a.revoke(tx, subject, s.now()); err != nil {
				return err
			}
		}
		return nil
	})
}

// heldBy lists the packages and grants of a client.
func heldBy(v store.View, subject pdpp.SubjectID, client pdpp.ClientID) ([]access, error) {
	var out []access
	packages, err := v.Packages(subject)
	if err != nil {
		return nil, err
	}
	for _, p := range packages {
		if p.Client.ID == client {
			out = append(out, access{Package: p.ID})
		}
	}
	grants, err := v.Grants(subject, store.GrantFilter{Client: client})
	for _, g := range grants {
		out = append(out, access{Grant: g.ID})
	}
	return out, err
}

// revokeToken revokes a token by its value (H-170). found is false when there is no such
// token. A client id other than "" must be that of the token.
func (s *Server) revokeToken(tx store.Tx, token string, client pdpp.ClientID) (found bool, err error) {
	e, err := tx.Entry(store.EntryRefresh, secret.Hash(token))
	if isMissing(err) {
		return s.revokeAccessToken(tx, token, client)
	}
	if err != nil {
		return false, err
	}
	f, err := findFamily(tx, e.Parent)
	if isMissing(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if client != "" && f.Client != client {
		return true, errOtherClient
	}
	return true, f.endWithAccess(tx, EndedByRevocation, s.now())
}

var errOtherClient = &oauthError{status: 400, code: "invalid_client", description: "The token belongs to another client. Send the client_id that it was issued to.", failure: true}

func (s *Server) revokeAccessToken(tx store.Tx, token string, client pdpp.ClientID) (found bool, err error) {
	p, err := tx.Token(store.HashToken(token))
	if isMissing(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if client != "" && holder(p) != client {
		return true, errOtherClient
	}
	_, _, err = tx.RevokeToken(p.Subject, p.ID, s.now())
	return true, err
}

// holder returns the client of a token; "" for an owner token.
func holder(p store.Principal) pdpp.ClientID {
	switch {
	case p.Package != nil:
		return p.Package.Client
	case p.Grant != nil:
		return p.Grant.Client
	}
	return ""
}
