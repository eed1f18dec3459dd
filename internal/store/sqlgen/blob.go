package sqlgen

import (
	"pdpp"
	"pdpp/internal/store"
)

// Referring selects, as List does, the visible records of a source that have the
// token of a blob in one of its fields; false when no record can be visible. The
// way is by the token: it is in the few records that refer to this very content,
// which whoever asks has to know already.
func Referring(d Dialect, src Source, field *pdpp.Field, id pdpp.BlobID) (Statement, bool) {
	q := ForGet(d, src)
	if q.Empty() {
		return Statement{}, false
	}
	b := builder{d: d}
	from, where, record := d.Tokens()
	b.add(`SELECT r.record, r.id, r.emitted_at, r.body, r.order_key FROM ` + from + ` JOIN records r ON r.record = ` + record)
	b.add(` WHERE `+where+` AND r.subject = ? AND r.binding = ?`, store.BlobToken(src.FieldID(field), id), src.Subject, src.Binding)
	q.terms.order.where(&b, "r.order_key")
	q.residual(&b)
	return b.statement(), true
}

// Referred asks whether any record has the token of a blob in a field.
func Referred(d Dialect, field int64, id pdpp.BlobID) Statement {
	b := builder{d: d}
	from, where, _ := d.Tokens()
	b.add(`SELECT 1 FROM `+from+` WHERE `+where+` LIMIT 1`, store.BlobToken(field, id))
	return b.statement()
}
