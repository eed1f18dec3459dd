package sqlite

import (
	"encoding/json"
	"math"
	"time"

	"pdpp"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlite/engine"
)

// changeLayout changes the layout of a binding (M-11). New records are indexed under the
// new layout, existing ones in Reindex. Each record has the number of its layout.
func (t *tx) changeLayout(binding int64, layout string, stale store.Stale) error {
	n, err := queryInt(t.conn, `SELECT record_count FROM bindings WHERE binding = ?`, binding)
	if err != nil {
		return err
	}
	if n == 0 {
		if err := t.conn.Exec(`UPDATE bindings SET layout = ?, layouts = layouts + 1 WHERE binding = ?`, layout, binding); err != nil {
			return err
		}
		return t.noteReindexed(binding)
	}
	stales, err := t.Stale()
	if err != nil {
		return err
	}
	if before := stales[binding]; before != nil {
		stale.Add(*before)
	}
	text, err := json.Marshal(stale)
	if err != nil {
		return err
	}
	err = t.conn.Exec(`INSERT INTO former_fields SELECT f.subject, f.binding, b.layouts, f.name, f.field, f.lexical, f.token, f.blob
		FROM fields f JOIN bindings b USING (binding) WHERE f.binding = ? AND (f.lexical OR f.token OR f.blob)`, binding)
	if err != nil {
		return err
	}
	return t.conn.Exec(`UPDATE bindings SET layout = ?, layouts = layouts + 1, indexed_to = '', stale = ? WHERE binding = ?`,
		layout, string(text), binding)
}

// noteReindexed stores that all records of a binding are indexed as declared.
func (t *tx) noteReindexed(binding int64) error {
	if err := t.conn.Exec(`UPDATE bindings SET indexed_to = NULL, stale = NULL WHERE binding = ?`, binding); err != nil {
		return err
	}
	return t.conn.Exec(`DELETE FROM former_fields WHERE binding = ?`, binding)
}

// Stale implements sqlread.Conn. A reader caches it as long as the content is the
// same.
func (t *tx) Stale() (map[int64]*store.Stale, error) {
	if t.reader != nil && t.reader.stales != nil {
		return t.reader.stales, nil
	}
	stales := map[int64]*store.Stale{}
	err := each(t.conn, func(s *engine.Stmt) error {
		stale := new(store.Stale)
		stales[s.Int(0)] = stale
		return json.Unmarshal(s.Bytes(1), stale)
	}, `SELECT binding, stale FROM bindings WHERE indexed_to IS NOT NULL`)
	if err == nil && t.reader != nil {
		t.reader.stales = stales
	}
	return stales, err
}

// Reindex implements store.RecordsWriter.
func (t *tx) Reindex() (done int, more bool, err error) {
	b, last, err := t.unindexed()
	if err != nil || b == nil {
		return 0, false, err
	}
	w, err := t.newWriter(b, time.Time{})
	if err != nil {
		return 0, false, err
	}
	defer w.close()
	w.markTerms()
	for !t.sliceOver() || done == 0 {
		ids, err := t.someIDs(b.ID, last, math.MaxInt64, 100)
		if err != nil {
			return 0, false, err
		}
		if len(ids) == 0 {
			return done, true, w.endReindex()
		}
		for _, id := range ids {
			if err := w.reindex(id); err != nil {
				return 0, false, err
			}
			last = id
			if done++; t.sliceOver() {
				break
			}
		}
	}
	if err := t.conn.Exec(`UPDATE bindings SET indexed_to = ? WHERE binding = ?`, string(last), b.ID); err != nil {
		return 0, false, err
	}
	return done, true, w.endSlice()
}

// unindexed returns a binding with records to re-index, and the id of the last record
// that was re-indexed; nil if there is none. Records of a stream that the manifest does
// not declare are re-indexed only after it declares the stream again.
func (t *tx) unindexed() (*store.Binding, pdpp.RecordID, error) {
	s, err := t.conn.Query(`SELECT s.subject_id, b.connection_id, b.stream, b.indexed_to
		FROM bindings b JOIN subjects s USING (subject) WHERE b.indexed_to IS NOT NULL ORDER BY b.binding`)
	if err != nil {
		return nil, "", err
	}
	defer s.Close()
	for {
		row, err := s.Step()
		if err != nil || !row {
			return nil, "", err
		}
		subject := pdpp.SubjectID(s.Text(0))
		catalog, err := t.Catalog(subject)
		if err != nil {
			return nil, "", err
		}
		conn, _ := catalog.Connection(pdpp.ConnectionID(s.Text(1)))
		if m := catalog.Manifest(conn.Connector); m != nil && m.Stream(s.Text(2)) != nil {
			b, err := t.Binding(subject, conn, m.Stream(s.Text(2)))
			return b, pdpp.RecordID(s.Text(3)), err
		}
	}
}

// endSlice writes the pending entries of a slice.
func (w *writer) endSlice() error {
	if err := w.flush(); err != nil {
		return err
	}
	return w.noteMarks()
}

func (w *writer) endReindex() error {
	if err := w.endSlice(); err != nil {
		return err
	}
	return w.t.noteReindexed(w.b.ID)
}

// reindex brings a record to the current layout.
func (w *writer) reindex(id pdpp.RecordID) error {
	old, err := w.find(id)
	if err != nil || old.body == nil || old.layout == w.layout {
		return err
	}
	return w.relayoutRecord(id, &old)
}

// relayoutRecord replaces the index entries of a record, which were written under a
// former layout, by those of the current one. Body, change number and record number stay.
func (w *writer) relayoutRecord(id pdpp.RecordID, old *stored) error {
	data, err := w.t.Whole(store.Ref(old.record), old.body)
	if err != nil {
		return err
	}
	w.t.erased = true
	if err := w.dropEntries(old); err != nil {
		return err
	}
	former, err := w.former(old.layout)
	if err != nil {
		return err
	}
	d := store.Prepare(w.b, store.Input{ID: id, Data: data})
	if err := w.changeTerms(old.record, store.Terms(former, data), d.Search); err != nil {
		return err
	}
	err = w.run(`UPDATE records SET order_key = ?, key_in_data = ?, consent_time = ?, term_counts = ?, layout = ? WHERE record = ?`,
		d.Order, d.KeyInData, orNull(d.ConsentTime), []byte(d.Counts), w.layout, old.record)
	if err != nil {
		return err
	}
	return w.indexEntries(old.record, &d)
}

// former returns how fields were represented in the search text under a former layout.
func (w *writer) former(layout int64) (map[string]store.SearchForm, error) {
	if cached, ok := w.formerTerms[layout]; ok {
		return cached, nil
	}
	forms, err := w.t.searchFormsIn(`SELECT name, field, lexical, token, blob FROM former_fields WHERE binding = ? AND layout = ?`, w.b.ID, layout)
	if err == nil {
		w.formerTerms[layout] = forms
	}
	return forms, err
}
