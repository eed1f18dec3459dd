package store

import (
	"time"

	"pdpp"
)

// Cause is who changes rights, and by which request.
type Cause struct {
	Actor     Actor
	RequestID string // "" for a command
	Address   string // "" for a command
}

// Audited returns a function for Update that calls fn with a transaction in which every
// change of rights adds an audit row, with its cause (H-197).
func Audited(by Cause, fn func(Tx) error) func(Tx) error {
	return func(tx Tx) error { return fn(&auditedTx{tx, by}) }
}

// auditedTx is a transaction that adds audit rows.
type auditedTx struct {
	Tx
	by Cause
}

// AddAudit implements ActivityWriter: it adds a row with the cause of the transaction.
func (t *auditedTx) AddAudit(a Audit) error {
	a.Actor, a.RequestID, a.Address = t.by.Actor, t.by.RequestID, t.by.Address
	return t.Tx.AddAudit(a)
}

// CreateGrant implements RightsWriter.
func (t *auditedTx) CreateGrant(g Grant) error {
	if err := t.Tx.CreateGrant(g); err != nil {
		return err
	}
	return t.AddAudit(Audit{At: g.IssuedAt, Action: GrantCreated, Subject: g.Subject, Client: g.Client.ID, Grant: g.ID})
}

// RevokeGrant implements RightsWriter.
func (t *auditedTx) RevokeGrant(subject pdpp.SubjectID, id pdpp.GrantID, now time.Time) (Grant, bool, error) {
	g, already, err := t.Tx.RevokeGrant(subject, id, now)
	if err == nil && !already {
		err = t.AddAudit(Audit{At: now, Action: GrantRevoked, Subject: subject, Client: g.Client.ID, Grant: id})
	}
	return g, already, err
}

// CreatePackage implements RightsWriter.
func (t *auditedTx) CreatePackage(p Package, members []NewMember) (Package, error) {
	p, err := t.Tx.CreatePackage(p, members)
	if err == nil {
		err = t.AddAudit(Audit{At: p.IssuedAt, Action: PackageCreated, Subject: p.Subject, Client: p.Client.ID, Package: p.ID})
	}
	return p, err
}

// RevokePackage implements RightsWriter.
func (t *auditedTx) RevokePackage(subject pdpp.SubjectID, id pdpp.PackageID, now time.Time) (Package, []pdpp.GrantID, bool, error) {
	p, grants, already, err := t.Tx.RevokePackage(subject, id, now)
	if err == nil && !already {
		err = t.AddAudit(Audit{At: now, Action: PackageRevoked, Subject: subject, Client: p.Client.ID, Package: id})
	}
	return p, grants, already, err
}

// CreateToken implements RightsWriter. The tokens that a client gets for what an owner
// approved, and renews every hour, have no row.
func (t *auditedTx) CreateToken(k Token, hash TokenHash) error {
	if err := t.Tx.CreateToken(k, hash); err != nil {
		return err
	}
	if t.by.Actor == ByClient {
		return nil
	}
	return t.AddAudit(Audit{At: k.IssuedAt, Action: TokenCreated, Subject: k.Subject, Client: k.Client, Grant: k.Grant, Package: k.Package, Token: k.ID})
}

// RevokeToken implements RightsWriter.
func (t *auditedTx) RevokeToken(subject pdpp.SubjectID, id pdpp.TokenID, now time.Time) (Token, bool, error) {
	k, already, err := t.Tx.RevokeToken(subject, id, now)
	if err == nil && !already {
		err = t.AddAudit(Audit{At: now, Action: TokenRevoked, Subject: subject, Client: k.Client, Grant: k.Grant, Package: k.Package, Token: id})
	}
	return k, already, err
}
