package sqlite

import (
	"time"

	"pdpp/internal/store"
	"pdpp/internal/store/sqlite/engine"
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
