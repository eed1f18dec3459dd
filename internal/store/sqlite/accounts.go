package sqlite

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"pdpp"
	"pdpp/internal/manifest"
	"pdpp/internal/secret"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlite/engine"
)

// Generation implements store.Accounts.
func (t *tx) Generation() (int64, error) {
	return queryInt(t.conn, `SELECT value FROM meta WHERE name = 'generation'`)
}

func (t *tx) bumpGeneration() error {
	return t.conn.Exec(`UPDATE meta SET value = value + 1 WHERE name = 'generation'`)
}

// Meta implements store.Accounts.
func (t *tx) Meta(name string) ([]byte, error) {
	return first(t.conn, func(s *engine.Stmt) []byte { return bytes.Clone(s.Bytes(0)) }, nil, `SELECT value FROM meta WHERE name = ?`, name)
}

// PutMeta implements store.AccountsWriter.
func (t *tx) PutMeta(name string, value []byte) error {
	return t.conn.Exec(`INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value`, name, value)
}

// Subjects implements store.Accounts.
func (t *tx) Subjects() ([]store.Subject, error) {
	return all(t.conn, func(s *engine.Stmt) store.Subject {
		return store.Subject{ID: pdpp.SubjectID(s.Text(0)), Name: s.Text(1), CreatedAt: fromMillis(s.Int(2))}
	}, `SELECT subject_id, name, created_at FROM subjects ORDER BY name`)
}

// CreateSubject implements store.AccountsWriter.
func (t *tx) CreateSubject(name string, now time.Time) (store.Subject, error) {
	sub := store.Subject{ID: pdpp.SubjectID(secret.ID("own_")), Name: name, CreatedAt: now}
	err := t.conn.Exec(`INSERT INTO subjects (subject_id, name, created_at) VALUES (?, ?, ?)`,
		string(sub.ID), name, millis(now))
	return sub, err
}

// owner returns the number of a subject.
func (t *tx) owner(id pdpp.SubjectID) (int64, error) {
	n, err := queryInt(t.conn, `SELECT subject FROM subjects WHERE subject_id = ?`, string(id))
	if err == nil && n == 0 {
		err = pdpp.Errorf(pdpp.CodeNotFound, "There is no such owner.")
	}
	return n, err
}

// Catalog implements store.Accounts.
func (t *tx) Catalog(subject pdpp.SubjectID) (*pdpp.Catalog, error) {
	owner, err := t.owner(subject)
	if err != nil {
		return nil, err
	}
	c := &pdpp.Catalog{}
	if c.Generation, err = t.Generation(); err != nil {
		return nil, err
	}
	if c.Manifests, err = t.manifests(owner); err != nil {
		return nil, err
	}
	c.Connections, err = t.connections(owner)
	return c, err
}

func (t *tx) manifests(owner int64) (out []*pdpp.Manifest, err error) {
	err = each(t.conn, func(s *engine.Stmt) error {
		m, err := manifest.Parse(s.Bytes(0))
		if err == nil {
			out = append(out, m)
		}
		return err
	}, `SELECT body FROM manifests WHERE subject = ? ORDER BY connector_key`, owner)
	return out, err
}

func (t *tx) connections(owner int64) ([]pdpp.Connection, error) {
	return all(t.conn, func(s *engine.Stmt) pdpp.Connection {
		return pdpp.Connection{
			ID: pdpp.ConnectionID(s.Text(0)), Connector: pdpp.ConnectorKey(s.Text(1)),
			Name: s.Text(2), Label: s.Text(3), Status: s.Text(4), CreatedAt: fromMillis(s.Int(5)),
		}
	}, `SELECT connection_id, connector_key, name, label, status, created_at
		FROM connections WHERE subject = ? AND status <> ? ORDER BY connection_id`, owner, deletedStatus)
}

// PutManifest implements store.AccountsWriter.
func (t *tx) PutManifest(subject pdpp.SubjectID, m *pdpp.Manifest) error {
	owner, err := t.owner(subject)
	if err != nil {
		return err
	}
	former, err := t.manifest(owner, m.ConnectorKey)
	if err != nil {
		return err
	}
	if former != nil {
		if err := t.checkManifest(owner, former, m); err != nil {
			return err
		}
	}
	err = t.conn.Exec(`INSERT INTO manifests (subject, connector_key, body) VALUES (?, ?, ?)
		ON CONFLICT DO UPDATE SET body = excluded.body WHERE body <> excluded.body`,
		owner, string(m.ConnectorKey), []byte(m.Raw))
	if err != nil || t.conn.Changes() == 0 {
		return err
	}
	conns, err := t.connections(owner)
	if err != nil {
		return err
	}
	for _, c := range conns {
		if c.Connector != m.ConnectorKey {
			continue
		}
		if err := t.bind(subject, c, m, former); err != nil {
			return err
		}
	}
	return t.bumpGeneration()
}

