package sqlgen

// The statements here read the change log. Each begins with the columns of a step:
// the number of a change, the number of the same record's next change, whether the
// change was a deletion, whether the record existed before, its consent time then,
// and the names of the changed fields. Where last holds, there is no next change.
func (b *builder) step(last string) {
	b.add(`SELECT c.seq, CASE WHEN ` + last + ` THEN NULL ELSE (SELECT min(n.seq) FROM changes n` + b.d.IndexHint("changes_by_record") +
		` WHERE n.binding = c.binding AND n.id = c.id AND n.seq > c.seq) END, c.deleted, c.existed, c.before_time, c.fields`)
}

// Changes selects the changes of a source's records after one number up to another,
// in their order: the step, the record's id, when the change was emitted and
// committed; and, when it is the last change of a record that is visible now, the
// record's number, emitted_at and body. Rows after the first limit may be left out. q
// is compiled by ForGet.
func (q *Query) Changes(after, until int64, limit int) Statement {
	b := builder{d: q.d}
	b.step("r.record IS NOT NULL")
	b.add(`, c.id, c.emitted_at, c.committed_at, r.record, r.emitted_at, r.body FROM `)
	if q.conds.resources == nil {
		b.add(`changes c`)
		q.visible(&b)
		b.add(` WHERE c.subject = ? AND c.binding = ? AND c.seq > ? AND c.seq <= ? ORDER BY c.seq`,
			q.src.Subject, q.src.Binding, after, until)
		return b.statement()
	}
	// Only changes of the listed records are read, so that the time of an answer
	// reveals nothing about others. Their numbers are sorted, not their bodies.
	b.add(`(SELECT m.seq AS number FROM changes m`+q.d.IndexHint("changes_by_record")+` WHERE m.binding = ?`, q.src.Binding)
	q.listed(&b, "m.id")
	b.add(` AND m.seq > ? AND m.seq <= ? ORDER BY m.seq LIMIT ?) k CROSS JOIN changes c`, after, until, limit)
	q.visible(&b)
	b.add(` WHERE c.subject = ? AND c.binding = ? AND c.seq = k.number ORDER BY k.number`, q.src.Subject, q.src.Binding)
	return b.statement()
}

// visible joins the record that a change wrote, if it is visible now.
func (q *Query) visible(b *builder) {
	b.add(` LEFT JOIN records r ON r.record = c.record AND r.change = c.seq AND r.subject = ? AND r.binding = ?`,
		q.src.Subject, q.src.Binding)
	q.conds.order.where(b, "r.order_key")
	q.residual(b)
}

// Step selects the step of one change.
func (q *Query) Step(number int64) Statement {
	b := builder{d: q.d}
	b.step("FALSE")
	b.add(` FROM changes c WHERE c.subject = ? AND c.binding = ? AND c.seq = ?`, q.src.Subject, q.src.Binding, number)
	return b.statement()
}

// FirstStep selects the step of a record's first change after a number.
func (q *Query) FirstStep(id string, after int64) Statement {
	b := builder{d: q.d}
	b.step("FALSE")
	b.add(` FROM changes c WHERE c.subject = ? AND c.binding = ? AND c.seq = (SELECT min(f.seq) FROM changes f`+q.d.IndexHint("changes_by_record")+
		` WHERE f.binding = ? AND f.id = ? AND f.seq > ?)`, q.src.Subject, q.src.Binding, q.src.Binding, id, after)
	return b.statement()
}

// LogStart selects where the log of the source starts: the last change that was
// pruned, and the generation in which the consent time became another field.
func (q *Query) LogStart() Statement {
	return statement(q.d, `SELECT pruned_seq, retimed FROM bindings WHERE subject = ? AND binding = ?`, q.src.Subject, q.src.Binding)
}
