package sqlgen

import (
	"slices"

	"pdpp"
)

// ForGet compiles a source whose records are looked up by id.
func ForGet(d Dialect, src Source) *Query {
	return &Query{d: d, src: src, conds: analyze(src.Source, src.FieldID), driver: walkOrder, sorted: true}
}

// Get selects the record with an id, with the columns of List.
func (q *Query) Get(id pdpp.RecordID) Statement {
	b := builder{d: q.d}
	b.add(`SELECT r.record, r.id, r.emitted_at, r.body, r.order_key FROM records r WHERE r.subject = ? AND r.binding = ? AND r.id = ?`,
		q.src.Subject, q.src.Binding, string(id))
	q.conds.order.where(&b, "r.order_key")
	q.residual(&b)
	return b.statement()
}

// AllowsID reports whether the grant's resources, if it has any, include an id.
func (q *Query) AllowsID(id pdpp.RecordID) bool {
	return q.conds.resources == nil || slices.Contains(q.conds.resources, id)
}

// HidesByTime reports whether a time range hides records of the binding. A record is
// then looked up with Near and Shown in place of Get, whether it exists or not: the
// time of an answer must not distinguish a hidden record from a missing one (REC-30).
func (q *Query) HidesByTime() bool { return q.src.Time != nil }

// Near selects the numbers of two records of the binding: the first whose id is not
// less than the given one, and, for when there is none, the first of all.
func (q *Query) Near(id pdpp.RecordID) Statement {
	records := `(SELECT r.record FROM records r` + q.d.IndexHint("records_by_id") + ` WHERE r.binding = ?`
	b := builder{d: q.d}
	b.add(`SELECT `+records+` AND r.id >= ? ORDER BY r.id LIMIT 1)`, q.src.Binding, string(id))
	b.add(`, `+records+` ORDER BY r.id LIMIT 1)`, q.src.Binding)
	return b.statement()
}

// Shown selects the record with a number, with the columns of Get. The body is NULL
// unless the record has the id and is visible.
func (q *Query) Shown(record int64, id pdpp.RecordID) Statement {
	b := builder{d: q.d}
	b.add(`SELECT r.record, r.id, r.emitted_at, CASE WHEN r.subject = ?`, q.src.Subject)
	q.conds.order.where(&b, "r.order_key")
	q.residual(&b)
	b.add(` AND r.id = ? THEN r.body END, r.order_key FROM records r WHERE r.record = ?`, string(id), record)
	return b.statement()
}

// ConditionID returns the record id that the conditions require, and the source
// without conditions; false when they require none.
func ConditionID(src Source) (pdpp.RecordID, Source, bool) {
	t := analyze(src.Source, src.FieldID)
	src.Where = nil
	return pdpp.RecordID(t.id), src, t.hasID && !t.none
}
