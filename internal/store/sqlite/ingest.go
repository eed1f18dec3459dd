package sqlite

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"pdpp"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlite/engine"
)

// The statements that write records.
const (
	findRecord   = `SELECT record, order_key, consent_time, body, layout FROM records WHERE binding = ? AND id = ?`
	insertRecord = `INSERT INTO records (record, subject, binding, id, emitted_at, key_in_data, order_key, consent_time, term_counts, body, change, layout)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	deleteRecord = `DELETE FROM records WHERE record = ?`
	insertIndex  = `INSERT INTO field_index (subject, field, value, order_key, record) VALUES (?, ?, ?, ?, ?)`
	deleteIndex  = `DELETE FROM field_index WHERE field = ? AND value = ? AND order_key = ? AND record = ?`
	insertValue  = `INSERT INTO field_values (subject, record, field, value) VALUES (?, ?, ?, ?)`
	deleteValues = `DELETE FROM field_values WHERE record = ?`
	insertTerms  = `INSERT INTO search (rowid, terms) VALUES (?, ?)`
	deleteTerms  = `INSERT INTO search (search, rowid, terms) VALUES ('delete', ?, ?)`
	insertPiece  = `INSERT INTO pieces (subject, record, ordinal, piece, start, raw) VALUES (?, ?, ?, ?, ?, ?)`
	deletePieces = `DELETE FROM pieces WHERE record = ?`
	insertChange = `INSERT INTO changes (subject, seq, binding, id, deleted, existed, fields, before_time, emitted_at, committed_at, record)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	topRecord = `SELECT max(record) FROM records WHERE record < ?`
)

// writer applies documents to one binding within a transaction.
type writer struct {
	t          *tx
	b          *store.Binding
	now        int64
	seq        int64 // last change number taken
	countDelta int64 // change of the record count

	stmts       map[string]*engine.Stmt
	searchForms map[string]store.SearchForm // how fields are represented in the search text

	layout      int64                                 // the number of the layout records are written under
	formerTerms map[int64]map[string]store.SearchForm // of former layouts, by their number

	removals int // records whose terms were removed

	pending []indexEntry       // not yet written
	fresh   map[int64]struct{} // the records of pending

	lastSlot   int64 // millisecond of the last record number
	lastRecord int64
}

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

func (t *tx) newWriter(b *store.Binding, now time.Time) (*writer, error) {
	layouts, err := queryInt(t.conn, `SELECT 1 + layouts FROM bindings WHERE layout = ? AND subject = ? AND binding = ?`, b.Layout, b.Owner, b.ID)
	if err != nil {
		return nil, err
	}
	if layouts == 0 {
		return nil, store.ErrStale
	}
	seq, err := queryInt(t.conn, `SELECT change_seq FROM subjects WHERE subject = ?`, b.Owner)
	if err != nil {
		return nil, err
	}
	forms, err := t.searchForms(b.ID)
	return &writer{
		t: t, b: b, now: millis(now), seq: seq, searchForms: forms,
		layout: layouts - 1, formerTerms: map[int64]map[string]store.SearchForm{},
		stmts: map[string]*engine.Stmt{}, fresh: map[int64]struct{}{},
	}, err
}

