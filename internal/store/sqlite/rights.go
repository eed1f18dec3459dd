package sqlite

import (
	"bytes"
	"strings"
	"time"

	"pdpp"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlite/engine"
)

const tokenColumns = `t.token_id, t.kind, s.subject_id, t.client_id, t.grant_id, t.audience, t.label,
	t.issued_at, t.expires_at, t.revoked_at, t.last_used_at, t.package_id, t.family`

const grantColumns = `g.grant_id, s.subject_id, g.connector_key, g.document, g.consumed, g.issued_at,
	g.expires_at, g.revoked_at, g.last_used_at, c.client_id, c.name, c.registration_mode, c.created_at,
	(SELECT package_id FROM members WHERE grant_id = g.grant_id)`

const grantTables = ` FROM grants g JOIN subjects s ON s.subject = g.subject JOIN clients c ON c.subject = g.subject AND c.client_id = g.client_id`

const selectPrincipal = `SELECT t.token_id, t.kind, s.subject_id, t.audience, t.expires_at, t.revoked_at,
		(SELECT value FROM meta WHERE name = 'generation'),
		g.grant_id, g.connector_key, g.client_id, g.consumed, g.expires_at, g.revoked_at,
		p.package_id, p.client_id, p.issued_at, p.expires_at, p.revoked_at, t.family
	FROM tokens t JOIN subjects s ON s.subject = t.subject
	LEFT JOIN grants g ON g.grant_id = t.grant_id AND g.subject = t.subject
	LEFT JOIN packages p ON p.package_id = t.package_id AND p.subject = t.subject
	WHERE t.hash = ?`

// principalIn reads a row of selectPrincipal.
func principalIn(stmt *engine.Stmt) store.Principal {
	p := store.Principal{
		ID: pdpp.TokenID(stmt.Text(0)), Kind: pdpp.TokenKind(stmt.Text(1)), Subject: pdpp.SubjectID(stmt.Text(2)),
		Audience: strings.Fields(stmt.Text(3)), ExpiresAt: fromMillis(stmt.Int(4)), Revoked: !stmt.IsNull(5),
		Generation: stmt.Int(6), Grant: readGrantState(stmt, 7), Family: stmt.Text(18),
	}
	if !stmt.IsNull(13) {
		p.Package = &store.PackageState{
			ID: pdpp.PackageID(stmt.Text(13)), Client: pdpp.ClientID(stmt.Text(14)), IssuedAt: fromMillis(stmt.Int(15)),
			ExpiresAt: optionalTime(stmt, 16), Revoked: !stmt.IsNull(17),
		}
	}
	return p
}

// readGrantState reads the state of a grant; nil if none was joined.
func readGrantState(s *engine.Stmt, col int) *store.GrantState {
	if s.IsNull(col) {
		return nil
	}
	return &store.GrantState{
		ID: pdpp.GrantID(s.Text(col)), ConnectorKey: pdpp.ConnectorKey(s.Text(col + 1)), Client: pdpp.ClientID(s.Text(col + 2)),
		Consumed: s.Int(col+3) != 0, ExpiresAt: optionalTime(s, col+4), Revoked: !s.IsNull(col + 5),
	}
}

func readToken(s *engine.Stmt) store.Token {
	return store.Token{
		ID: pdpp.TokenID(s.Text(0)), Kind: pdpp.TokenKind(s.Text(1)), Subject: pdpp.SubjectID(s.Text(2)),
		Client: pdpp.ClientID(s.Text(3)), Grant: pdpp.GrantID(s.Text(4)),
		Audience: strings.Fields(s.Text(5)), Label: s.Text(6),
		IssuedAt: fromMillis(s.Int(7)), ExpiresAt: fromMillis(s.Int(8)),
		RevokedAt: optionalTime(s, 9), LastUsedAt: optionalTime(s, 10), Package: pdpp.PackageID(s.Text(11)), Family: s.Text(12),
	}
}

