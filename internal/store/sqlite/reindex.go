package sqlite

import (
	"bytes"
	"encoding/json"
	"math"
	"time"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/rawjson"
	"pdpp/internal/store"
)

// relayout notes that a binding's records are indexed in another way from now on
// (M-11). New records are; those that are there follow in Reindex. Each knows the
// layout it was indexed under.
func (t *tx) relayout(binding int64, layout string, stale store.Stale) error {
	n, err := queryInt(t.conn, `SELECT record_count FROM bindings WHERE binding = ?`, binding)
	if err != nil {
		return err
	}
	if n == 0 {
		if err := t.conn.Exec(`UPDATE bindings SET layout = ?, layouts = layouts + 1 WHERE binding = ?`, layout, binding); err != nil {
			return err
		}
		return t.reindexed(binding)
	}
	before, err := t.staleOf(binding)
	if err != nil {
		return err
	}
	if before != nil {
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

// reindexed notes that all records of a binding are indexed as declared.
func (t *tx) reindexed(binding int64) error {
	if err := t.conn.Exec(`UPDATE bindings SET indexed_to = NULL, stale = NULL WHERE binding = ?`, binding); err != nil {
		return err
	}
	return t.conn.Exec(`DELETE FROM former_fields WHERE binding = ?`, binding)
}

// staleOf is what reads of a binding cannot rely on; nil: they can on everything.
func (t *tx) staleOf(binding int64) (*store.Stale, error) {
	all, err := t.stales()
	if err != nil {
		return nil, err
	}
	return all[binding], nil
}

// stales are the bindings that are indexed anew. A reader knows them as long as the
// content is the same.
func (t *tx) stales() (map[int64]*store.Stale, error) {
	if t.reader != nil && t.reader.stales != nil {
		return t.reader.stales, nil
	}
	s, err := t.conn.Query(`SELECT binding, stale FROM bindings WHERE indexed_to IS NOT NULL`)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	all := map[int64]*store.Stale{}
	for {
		row, err := s.Step()
		if err != nil {
			return nil, err
		}
		if !row {
			break
		}
		stale := new(store.Stale)
		if err := json.Unmarshal(s.Bytes(1), stale); err != nil {
			return nil, err
		}
		all[s.Int(0)] = stale
	}
	if t.reader != nil {
		t.reader.stales = all
	}
	return all, nil
}

// reliable refuses a read whose conditions depend on what is being indexed anew. The
// grant's time limit is one of them.
func reliable(stale *store.Stale, src query.Source) error {
	if stale == nil {
		return nil
	}
	for _, c := range src.Conditions() {
		if c.Field == nil || stale.Has(c.Field.Name) {
			return store.ErrRebuilding(src.Stream.Name)
		}
	}
	return nil
}

// Rebuilding implements store.Searcher.
func (t *tx) Rebuilding() (bool, error) {
	all, err := t.stales()
	return len(all) > 0, err
}

// Incomplete implements store.Searcher.
func (t *tx) Incomplete(q query.Search) (bool, error) {
	if all, err := t.stales(); err != nil || len(all) == 0 {
		return false, err
	}
	for _, src := range q.Sources {
		s, ok, err := t.source(q.Subject, src.Source)
		if err != nil {
			return false, err
		}
		if !ok || s.Stale == nil {
			continue
		}
		for _, f := range src.Fields {
			if s.Stale.HasWords(f.Name) {
				return true, nil
			}
		}
	}
	return false, nil
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
	for !t.spent() || done == 0 {
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
			if done++; t.spent() {
				break
			}
		}
	}
	if err := t.conn.Exec(`UPDATE bindings SET indexed_to = ? WHERE binding = ?`, string(last), b.ID); err != nil {
		return 0, false, err
	}
	return done, true, w.endSlice()
}

// unindexed finds a binding with records to index anew, and the last id that is done;
// nil when there is none. Records of streams that are no longer declared wait until
// they are again.
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

// endSlice writes what a slice of a re-index has not written yet.
func (w *writer) endSlice() error {
	if err := w.flush(); err != nil {
		return err
	}
	return w.settle()
}

func (w *writer) endReindex() error {
	if err := w.endSlice(); err != nil {
		return err
	}
	return w.t.reindexed(w.b.ID)
}

// reindex brings a record to the layout of now.
func (w *writer) reindex(id pdpp.RecordID) error {
	old, err := w.find(id)
	if err != nil || old == nil || old.layout == w.layout {
		return err
	}
	return w.relayout(id, old)
}

// relayout takes out the index entries of a record, as they were made under a former
// layout, and makes those of now. Body, change number and record number stay.
func (w *writer) relayout(id pdpp.RecordID, old *stored) error {
	data, err := w.t.whole(store.Ref(old.record), old.body)
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
	var consent any
	if d.ConsentTime != nil {
		consent = d.ConsentTime
	}
	err = w.run(`UPDATE records SET order_key = ?, key_in_data = ?, consent_time = ?, term_counts = ?, layout = ? WHERE record = ?`,
		d.Order, d.KeyInData, consent, []byte(d.Counts), w.layout, old.record)
	if err != nil {
		return err
	}
	return w.indexEntries(old.record, &d)
}

// changeTerms replaces the terms of a record in the search index. It touches only those
// that differ: a term must not be marked as gone and come back in one transaction (see
// removed).
func (w *writer) changeTerms(record int64, before, after []byte) error {
	gone, added := store.TermsChange(before, after)
	if len(gone) == 0 && len(added) == 0 {
		return nil
	}
	if len(before) > 0 { // then the index counts the record, also where no term goes
		if err := w.takeOut(record, gone); err != nil {
			return err
		}
	}
	if len(after) == 0 {
		return nil
	}
	return w.run(insertTerms, record, string(added))
}

// dropEntries removes a record's index entries, whatever fields they are of.
func (w *writer) dropEntries(old *stored) error {
	s, err := w.t.conn.Query(`SELECT field, value FROM field_values WHERE record = ?`, old.record)
	if err != nil {
		return err
	}
	defer s.Close()
	for {
		row, err := s.Step()
		if err != nil {
			return err
		}
		if !row {
			return w.run(deleteValues, old.record)
		}
		if err := w.run(deleteIndex, s.Int(0), bytes.Clone(s.Bytes(1)), old.order, old.record); err != nil {
			return err
		}
	}
}

// former is how fields stood in the search text under a former layout.
func (w *writer) former(layout int64) (map[string]store.Termed, error) {
	if known, ok := w.formers[layout]; ok {
		return known, nil
	}
	termed, err := w.t.termedIn(`SELECT name, field, lexical, token, blob FROM former_fields WHERE binding = ? AND layout = ?`, w.b.ID, layout)
	if err == nil {
		w.formers[layout] = termed
	}
	return termed, err
}

// whole puts the long values back into a stored body. Stubs are framed by bytes
// that JSON text never holds, so each is found as it is.
func (t *tx) whole(ref store.Ref, body []byte) ([]byte, error) {
	var out []byte
	var err error
	rest := body
	for _, value := range rawjson.Members(body) {
		if rawjson.KindOf(value) != rawjson.KindStub {
			continue
		}
		before, after, _ := bytes.Cut(rest, value)
		rest = after
		if out, err = t.appendLong(append(out, before...), ref, store.ParseStub(value)); err != nil {
			return nil, err
		}
	}
	return append(out, rest...), nil
}

// appendLong appends a value that is kept in pieces.
func (t *tx) appendLong(dst []byte, ref store.Ref, stub store.Stub) ([]byte, error) {
	dst = stub.Quote(dst)
	err := t.Long(ref, stub, 0, func(piece []byte) bool {
		dst = append(dst, piece...)
		return true
	})
	return stub.Quote(dst), err
}