// indexEntry is a row of field_index.
type indexEntry struct {
	store.FieldKey
	order  []byte
	record int64
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

// finish writes the pending index entries, the marks and the counters.
func (w *writer) finish() error {
	if err := w.flush(); err != nil {
		return err
	}
	if err := w.noteMarks(); err != nil {
		return err
	}
	if err := w.t.conn.Exec(`UPDATE subjects SET change_seq = ? WHERE subject = ?`, w.seq, w.b.Owner); err != nil {
		return err
	}
	return w.t.conn.Exec(`UPDATE bindings SET record_count = record_count + ?, last_ingest = ? WHERE binding = ?`,
		w.countDelta, w.now, w.b.ID)
}

func (w *writer) close() {
	for _, s := range w.stmts {
		s.Close()
	}
}

// stmt returns the writer's own prepared statement for a text.
func (w *writer) stmt(sql string) (*engine.Stmt, error) {
	if s := w.stmts[sql]; s != nil {
		return s, nil
	}
	s, err := w.t.conn.Prepare(sql)
	if err == nil {
		w.stmts[sql] = s
	}
	return s, err
}

// run executes a statement of the writer with its arguments.
func (w *writer) run(sql string, args ...any) error {
	s, err := w.stmt(sql)
	if err != nil {
		return err
	}
	for i, arg := range args {
		if err := s.Bind(i+1, arg); err != nil {
			return err
		}
	}
	return s.Run()
}

// stored is a record before a document is applied.
type stored struct {
	record int64
	order  []byte
	time   []byte
	body   []byte
	layout int64
}

func (w *writer) find(id pdpp.RecordID) (*stored, error) {
	s, err := w.stmt(findRecord)
	if err != nil {
		return nil, err
	}
	defer s.Reset()
	if err := s.BindInt(1, w.b.ID); err != nil {
		return nil, err
	}
	if err := s.BindText(2, string(id)); err != nil {
		return nil, err
	}
	row, err := s.Step()
	if err != nil || !row {
		return nil, err
	}
	return &stored{
		record: s.Int(0), order: bytes.Clone(s.Bytes(1)),
		time: bytes.Clone(s.Bytes(2)), body: bytes.Clone(s.Bytes(3)), layout: s.Int(4),
	}, nil
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
	if old != nil && !d.Delete && bytes.Equal(old.body, d.Body) {
		return store.Unchanged, nil
	}
	if old != nil && old.layout != w.layout { // what follows needs the current layout
		if err := w.relayoutRecord(d.ID, old); err != nil {
			return 0, err
		}
		if old, err = w.find(d.ID); err != nil {
			return 0, err
		}
	}
	switch {
	case d.Delete && old == nil:
		return store.Absent, nil
	case d.Delete:
		if err := w.remove(old, d.ID); err != nil {
			return 0, err
		}
		w.countDelta--
		return store.Deleted, w.change(d, old, nil, nil)
	}
	var fields []string
	if old == nil {
		w.countDelta++
	} else {
		fields = store.ChangedFields(old.body, d.Body)
		if err := w.remove(old, d.ID); err != nil {
			return 0, err
		}
	}
	record, err := w.insert(d)
	if err != nil {
		return 0, err
	}
	return store.Stored, w.change(d, old, fields, record)
}

// change logs that a record changed (REC-32). record is its number now, nil after a
// delete.
func (w *writer) change(d *store.Document, old *stored, fields []string, record any) error {
	w.seq++
	names := "[]"
	if len(fields) > 0 {
		text, err := json.Marshal(fields)
		if err != nil {
			return err
		}
		names = string(text)
	}
	var before any
	if old != nil && old.time != nil {
		before = old.time
	}
	return w.run(insertChange, w.b.Owner, w.seq, w.b.ID, string(d.ID), d.Delete, old != nil, names, before,
		millis(d.EmittedAt), w.now, record)
}

// insert writes a record with its pieces and index entries. The caller must call change
// next, which uses the change number that insert has stored.
func (w *writer) insert(d *store.Document) (record int64, err error) {
	if record, err = w.number(millis(d.EmittedAt)); err != nil {
		return 0, err
	}
	var consent any
	if d.ConsentTime != nil {
		consent = d.ConsentTime
	}
	err = w.run(insertRecord, record, w.b.Owner, w.b.ID, string(d.ID), millis(d.EmittedAt), d.KeyInData, d.Order, consent, []byte(d.Counts), d.Body, w.seq+1, w.layout)
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
	return record, w.index(record, d)
}

// index writes the entries and the terms by which a record is found.
func (w *writer) index(record int64, d *store.Document) error {
	if err := w.indexEntries(record, d); err != nil || len(d.Search) == 0 {
		return err
	}
	return w.run(insertTerms, record, string(d.Search))
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

// remove deletes a record with everything that was derived from it.
func (w *writer) remove(old *stored, id pdpp.RecordID) error {
	w.t.erased = true
	w.t.noteFreed(old.record)
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
	if len(w.searchForms) > 0 {
		data, err := w.t.Whole(store.Ref(old.record), old.body)
		if err != nil {
			return err
		}
		if terms := store.Terms(w.searchForms, data); len(terms) > 0 {
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

// removeTerms removes a record's terms from the search index, which does not store them.
func (w *writer) removeTerms(record int64, terms []byte) error {
	if w.removals == 0 {
		marks, err := w.t.Meta(markedTerms)
		if err != nil {
			return err
		}
		if marks != nil {
			w.markTerms()
		}
	}
	if w.removals++; w.removals == secureDeletes+1 {
		if err := w.run(secureDelete, 0); err != nil {
			return err
		}
	}
	return w.run(deleteTerms, record, string(terms))
}

// secureDeletes is the number of records per transaction whose terms are removed from the
// index at once. Each removal reads all entries of the same terms, so the terms of
// further records are only marked as deleted, and Tidy removes them later.
const secureDeletes = 20

const secureDelete = `INSERT INTO search (search, rank) VALUES ('secure-delete', ?)`

// markTerms makes removeTerms mark terms from the first record on.
func (w *writer) markTerms() { w.removals = secureDeletes }

// noteMarks stores that terms were only marked as deleted. Until Tidy has removed the
// marks, terms of further records are marked as well, because a secure delete must not
// meet a mark.
func (w *writer) noteMarks() error {
	if w.removals <= secureDeletes {
		return nil
	}
	w.removals = 0
	return w.t.PutMeta(markedTerms, []byte(marksNew))
}

// Record numbers are the emitted_at in milliseconds and a counter within it.
const counterBits = 20

// number returns the next record number for an emitted_at. If a millisecond has no free
// number, it takes one of the next; only the order among such records is then not exact.
func (w *writer) number(ms int64) (int64, error) {
	const farthest = 1<<42 - 1 // 139 years before and after 1970; other times are clamped
	ms = min(max(ms, -farthest), farthest)
	if next := w.t.unused(w.lastRecord + 1); ms == w.lastSlot && w.lastRecord != 0 && next>>counterBits == ms {
		w.lastRecord = next
		return next, nil
	}
	w.lastSlot = ms
	for ; ; ms++ {
		top, err := w.top((ms + 1) << counterBits)
		if err != nil {
			return 0, err
		}
		if w.lastRecord = w.t.unused(max(ms<<counterBits, top+1)); w.lastRecord>>counterBits == ms {
			return w.lastRecord, nil
		}
	}
}

// noteFreed notes that a record number became free. This transaction must not use it
// again: if the search index marks a term of a record as deleted and adds the same term
// in one transaction, it keeps the mark, and a later secure delete of the term damages
// the index.
func (t *tx) noteFreed(record int64) {
	if t.freed == nil {
		t.freed = map[int64]struct{}{}
	}
	t.freed[record] = struct{}{}
}

// unused returns the first number from record on that this transaction did not free.
func (t *tx) unused(record int64) int64 {
	for {
		if _, ok := t.freed[record]; !ok {
			return record
		}
		record++
	}
}

// top returns the greatest record number below a limit.
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
		return -1 << 62, nil
	}
	return s.Int(0), nil
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

// markIfMany makes removeTerms mark terms when the binding has more than a few records.
func (w *writer) markIfMany() error {
	n, err := queryInt(w.t.conn, `SELECT record_count FROM bindings WHERE binding = ?`, w.b.ID)
	if err == nil && n > secureDeletes {
		w.markTerms()
	}
	return err
}

// someIDs reads up to n record ids of a binding after one, of records that have not
// changed after change upTo.
func (t *tx) someIDs(binding int64, after pdpp.RecordID, upTo int64, n int) ([]pdpp.RecordID, error) {
	return all(t.conn, func(s *engine.Stmt) pdpp.RecordID { return pdpp.RecordID(s.Text(0)) },
		`SELECT id FROM records WHERE binding = ? AND id > ? AND change <= ? ORDER BY id LIMIT ?`, binding, string(after), upTo, n)
}
