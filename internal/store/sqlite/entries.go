package sqlite

import (
	"bytes"
	"time"

	"pdpp"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlite/engine"
)

const selectEntries = `SELECT e.kind, e.key, coalesce(s.subject_id, ''), e.parent, e.body, e.created_at, e.delete_after
	FROM entries e LEFT JOIN subjects s ON s.subject = e.subject`

func readEntry(s *engine.Stmt) store.Entry {
	return store.Entry{
		Kind: store.EntryKind(s.Text(0)), Key: s.Text(1), Subject: pdpp.SubjectID(s.Text(2)), Parent: s.Text(3),
		Body: bytes.Clone(s.Bytes(4)), CreatedAt: fromMillis(s.Int(5)), DeleteAfter: optionalTime(s, 6),
	}
}

// Entry implements store.Entries.
func (t *tx) Entry(kind store.EntryKind, key string) (store.Entry, error) {
	return first(t.conn, readEntry, pdpp.Errorf(pdpp.CodeNotFound, "There is no such %s.", kind),
		selectEntries+` WHERE e.kind = ? AND e.key = ?`, string(kind), key)
}

// EntriesOf implements store.Entries.
func (t *tx) EntriesOf(kind store.EntryKind, subject pdpp.SubjectID) ([]store.Entry, error) {
	owner, err := t.owner(subject)
	if err != nil {
		return nil, err
	}
	return all(t.conn, readEntry, selectEntries+` WHERE e.kind = ? AND e.subject = ? AND e.subject <> 0 ORDER BY e.created_at DESC, e.key`, string(kind), owner)
}

// Children implements store.Entries.
func (t *tx) Children(kind store.EntryKind, parent string) ([]store.Entry, error) {
	return all(t.conn, readEntry, selectEntries+` WHERE e.kind = ? AND e.parent = ? ORDER BY e.created_at, e.key`, string(kind), parent)
}

// CountEntries implements store.Entries.
func (t *tx) CountEntries(kind store.EntryKind) (int64, error) {
	return queryInt(t.conn, `SELECT count(*) FROM entries WHERE kind = ? AND delete_after IS NOT NULL`, string(kind))
}

// PutEntry implements store.EntriesWriter.
func (t *tx) PutEntry(e store.Entry) error {
	owner, err := t.ownerOrNone(e.Subject)
	if err != nil {
		return err
	}
	return t.conn.Exec(`INSERT OR REPLACE INTO entries (kind, key, subject, parent, body, created_at, delete_after) VALUES (?, ?, ?, nullif(?, ''), ?, ?, ?)`,
		string(e.Kind), e.Key, owner, e.Parent, e.Body, millis(e.CreatedAt), nullableTime(e.DeleteAfter))
}

// DeleteEntry implements store.EntriesWriter.
func (t *tx) DeleteEntry(kind store.EntryKind, key string) error {
	return t.conn.Exec(`DELETE FROM entries WHERE kind = ? AND key = ?`, string(kind), key)
}

// PruneEntries implements store.EntriesWriter.
func (t *tx) PruneEntries(now time.Time, limit int) (int64, error) {
	keys, err := all(t.conn, func(s *engine.Stmt) [2]string { return [2]string{s.Text(0), s.Text(1)} },
		`SELECT kind, key FROM entries WHERE delete_after < ? ORDER BY delete_after LIMIT ?`, millis(now), limit)
	if err != nil {
		return 0, err
	}
	for _, k := range keys {
		if err := t.DeleteEntry(store.EntryKind(k[0]), k[1]); err != nil {
			return 0, err
		}
	}
	return int64(len(keys)), nil
}
