package sqlgen

import (
	"pdpp"
	"pdpp/internal/store"
)

// Referring selects, with the columns of List, the visible records of a source that
// have the token of a blob in one of its fields; false when no record can be visible.
// The token drives the query: only records that refer to this content have it, and a
// caller who has its hash has the content.
func Referring(d Dialect, src Source, field *pdpp.Field, id pdpp.BlobID) (Statement, bool) {
	q := ForGet(d, src)
	if q.Empty() {
		return Statement{}, false
	}
	b := builder{d: d}
	j := d.Token()
	b.add(`SELECT r.record, r.id, r.emitted_at, r.body, r.order_key FROM ` + j.From + ` JOIN records r ON r.record = ` + j.Record)
	b.add(` WHERE `+j.Where+` AND r.subject = ? AND r.binding = ?`, store.BlobToken(src.FieldID(field), id), src.Subject, src.Binding)
	q.conds.order.where(&b, "r.order_key")
	q.residual(&b)
	return b.statement(), true
}

// Referred selects a row when any record has the token of a blob in a field.
func Referred(d Dialect, field int64, id pdpp.BlobID) Statement {
	j := d.Token()
	return statement(d, `SELECT 1 FROM `+j.From+` WHERE `+j.Where+` LIMIT 1`, store.BlobToken(field, id))
}
