package sqlite

import (
	"time"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/store/sqlite/engine"
)

// Horizon implements store.Changes.
func (t *tx) Horizon(subject pdpp.SubjectID) (m query.Mark, err error) {
	if m.Number, err = queryInt(t.conn, `SELECT change_seq FROM subjects WHERE subject_id = ?`, string(subject)); err != nil {
		return m, err
	}
	m.Generation, err = t.Generation()
	return m, err
}

// Prune implements store.ChangesWriter.
func (t *tx) Prune(before time.Time, limit int) (int64, error) {
	bindings, err := all(t.conn, func(s *engine.Stmt) int64 { return s.Int(0) }, `SELECT binding FROM bindings`)
	if err != nil {
		return 0, err
	}
	var total int64
	for _, binding := range bindings {
		if total == int64(limit) {
			break
		}
		n, err := t.prune(binding, millis(before), limit-int(total))
		if err != nil {
			return total, err
		}
		total += n
	}
	return total, nil
}

// prune removes the changes of a binding that precede the first recent one, even if the
// clock was set back in between.
func (t *tx) prune(binding, before int64, limit int) (int64, error) {
	last, err := queryInt(t.conn, `WITH oldest AS (SELECT seq, committed_at FROM changes WHERE binding = ? ORDER BY seq LIMIT ?)
		SELECT max(seq) FROM oldest o WHERE NOT EXISTS
			(SELECT 1 FROM oldest young WHERE young.committed_at >= ? AND young.seq <= o.seq)`, binding, limit, before)
	if err != nil || last == 0 {
		return 0, err
	}
	if err := t.conn.Exec(`DELETE FROM changes WHERE binding = ? AND seq <= ?`, binding, last); err != nil {
		return 0, err
	}
	n := int64(t.conn.Changes())
	if n == 0 {
		return 0, nil
	}
	t.erased = true
	return n, t.conn.Exec(`UPDATE bindings SET pruned_seq = ? WHERE binding = ?`, last, binding)
}
