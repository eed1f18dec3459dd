package sqlite

import "pdpp/internal/store"

// The statements that write the search index. It does not store the terms of a record: a
// delete has to name them.
const (
	insertTerms  = `INSERT INTO search (rowid, terms) VALUES (?, ?)`
	deleteTerms  = `INSERT INTO search (search, rowid, terms) VALUES ('delete', ?, ?)`
	secureDelete = `INSERT INTO search (search, rank) VALUES ('secure-delete', ?)`
)

// changeTerms replaces the terms of a record in the search index. It writes only those
// that differ: if a term of a record number is marked as deleted and added again in one
// transaction, the index keeps the mark, and a later secure delete of the term damages the
// index. For the same reason a transaction does not use a number again that it freed.
func (w *writer) changeTerms(record int64, before, after []byte) error {
	removed, added := store.TermsChange(before, after)
	if len(removed) == 0 && len(added) == 0 {
		return nil
	}
	if len(before) > 0 { // also if no term is removed, because the search index counts records
		if err := w.removeTerms(record, removed); err != nil {
			return err
		}
	}
	if len(after) == 0 {
		return nil
	}
	return w.run(insertTerms, record, string(added))
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

// markIfMany makes removeTerms mark terms when the binding has more than a few records.
func (w *writer) markIfMany() error {
	n, err := queryInt(w.t.conn, `SELECT record_count FROM bindings WHERE binding = ?`, w.b.ID)
	if err == nil && n > secureDeletes {
		w.markTerms()
	}
	return err
}
