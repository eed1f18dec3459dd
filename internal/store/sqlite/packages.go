package sqlite

import (
	"time"

	"pdpp"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlite/engine"
)

const selectPackages = `SELECT p.package_id, s.subject_id, p.issued_at, p.expires_at, p.revoked_at, p.last_used_at,
		c.client_id, c.name, c.registration_mode, c.created_at
	FROM packages p JOIN subjects s ON s.subject = p.subject JOIN clients c ON c.subject = p.subject AND c.client_id = p.client_id`

func readPackage(s *engine.Stmt) store.Package {
	return store.Package{
		ID: pdpp.PackageID(s.Text(0)), Subject: pdpp.SubjectID(s.Text(1)), IssuedAt: fromMillis(s.Int(2)),
		ExpiresAt: optionalTime(s, 3), RevokedAt: optionalTime(s, 4), LastUsedAt: optionalTime(s, 5), Client: readClient(s, 6),
	}
}

// Packages implements store.Rights.
func (t *tx) Packages(subject pdpp.SubjectID) ([]store.Package, error) {
	return all(t.conn, readPackage, selectPackages+` WHERE s.subject_id = ? ORDER BY p.issued_at DESC, p.package_id`, string(subject))
}

// Package implements store.Rights.
func (t *tx) Package(subject pdpp.SubjectID, id pdpp.PackageID) (store.Package, error) {
	return first(t.conn, readPackage, pdpp.Errorf(pdpp.CodeNotFound, "There is no package %s.", id),
		selectPackages+` WHERE s.subject_id = ? AND p.package_id = ?`, string(subject), string(id))
}

// selectMembers walks the members in their order and looks up a grant and a connection
// for each. It does not read grants of another subject.
const selectMembers = `SELECT m.grant_id, m.connection_id, c.connector_key, c.label,
		g.grant_id, g.connector_key, g.client_id, g.consumed, g.expires_at, g.revoked_at
	FROM subjects s JOIN members m ON m.subject = s.subject
	LEFT JOIN connections c ON c.subject = m.subject AND c.connection_id = m.connection_id
	LEFT JOIN grants g ON g.grant_id = m.grant_id AND g.subject = m.subject
	WHERE s.subject_id = ? AND m.package_id = ? ORDER BY m.position`

// Members implements store.Rights. Every request of a package calls it.
func (t *tx) Members(subject pdpp.SubjectID, id pdpp.PackageID) ([]store.Member, error) {
	return all(t.conn, func(s *engine.Stmt) store.Member {
		conn := pdpp.Connection{ID: pdpp.ConnectionID(s.Text(1)), Connector: pdpp.ConnectorKey(s.Text(2)), Label: s.Text(3)}
		return store.Member{
			GrantID: pdpp.GrantID(s.Text(0)), Connection: conn.ID, DisplayName: conn.DisplayName(), Grant: readGrantState(s, 4),
		}
	}, selectMembers, string(subject), string(id))
}

// CreatePackage implements store.RightsWriter.
func (t *tx) CreatePackage(p store.Package, members []store.NewMember) (store.Package, error) {
	owner, err := t.owner(p.Subject)
	if err != nil {
		return p, err
	}
	find := func(id pdpp.GrantID) (store.Grant, error) { return t.Grant(p.Subject, id) }
	if err := p.Admit(members, find); err != nil {
		return p, err
	}
	err = t.conn.Exec(`INSERT INTO packages (package_id, subject, client_id, issued_at, expires_at) VALUES (?, ?, ?, ?, ?)`,
		string(p.ID), owner, string(p.Client.ID), millis(p.IssuedAt), nullableTime(p.ExpiresAt))
	if err != nil {
		return p, err
	}
	for i, m := range members {
		err := t.conn.Exec(`INSERT INTO members (package_id, position, subject, grant_id, connection_id) VALUES (?, ?, ?, ?, ?)`,
			string(p.ID), i, owner, string(m.Grant), string(m.Connection))
		if err == nil && m.SingleUse {
			err = t.conn.Exec(`UPDATE grants SET consumed = 1 WHERE grant_id = ?`, string(m.Grant))
		}
		if err != nil {
			return p, err
		}
	}
	return t.Package(p.Subject, p.ID)
}

// RevokePackage implements store.RightsWriter.
func (t *tx) RevokePackage(subject pdpp.SubjectID, id pdpp.PackageID, now time.Time) (store.Package, []pdpp.GrantID, bool, error) {
	p, err := t.Package(subject, id)
	if err != nil || !p.RevokedAt.IsZero() {
		return p, nil, err == nil, err
	}
	if err := t.conn.Exec(`UPDATE packages SET revoked_at = ? WHERE package_id = ?`, millis(now), string(id)); err != nil {
		return p, nil, false, err
	}
	members, err := t.Members(subject, id)
	if err != nil {
		return p, nil, false, err
	}
	var grants []pdpp.GrantID
	for _, m := range members {
		if m.Grant == nil || m.Grant.Revoked {
			continue
		}
		if _, _, err := t.RevokeGrant(subject, m.GrantID, now); err != nil {
			return p, nil, false, err
		}
		grants = append(grants, m.GrantID)
	}
	p, err = t.Package(subject, id)
	return p, grants, false, err
}
