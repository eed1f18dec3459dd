package sqlgen

import (
	"slices"

	"pdpp"
)

// ForGet compiles a source whose records are looked up by id.
func ForGet(d Dialect, src Source) *Query {
	return &Query{d: d, src: src, terms: analyze(src.Source, src.FieldID), driver: walkOrder, sorted: true}
}

// Get selects the record with an id, as List does.
func (q *Query) Get(id pdpp.RecordID) Statement {
	b := builder{d: q.d}
	b.add(`SELECT r.record, r.id, r.emitted_at, r.body, r.order_key FROM records r WHERE r.subject = ? AND r.binding = ? AND r.id = ?`,
		q.src.Subject, q.src.Binding, string(id))
	q.terms.order.where(&b, "r.order_key")
	q.residual(&b)
	return b.statement()
}

// Lists reports whether the grant's resources, if it has any, have an id.
func (q *Query) Lists(id pdpp.RecordID) bool {
	return q.terms.resources == nil || slices.Contains(q.terms.resources, id)
}

// Discreet reports that a time constraint hides records of the binding. A record is
// then looked up with Near and Shown in place of Get, whether it is there or not: the
// time of an answer must not tell a hidden record from a missing one (REC-30).
func (q *Query) Discreet() bool { return q.src.Time != nil }

// Near selects the numbers of two records of the binding: of the one with an id or
// else the next one, and of the first one, which stands in for a missing next.
func (q *Query) Near(id pdpp.RecordID) Statement {
	records := `(SELECT r.record FROM records r` + q.d.Using("records_by_id") + ` WHERE r.binding = ?`
	b := builder{d: q.d}
	b.add(`SELECT `+records+` AND r.id >= ? ORDER BY r.id LIMIT 1)`, q.src.Binding, string(id))
	b.add(`, `+records+` ORDER BY r.id LIMIT 1)`, q.src.Binding)
	return b.statement()
}

// Shown selects the record with a number, as Get does, but without its body unless it
// has the id and is visible.
func (q *Query) Shown(record int64, id pdpp.RecordID) Statement {
	b := builder{d: q.d}
	b.add(`SELECT r.record, r.id, r.emitted_at, CASE WHEN r.subject = ?`, q.src.Subject)
	q.terms.order.where(&b, "r.order_key")
	q.residual(&b)
	b.add(` AND r.id = ? THEN r.body END, r.order_key FROM records r WHERE r.record = ?`, string(id), record)
	return b.statement()
}

// AskedID is the id that the conditions ask for, and the source without them; false
// when they ask for none.
func AskedID(src Source) (pdpp.RecordID, Source, bool) {
	t := analyze(src.Source, src.FieldID)
	src.Where = nil
	return pdpp.RecordID(t.id), src, t.hasID && !t.none
}