// manifest returns the manifest that is registered for a connector; nil if there is none.
func (t *tx) manifest(owner int64, key pdpp.ConnectorKey) (*pdpp.Manifest, error) {
	registered, err := t.manifests(owner)
	for _, m := range registered {
		if m.ConnectorKey == key {
			return m, err
		}
	}
	return nil, err
}

// checkManifest refuses a manifest that would change the meaning of records: another
// source under the same key, or another primary key of a stream with records.
func (t *tx) checkManifest(owner int64, old, m *pdpp.Manifest) error {
	if old.SourceID != m.SourceID {
		return pdpp.Errorf(pdpp.CodeInvalidInput,
			"Connector key %q belongs to the source %s. Give this manifest a connector_key of its own.", m.ConnectorKey, old.SourceID)
	}
	for _, s := range m.Streams {
		before := old.Stream(s.Name)
		if before == nil || slices.Equal(before.PrimaryKey, s.PrimaryKey) {
			continue
		}
		n, err := queryInt(t.conn, `SELECT sum(b.record_count) FROM bindings b JOIN connections c USING (subject, connection_id)
			WHERE b.subject = ? AND c.connector_key = ? AND b.stream = ?`, owner, string(m.ConnectorKey), s.Name)
		if err != nil {
			return err
		}
		if n > 0 {
			return pdpp.Errorf(pdpp.CodeInvalidInput,
				"Stream %q has %d records under another primary_key. Delete them first, or declare a new stream.", s.Name, n)
		}
	}
	return nil
}

// PutConnection implements store.AccountsWriter.
func (t *tx) PutConnection(subject pdpp.SubjectID, c pdpp.Connection) error {
	owner, err := t.owner(subject)
	if err != nil {
		return err
	}
	err = t.conn.Exec(`INSERT INTO connections (subject, connection_id, connector_key, name, label, status, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (subject, connection_id) DO UPDATE SET label = excluded.label, status = excluded.status`,
		owner, string(c.ID), string(c.Connector), c.Name, c.Label, c.Status, millis(c.CreatedAt))
	if err != nil {
		return err
	}
	ms, err := t.manifests(owner)
	if err != nil {
		return err
	}
	for _, m := range ms {
		if m.ConnectorKey != c.Connector {
			continue
		}
		if err := t.bind(subject, c, m, nil); err != nil {
			return err
		}
	}
	return t.bumpGeneration()
}

// DropConnection implements store.AccountsWriter.
func (t *tx) DropConnection(subject pdpp.SubjectID, c pdpp.ConnectionID) (bool, error) {
	owner, err := t.owner(subject)
	if err != nil {
		return false, err
	}
	used, err := queryInt(t.conn, `SELECT NOT EXISTS (SELECT 1 FROM connections`+ofConnection+`)
		OR EXISTS (SELECT 1 FROM bindings`+ofConnection+` AND (record_count > 0 OR last_ingest IS NOT NULL))
		OR EXISTS (SELECT 1 FROM states`+ofConnection+`) OR EXISTS (SELECT 1 FROM blobs`+ofConnection+`)`, owner, string(c))
	if err != nil || used != 0 {
		return false, err
	}
	return true, t.removeConnection(owner, c)
}

// Usage implements store.Accounts.
func (t *tx) Usage(subject pdpp.SubjectID) ([]store.Usage, error) {
	owner, err := t.owner(subject)
	if err != nil {
		return nil, err
	}
	return all(t.conn, func(s *engine.Stmt) store.Usage {
		return store.Usage{
			Connection: pdpp.ConnectionID(s.Text(0)), Stream: s.Text(1), Records: s.Int(2), LastIngest: optionalTime(s, 3),
		}
	}, `SELECT connection_id, stream, record_count, last_ingest
		FROM bindings WHERE subject = ? AND layout <> ? ORDER BY connection_id, stream`, owner, deletedLayout)
}

// State implements store.Accounts.
func (t *tx) State(subject pdpp.SubjectID, c pdpp.ConnectionID) (store.State, error) {
	st := store.State{Values: map[string]json.RawMessage{}}
	owner, err := t.owner(subject)
	if err != nil {
		return st, err
	}
	err = each(t.conn, func(s *engine.Stmt) error {
		st.Values[s.Text(0)] = json.RawMessage(s.Text(1))
		if at := fromMillis(s.Int(2)); at.After(st.UpdatedAt) {
			st.UpdatedAt = at
		}
		return nil
	}, `SELECT stream, value, updated_at FROM states WHERE subject = ? AND connection_id = ?`, owner, string(c))
	return st, err
}

// PutState implements store.AccountsWriter.
func (t *tx) PutState(subject pdpp.SubjectID, c pdpp.ConnectionID, values map[string]json.RawMessage, now time.Time) error {
	owner, err := t.owner(subject)
	if err != nil {
		return err
	}
	for stream, value := range values {
		err := t.conn.Exec(`INSERT INTO states (subject, connection_id, stream, value, updated_at) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`,
			owner, string(c), stream, []byte(value), millis(now))
		if err != nil {
			return err
		}
	}
	return nil
}

func millis(t time.Time) int64      { return t.UnixMilli() }
func fromMillis(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