func readGrant(s *engine.Stmt) store.Grant {
	return store.Grant{
		ID: pdpp.GrantID(s.Text(0)), Subject: pdpp.SubjectID(s.Text(1)),
		ConnectorKey: pdpp.ConnectorKey(s.Text(2)), Document: bytes.Clone(s.Bytes(3)),
		Consumed: s.Int(4) != 0, IssuedAt: fromMillis(s.Int(5)),
		ExpiresAt: optionalTime(s, 6), Revoked: !s.IsNull(7), RevokedAt: optionalTime(s, 7),
		LastUsedAt: optionalTime(s, 8), Client: readClient(s, 9), Package: pdpp.PackageID(s.Text(13)),
	}
}

func readClient(s *engine.Stmt, col int) store.Client {
	return store.Client{
		ID: pdpp.ClientID(s.Text(col)), Name: s.Text(col + 1), RegistrationMode: store.RegistrationMode(s.Text(col + 2)),
		CreatedAt: fromMillis(s.Int(col + 3)),
	}
}

func optionalTime(s *engine.Stmt, col int) time.Time {
	if s.IsNull(col) {
		return time.Time{}
	}
	return fromMillis(s.Int(col))
}

func nullableTime(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return millis(t)
}

// Grants implements store.Rights.
func (t *tx) Grants(subject pdpp.SubjectID, f store.GrantFilter) ([]store.Grant, error) {
	return all(t.conn, readGrant, `SELECT `+grantColumns+grantTables+`
		WHERE s.subject_id = ? AND (? = '' OR g.client_id = ?) ORDER BY g.issued_at DESC, g.grant_id`,
		string(subject), string(f.Client), string(f.Client))
}

// Grant implements store.Rights.
func (t *tx) Grant(subject pdpp.SubjectID, id pdpp.GrantID) (store.Grant, error) {
	return first(t.conn, readGrant, pdpp.Errorf(pdpp.CodeNotFound, "There is no grant %s.", id),
		`SELECT `+grantColumns+grantTables+` WHERE s.subject_id = ? AND g.grant_id = ?`, string(subject), string(id))
}

// Tokens implements store.Rights.
func (t *tx) Tokens(subject pdpp.SubjectID, id pdpp.GrantID) ([]store.Token, error) {
	return all(t.conn, readToken, `SELECT `+tokenColumns+` FROM tokens t JOIN subjects s ON s.subject = t.subject
		WHERE s.subject_id = ? AND coalesce(t.grant_id, '') = ? AND (? <> '' OR t.kind = 'owner')
		ORDER BY t.issued_at DESC, t.token_id`, string(subject), string(id), string(id))
}

// Client implements store.Rights.
func (t *tx) Client(subject pdpp.SubjectID, idOrName string) (store.Client, error) {
	return first(t.conn, func(s *engine.Stmt) store.Client { return readClient(s, 0) },
		pdpp.Errorf(pdpp.CodeNotFound, "There is no client %q.", idOrName),
		`SELECT c.client_id, c.name, c.registration_mode, c.created_at
		FROM clients c JOIN subjects s ON s.subject = c.subject
		WHERE s.subject_id = ? AND (c.client_id = ? OR c.registration_mode = 'operator' AND c.name = ?)
		ORDER BY c.client_id <> ?`, string(subject), idOrName, idOrName, idOrName)
}

// CreateClient implements store.RightsWriter.
func (t *tx) CreateClient(subject pdpp.SubjectID, c store.Client) error {
	owner, err := t.owner(subject)
	if err != nil {
		return err
	}
	return t.conn.Exec(`INSERT INTO clients (client_id, subject, name, registration_mode, created_at) VALUES (?, ?, ?, ?, ?)`,
		string(c.ID), owner, c.Name, string(c.RegistrationMode), millis(c.CreatedAt))
}

