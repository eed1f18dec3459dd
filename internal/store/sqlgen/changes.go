package sqlgen

// The statements here read the change log. Each begins with the columns of a step:
// the number of a change, the number of the same record's next change, whether the
// change was a deletion, whether the record existed before, its consent time then,
// and the names of the changed fields.
func (b *builder) step() {
	b.add(`SELECT c.seq, (SELECT min(n.seq) FROM changes n` + b.d.Using("changes_by_record") +
		` WHERE n.binding = c.binding AND n.id = c.id AND n.seq > c.seq), c.deleted, c.existed, c.before_time, c.fields`)
}

// Changes selects the changes of a source's records after one number up to another,
// at most so many, in their order: the step, the record's id, when the change was
// emitted and committed; and of a record that is visible now its number, emitted_at
// and body. q is ForGet's.
func (q *Query) Changes(after, until int64, most int) Statement {
	b := builder{d: q.d}
	b.step()
	b.add(`, c.id, c.emitted_at, c.committed_at, r.record, r.emitted_at, r.body FROM `)
	if q.terms.resources == nil {
		b.add(`changes c` + q.d.Using("changes_by_binding"))
		q.visible(&b)
		b.add(` WHERE c.subject = ? AND c.binding = ? AND c.seq > ? AND c.seq <= ? ORDER BY c.seq LIMIT ?`,
			q.src.Subject, q.src.Binding, after, until, most)
		return b.statement()
	}
	// Only changes of the listed records are looked at: the work tells nothing
	// about others.
	b.add(`(SELECT m.seq AS number FROM changes m`+q.d.Using("changes_by_record")+` WHERE m.subject = ? AND m.binding = ?`,
		q.src.Subject, q.src.Binding)
	q.listed(&b, "m.id")
	b.add(` AND m.seq > ? AND m.seq <= ? ORDER BY m.seq LIMIT ?) k JOIN changes c ON c.subject = ? AND c.seq = k.number`,
		after, until, most, q.src.Subject)
	q.visible(&b)
	b.add(` ORDER BY c.seq`)
	return b.statement()
}

// visible joins the record of a change as far as it is visible now.
func (q *Query) visible(b *builder) {
	b.add(` LEFT JOIN records r`+q.d.Using("records_by_id")+` ON r.subject = ? AND r.binding = ? AND r.id = c.id`,
		q.src.Subject, q.src.Binding)
	q.terms.order.where(b, "r.order_key")
	q.residual(b)
}

// Step selects the step of one change.
func (q *Query) Step(number int64) Statement {
	b := builder{d: q.d}
	b.step()
	b.add(` FROM changes c WHERE c.subject = ? AND c.seq = ?`, q.src.Subject, number)
	return b.statement()
}

// FirstStep selects the step of a record's first change after a number.
func (q *Query) FirstStep(id string, after int64) Statement {
	b := builder{d: q.d}
	b.step()
	b.add(` FROM changes c WHERE c.subject = ? AND c.seq = (SELECT min(f.seq) FROM changes f`+q.d.Using("changes_by_record")+
		` WHERE f.binding = ? AND f.id = ? AND f.seq > ?)`, q.src.Subject, q.src.Binding, id, after)
	return b.statement()
}

// Retimed selects the generation in which the stream's consent time became another
// field.
func (q *Query) Retimed() Statement {
	b := builder{d: q.d}
	b.add(`SELECT retimed FROM bindings WHERE subject = ? AND binding = ?`, q.src.Subject, q.src.Binding)
	return b.statement()
}
