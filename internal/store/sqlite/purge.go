package sqlite

import (
	"math"
	"time"

	"pdpp"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlite/engine"
)

// A deleted connection keeps its rows until Purge has removed them. Its status hides it
// from the catalog; no stream has the layout of its bindings, so that nothing is written to
// them.
const (
	deletedStatus = "deleted"
	deletedLayout = ""
)

const ofConnection = ` WHERE subject = ?1 AND connection_id = ?2`

// purgeBatch is the number of rows without content that one statement removes.
const purgeBatch = 1000

// DeleteConnection implements store.AccountsWriter.
func (t *tx) DeleteConnection(subject pdpp.SubjectID, c pdpp.ConnectionID) error {
	owner, err := t.owner(subject)
	if err != nil {
		return err
	}
	n, err := queryInt(t.conn, `SELECT count(*) FROM connections`+ofConnection+` AND status <> ?3`, owner, string(c), deletedStatus)
	if err != nil {
		return err
	}
	if n == 0 {
		return pdpp.Errorf(pdpp.CodeConnectionNotFound, "There is no such connection.")
	}
	// The name is free for another connection.
	err = t.conn.Exec(`UPDATE connections SET status = ?3, name = 'deleted ' || connection_id, label = ''`+ofConnection, owner, string(c), deletedStatus)
	if err != nil {
		return err
	}
	err = t.conn.Exec(`UPDATE bindings SET layout = ?3, indexed_to = NULL, stale = NULL`+ofConnection, owner, string(c), deletedLayout)
	if err != nil {
		return err
	}
	return t.bumpGeneration()
}

// Purge implements store.AccountsWriter.
func (t *tx) Purge(now time.Time) (more bool, err error) {
	type place struct {
		owner      int64
		connection pdpp.ConnectionID
	}
	deleted, err := all(t.conn, func(s *engine.Stmt) place { return place{s.Int(0), pdpp.ConnectionID(s.Text(1))} },
		`SELECT subject, connection_id FROM connections WHERE status = ?`, deletedStatus)
	if err != nil {
		return false, err
	}
	for _, p := range deleted {
		if more, err := t.purgeBindings(p.owner, p.connection, now); err != nil || more {
			return more, err
		}
		if err := t.removeConnection(p.owner, p.connection); err != nil {
			return false, err
		}
	}
	return false, nil
}

func (t *tx) purgeBindings(owner int64, c pdpp.ConnectionID, now time.Time) (more bool, err error) {
	bindings, err := all(t.conn, func(s *engine.Stmt) int64 { return s.Int(0) }, `SELECT binding FROM bindings`+ofConnection, owner, string(c))
	if err != nil {
		return false, err
	}
	for _, id := range bindings {
		if more, err := t.purgeRecords(&store.Binding{Owner: owner, ID: id, Layout: deletedLayout}, now); err != nil || more {
			return more, err
		}
		for _, statement := range []string{
			`DELETE FROM field_index WHERE (field, value, order_key, record) IN
				(SELECT field, value, order_key, record FROM field_index WHERE field IN (SELECT field FROM fields WHERE binding = ?1) LIMIT ?2)`,
			`DELETE FROM changes WHERE binding = ?1 AND seq IN (SELECT seq FROM changes WHERE binding = ?1 LIMIT ?2)`,
		} {
			if more, err := t.purgeRows(statement, id); err != nil || more {
				return more, err
			}
		}
	}
	return false, nil
}

// purgeRows repeats a statement that removes some rows of a binding. more reports whether the
// slice ended before the rows.
func (t *tx) purgeRows(statement string, binding int64) (more bool, err error) {
	for {
		if err := t.conn.Exec(statement, binding, purgeBatch); err != nil {
			return false, err
		}
		n, err := queryInt(t.conn, `SELECT changes()`)
		if err != nil || n == 0 {
			return false, err
		}
		if t.sliceOver() {
			return true, nil
		}
	}
}

// purgeRecords removes the records of a binding with their words. It does not need their
// declaration, because a stream may not be declared any more.
func (t *tx) purgeRecords(b *store.Binding, now time.Time) (more bool, err error) {
	w, err := t.newWriter(b, now)
	if err != nil {
		return false, err
	}
	defer w.close()
	if err := w.markIfMany(); err != nil {
		return false, err
	}
	for {
		ids, err := t.someIDs(b.ID, "", math.MaxInt64, 100)
		if err != nil {
			return false, err
		}
		for _, id := range ids {
			if err := w.purge(id); err != nil {
				return false, err
			}
			if t.sliceOver() {
				return true, w.finish()
			}
		}
		if len(ids) == 0 {
			return false, w.finish()
		}
	}
}

// purge removes a record, except for its rows in field_index.
func (w *writer) purge(id pdpp.RecordID) error {
	old, err := w.find(id)
	if err != nil {
		return err
	}
	forms := w.searchForms
	if old.layout != w.layout {
		if forms, err = w.former(old.layout); err != nil {
			return err
		}
	}
	w.countDelta--
	return w.removeRow(&old, forms)
}

// removeConnection removes the rows that are left of a purged connection, none of which has
// content, and its manifest when no other connection uses it.
func (t *tx) removeConnection(owner int64, c pdpp.ConnectionID) error {
	for _, statement := range []string{
		`DELETE FROM states` + ofConnection,
		`DELETE FROM former_fields WHERE binding IN (SELECT binding FROM bindings` + ofConnection + `)`,
		`DELETE FROM fields WHERE binding IN (SELECT binding FROM bindings` + ofConnection + `)`,
		`DELETE FROM bindings` + ofConnection,
		`DELETE FROM manifests WHERE subject = ?1 AND connector_key = (SELECT connector_key FROM connections` + ofConnection + `)
			AND NOT EXISTS (SELECT 1 FROM connections AS other WHERE other.subject = ?1 AND other.connector_key = manifests.connector_key
				AND other.connection_id <> ?2)`,
		`DELETE FROM connections` + ofConnection,
	} {
		if err := t.conn.Exec(statement, owner, string(c)); err != nil {
			return err
		}
	}
	return t.bumpGeneration()
}