// CreateGrant implements store.RightsWriter.
func (t *tx) CreateGrant(g store.Grant) error {
	owner, err := t.owner(g.Subject)
	if err != nil {
		return err
	}
	return t.conn.Exec(`INSERT INTO grants (grant_id, subject, client_id, connector_key, document, consumed, issued_at, expires_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, string(g.ID), owner, string(g.Client.ID), string(g.ConnectorKey), g.Document,
		g.Consumed, millis(g.IssuedAt), nullableTime(g.ExpiresAt))
}

// RevokeGrant implements store.RightsWriter.
func (t *tx) RevokeGrant(subject pdpp.SubjectID, id pdpp.GrantID, now time.Time) (store.Grant, bool, error) {
	before, err := t.Grant(subject, id)
	if err != nil || before.Revoked {
		return before, before.Revoked, err
	}
	err = t.conn.Exec(`UPDATE grants SET revoked_at = ? WHERE grant_id = ?`, millis(now), string(id))
	if err != nil {
		return before, false, err
	}
	after, err := t.Grant(subject, id)
	return after, false, err
}

// CreateToken implements store.RightsWriter.
func (t *tx) CreateToken(k store.Token, hash store.TokenHash) error {
	owner, err := t.owner(k.Subject)
	if err != nil {
		return err
	}
	return t.conn.Exec(`INSERT INTO tokens (hash, token_id, subject, kind, client_id, grant_id, package_id, family, audience, label, issued_at, expires_at)
		VALUES (?, ?, ?, ?, nullif(?, ''), nullif(?, ''), nullif(?, ''), nullif(?, ''), ?, ?, ?, ?)`,
		hash[:], string(k.ID), owner, string(k.Kind), string(k.Client), string(k.Grant), string(k.Package), k.Family,
		strings.Join(k.Audience, " "), k.Label, millis(k.IssuedAt), millis(k.ExpiresAt))
}

// RevokeToken implements store.RightsWriter.
func (t *tx) RevokeToken(subject pdpp.SubjectID, id pdpp.TokenID, now time.Time) (store.Token, bool, error) {
	k, err := t.token(subject, id)
	if err != nil || !k.RevokedAt.IsZero() {
		return k, err == nil, err
	}
	if err := t.conn.Exec(`UPDATE tokens SET revoked_at = ? WHERE token_id = ?`, millis(now), string(id)); err != nil {
		return k, false, err
	}
	if err := t.RevokeFamily(subject, string(id), now); err != nil {
		return k, false, err
	}
	k, err = t.token(subject, id)
	return k, false, err
}

func (t *tx) token(subject pdpp.SubjectID, id pdpp.TokenID) (store.Token, error) {
	return first(t.conn, readToken, pdpp.Errorf(pdpp.CodeNotFound, "There is no token %s.", id),
		`SELECT `+tokenColumns+` FROM tokens t JOIN subjects s ON s.subject = t.subject
		WHERE s.subject_id = ? AND t.token_id = ?`, string(subject), string(id))
}

// RevokeFamily implements store.RightsWriter.
func (t *tx) RevokeFamily(subject pdpp.SubjectID, family string, now time.Time) error {
	owner, err := t.owner(subject)
	if err != nil {
		return err
	}
	return t.conn.Exec(`UPDATE tokens SET revoked_at = ? WHERE subject = ? AND revoked_at IS NULL
		AND (family = ? OR family IN (SELECT token_id FROM tokens WHERE family = ?))`, millis(now), owner, family, family)
}

// PruneTokens implements store.RightsWriter. It visits the tokens of all families, of which
// there are few because it removes those that ended.
func (t *tx) PruneTokens(before time.Time, limit int) (int64, error) {
	ids, err := all(t.conn, func(s *engine.Stmt) string { return s.Text(0) },
		`SELECT token_id FROM tokens WHERE family IS NOT NULL AND expires_at < ? LIMIT ?`, millis(before), limit)
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		if err := t.conn.Exec(`DELETE FROM tokens WHERE token_id = ?`, id); err != nil {
			return 0, err
		}
	}
	return int64(len(ids)), nil
}

// TouchTokens implements store.RightsWriter.
func (t *tx) TouchTokens(used map[store.Use]time.Time) error {
	for use, at := range used {
		for _, touch := range []struct{ sql, id string }{
			{`UPDATE tokens SET last_used_at = max(ifnull(last_used_at, 0), ?) WHERE token_id = ?`, string(use.Token)},
			{`UPDATE packages SET last_used_at = max(ifnull(last_used_at, 0), ?)
				WHERE package_id = (SELECT package_id FROM tokens WHERE token_id = ?)`, string(use.Token)},
			{`UPDATE grants SET last_used_at = max(ifnull(last_used_at, 0), ?) WHERE grant_id = ?`, string(use.Grant)},
		} {
			if err := t.conn.Exec(touch.sql, millis(at), touch.id); err != nil {
				return err
			}
		}
	}
	return nil
}
