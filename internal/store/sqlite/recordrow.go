package sqlite

import (
	"bytes"
	"fmt"
	"math"

	"pdpp"
	"pdpp/internal/store"
)

// The statements that write the rows of records.
const (
	findRecord   = `SELECT record, order_key, consent_time, body, layout FROM records WHERE binding = ? AND id = ?`
	insertRecord = `INSERT INTO records (record, subject, binding, id, emitted_at, key_in_data, order_key, consent_time, term_counts, body, change, layout)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	deleteRecord = `DELETE FROM records WHERE record = ?`
	insertPiece  = `INSERT INTO pieces (subject, record, ordinal, piece, start, raw) VALUES (?, ?, ?, ?, ?, ?)`
	deletePieces = `DELETE FROM pieces WHERE record = ?`
	topRecord    = `SELECT max(record) FROM records WHERE record < ?`
)

// stored is a record before a document is applied.
type stored struct {
	record int64
	order  []byte
	time   []byte
	body   []byte // nil if there is no record
	layout int64
}

// find reads the record of an id. Without a record the result is empty.
func (w *writer) find(id pdpp.RecordID) (stored, error) {
	s, err := w.stmt(findRecord)
	if err != nil {
		return stored{}, err
	}
	defer s.Reset()
	if err := s.BindInt(1, w.b.ID); err != nil {
		return stored{}, err
	}
	if err := s.BindText(2, string(id)); err != nil {
		return stored{}, err
	}
	if row, err := s.Step(); err != nil || !row {
		return stored{}, err
	}
	return stored{
		record: s.Int(0), order: bytes.Clone(s.Bytes(1)),
		time: bytes.Clone(s.Bytes(2)), body: bytes.Clone(s.Bytes(3)), layout: s.Int(4),
	}, nil
}

// insert writes a record with its pieces and index entries. The caller must call change
// next, which uses the change number that insert has stored.
func (w *writer) insert(d *store.Document) (record int64, err error) {
	emitted := millis(d.EmittedAt)
	if record, err = w.t.numbers.Next(emitted, w.top); err != nil {
		return 0, err
	}
	err = w.run(insertRecord, record, w.b.Owner, w.b.ID, string(d.ID), emitted, d.KeyInData, d.Order, orNull(d.ConsentTime),
		[]byte(d.Counts), d.Body, w.seq+1, w.layout)
	if err != nil {
		return 0, fmt.Errorf("insert record: %w", err)
	}
	for _, l := range d.Long {
		for i, p := range l.Pieces {
			if err := w.run(insertPiece, w.b.Owner, record, l.Ordinal, i, p.Start, p.Raw); err != nil {
				return 0, err
			}
		}
	}
	if err := w.indexEntries(record, d); err != nil || len(d.Search) == 0 {
		return record, err
	}
	return record, w.run(insertTerms, record, string(d.Search))
}

// remove deletes a record with everything that was derived from it.
func (w *writer) remove(old *stored, id pdpp.RecordID) error {
	if _, ok := w.fresh[old.record]; ok {
		if err := w.flush(); err != nil {
			return err
		}
	}
	for _, e := range store.FieldKeys(w.b, id, old.body) {
		if err := w.run(deleteIndex, e.Field, e.Key, old.order, old.record); err != nil {
			return err
		}
	}
	return w.removeRow(old, w.searchForms)
}

// removeRow deletes a record with its words, values and pieces.
func (w *writer) removeRow(old *stored, forms map[string]store.SearchForm) error {
	w.t.erased = true
	w.t.numbers.Free(old.record) // see changeTerms
	if len(forms) > 0 {
		data, err := w.t.Whole(store.Ref(old.record), old.body)
		if err != nil {
			return err
		}
		if terms := store.Terms(forms, data); len(terms) > 0 {
			if err := w.removeTerms(old.record, terms); err != nil {
				return err
			}
		}
	}
	for _, sql := range []string{deleteValues, deletePieces, deleteRecord} {
		if err := w.run(sql, old.record); err != nil {
			return err
		}
	}
	return nil
}

// top returns the greatest record number below a limit, or math.MinInt64.
func (w *writer) top(limit int64) (int64, error) {
	s, err := w.stmt(topRecord)
	if err != nil {
		return 0, err
	}
	defer s.Reset()
	if err := s.BindInt(1, limit); err != nil {
		return 0, err
	}
	if _, err := s.Step(); err != nil {
		return 0, err
	}
	if s.IsNull(0) {
		return math.MinInt64, nil
	}
	return s.Int(0), nil
}

// orNull returns a value for a column that is NULL if there is no value.
func orNull(value []byte) any {
	if value == nil {
		return nil
	}
	return value
}
