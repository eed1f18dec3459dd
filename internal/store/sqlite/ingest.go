package sqlite

import (
	"time"

	"pdpp"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlite/engine"
)

// Ingest implements store.RecordsWriter.
func (t *tx) Ingest(b *store.Binding, docs []store.Document, now time.Time) ([]store.Outcome, error) {
	w, err := t.newWriter(b, now)
	if err != nil {
		return nil, err
	}
	defer w.close()
	outcomes := make([]store.Outcome, 0, len(docs))
	for i := range docs {
		if i > 0 && t.sliceOver() {
			break
		}
		out, err := w.apply(&docs[i])
		if err != nil {
			return nil, err
		}
		outcomes = append(outcomes, out)
	}
	return outcomes, w.finish()
}

// DeleteAll implements store.RecordsWriter.
func (t *tx) DeleteAll(b *store.Binding, upTo int64, now time.Time) (int64, error) {
	w, err := t.newWriter(b, now)
	if err != nil {
		return 0, err
	}
	defer w.close()
	if err := w.markIfMany(); err != nil {
		return 0, err
	}
	for {
		ids, err := t.someIDs(b.ID, "", upTo, 100)
		if err != nil {
			return 0, err
		}
		for _, id := range ids {
			if _, err := w.apply(&store.Document{Delete: true, ID: id, EmittedAt: now}); err != nil {
				return 0, err
			}
			if t.sliceOver() {
				break
			}
		}
		if len(ids) == 0 || t.sliceOver() {
			return -w.countDelta, w.finish()
		}
	}
}

// someIDs reads up to n record ids of a binding after one, of records that have not
// changed after change upTo.
func (t *tx) someIDs(binding int64, after pdpp.RecordID, upTo int64, n int) ([]pdpp.RecordID, error) {
	return all(t.conn, func(s *engine.Stmt) pdpp.RecordID { return pdpp.RecordID(s.Text(0)) },
		`SELECT id FROM records WHERE binding = ? AND id > ? AND change <= ? ORDER BY id LIMIT ?`, binding, string(after), upTo, n)
}

// apply stores or deletes one document. It does nothing if the stored record is the
// same, else it writes the record, its index entries and the change log.
func (w *writer) apply(d *store.Document) (store.Outcome, error) {
	if !d.Delete && d.Layout != w.b.Layout {
		return 0, store.ErrStale
	}
	old, err := w.find(d.ID)
	if err != nil {
		return 0, err
	}
	outcome := d.Outcome(old.body)
	if outcome == store.Unchanged || outcome == store.Absent {
		return outcome, nil
	}
	if old.body != nil && old.layout != w.layout { // what follows needs the current layout
		if err := w.relayoutRecord(d.ID, &old); err != nil {
			return 0, err
		}
		if old, err = w.find(d.ID); err != nil {
			return 0, err
		}
	}
	if old.body != nil {
		if err := w.remove(&old, d.ID); err != nil {
			return 0, err
		}
		w.countDelta--
	}
	var record any
	if !d.Delete {
		if record, err = w.insert(d); err != nil {
			return 0, err
		}
		w.countDelta++
	}
	return outcome, w.change(d, &old, record)
}

const insertChange = `INSERT INTO changes (subject, seq, binding, id, deleted, existed, fields, before_time, emitted_at, committed_at, record)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

// change logs that a record changed (REC-32). record is its number now, nil after a
// delete.
func (w *writer) change(d *store.Document, old *stored, record any) error {
	w.seq++
	return w.run(insertChange, w.b.Owner, w.seq, w.b.ID, string(d.ID), d.Delete, old.body != nil, d.LogFields(old.body), orNull(old.time),
		millis(d.EmittedAt), w.now, record)
}
