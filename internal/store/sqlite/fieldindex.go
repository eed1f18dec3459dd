package sqlite

import (
	"bytes"
	"cmp"
	"slices"

	"pdpp/internal/store"
	"pdpp/internal/store/sqlite/engine"
)

// The statements that write the field index: field_index finds records by a value,
// field_values has the values of a record.
const (
	insertIndex  = `INSERT INTO field_index (subject, field, value, order_key, record) VALUES (?, ?, ?, ?, ?)`
	deleteIndex  = `DELETE FROM field_index WHERE field = ? AND value = ? AND order_key = ? AND record = ?`
	insertValue  = `INSERT INTO field_values (subject, record, field, value) VALUES (?, ?, ?, ?)`
	deleteValues = `DELETE FROM field_values WHERE record = ?`
)

// indexEntry is a row of field_index.
type indexEntry struct {
	store.FieldKey
	order  []byte
	record int64
}

func (w *writer) indexEntries(record int64, d *store.Document) error {
	for _, e := range d.Index {
		w.pending = append(w.pending, indexEntry{e, d.Order, record})
		w.fresh[record] = struct{}{}
		if err := w.run(insertValue, w.b.Owner, record, e.Field, e.Key); err != nil {
			return err
		}
	}
	return nil
}

// flush writes the pending index entries in the order of the index, so that each of its
// pages is visited once.
func (w *writer) flush() error {
	slices.SortFunc(w.pending, func(a, b indexEntry) int {
		return cmp.Or(cmp.Compare(a.Field, b.Field), bytes.Compare(a.Key, b.Key), bytes.Compare(a.order, b.order))
	})
	for _, e := range w.pending {
		if err := w.run(insertIndex, w.b.Owner, e.Field, e.Key, e.order, e.record); err != nil {
			return err
		}
	}
	w.pending = w.pending[:0]
	clear(w.fresh)
	return nil
}

// dropEntries removes all index entries of a record.
func (w *writer) dropEntries(old *stored) error {
	err := each(w.t.conn, func(s *engine.Stmt) error {
		return w.run(deleteIndex, s.Int(0), bytes.Clone(s.Bytes(1)), old.order, old.record)
	}, `SELECT field, value FROM field_values WHERE record = ?`, old.record)
	if err != nil {
		return err
	}
	return w.run(deleteValues, old.record)
}
