package sqlread

import (
	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/rawjson"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlgen"
)

// Changed implements store.Changes.
func (r *Reader) Changed(q query.Changes, visit func(*store.Change) (bool, error)) (store.Walk, error) {
	walk := store.Walk{After: q.After}
	cursors, err := r.changeCursors(q)
	if err != nil {
		return walk, err
	}
	looked := 0
	earlier := func(a, b *changeCursor) bool { return a.cur.number < b.cur.number }
	walk.More, err = merge(cursors, earlier, func(c *changeCursor) (bool, error) {
		if looked == q.Scan {
			return false, nil
		}
		looked++
		taken, err := c.offer(q, visit)
		if err == nil && taken {
			walk.After = c.cur.number
		}
		return taken, err
	})
	return walk, err
}

// step is one change of a record, with what matters to a client that reads one source.
type step struct {
	number  int64
	next    int64 // the record's next change; 0 when there is none
	deleted bool
	before  bool // the record was visible before
	shown   bool // a shown field changed
}

// changeCursor reads the changes of one source.
type changeCursor struct {
	r      *Reader
	query  *sqlgen.Query
	src    query.Source
	shown  query.Projection
	source int // index into the query's sources

	rows Rows
	cur  step
	item store.Change

	record Rows // the row of the record, if it was written by a later change than the current one
}

func (r *Reader) changeCursors(q query.Changes) (out []*changeCursor, err error) {
	defer func() {
		if err != nil {
			closeAll(out)
		}
	}()
	for i, src := range q.Sources {
		c, err := r.changeCursor(q.Subject, src)
		if err != nil {
			return out, err
		}
		if c == nil {
			continue
		}
		if err := c.checkLog(q.Since); err != nil {
			return out, err
		}
		c.source, c.shown = i, q.Shown[i]
		if c.rows, err = r.conn.Query(c.query.Changes(q.After, q.Until, q.Scan+1)); err != nil {
			return out, err
		}
		out = append(out, c)
	}
	return out, nil
}

// changeCursor returns a cursor that has not run its statement; nil when the source
// cannot have a visible record.
func (r *Reader) changeCursor(subject pdpp.SubjectID, src query.Source) (*changeCursor, error) {
	s, ok, err := r.Source(subject, src)
	if err != nil || !ok {
		return nil, err
	}
	return &changeCursor{r: r, query: sqlgen.ForGet(r.dialect, s), src: src}, nil
}

// checkLog returns ErrPruned unless the log contains all changes after a mark and from it
// one can tell which records were visible then. The log stores only the values of the
// consent time field, so it cannot tell this for a grant that is limited by another time
// field, as happens after a new manifest. The check reads only declarations, so that it
// reveals nothing about records.
func (c *changeCursor) checkLog(since query.Mark) error {
	return c.r.first(c.query.LogStart(), func(rows Rows) error {
		pruned, retimed := rows.Int(0), rows.Int(1)
		if since.Number < pruned || c.src.Time != nil && (retimed > since.Generation || !c.hasTimes()) {
			return store.ErrPruned
		}
		return nil
	})
}

// hasTimes reports whether the log has the times by which the grant is limited.
func (c *changeCursor) hasTimes() bool {
	return c.src.Time == nil || c.src.Time.Field == c.src.Stream.ConsentTimeField
}

func (c *changeCursor) close() {
	c.closeRecord()
	c.rows.Close()
}

func (c *changeCursor) closeRecord() {
	if c.record != nil {
		c.record.Close()
		c.record = nil
	}
}

func (c *changeCursor) next() (bool, error) {
	c.closeRecord()
	row, err := c.rows.Step()
	if row {
		c.cur = c.read(c.rows)
	}
	return row, err
}

func (c *changeCursor) read(rows Rows) step {
	st := step{number: rows.Int(0), next: rows.Int(1), deleted: rows.Int(2) != 0, before: rows.Int(3) != 0}
	if st.before && c.src.Time != nil {
		st.before = !rows.IsNull(4) && c.src.SeesTime(rows.Bytes(4))
	}
	st.shown = c.shown.All || c.shows(rows.Bytes(5))
	return st
}

// shows reports whether one of the named fields is shown.
func (c *changeCursor) shows(names []byte) bool {
	for name := range rawjson.Elements(names) {
		if text, ok := rawjson.String(name); ok && c.shown.Shows(text) {
			return true
		}
	}
	return false
}

// step reads the step that a statement selects; false when there is none.
func (c *changeCursor) step(s sqlgen.Statement) (st step, found bool, err error) {
	err = c.r.first(s, func(rows Rows) error {
		st, found = c.read(rows), true
		return nil
	})
	return st, found, err
}

// Columns of the cursor's statement after those of the step.
const (
	changeID = 6 + iota
	changeEmitted
	changeCommitted
	changeRecord
	changeRecordEmitted
	changeBody
)

// find reads the record of the current change, if it is visible now: from the same
// row when this is its last change, else by its id.
func (c *changeCursor) find() (visible bool, err error) {
	rec := &c.item.Record
	switch {
	case !c.rows.IsNull(changeRecord):
		rec.Ref, rec.EmittedAt, rec.Body = store.Ref(c.rows.Int(changeRecord)), fromMillis(c.rows.Int(changeRecordEmitted)), c.rows.Bytes(changeBody)
		return true, nil
	case c.cur.next == 0:
		return false, nil
	}
	if c.record == nil {
		if c.record, err = c.r.conn.Query(c.query.Get(pdpp.RecordID(c.rows.Bytes(changeID)))); err != nil {
			return false, err
		}
		if visible, err = c.record.Step(); err != nil || !visible {
			c.closeRecord()
			return false, err
		}
	}
	rec.Ref, rec.EmittedAt, rec.Body = store.Ref(c.record.Int(0)), fromMillis(c.record.Int(2)), c.record.Bytes(3)
	return true, nil
}

// offer calls visit with the current change if it is the last one of its record that has
// to be sent.
func (c *changeCursor) offer(q query.Changes, visit func(*store.Change) (bool, error)) (taken bool, err error) {
	last, visible, err := c.reported(q.Until)
	if err != nil || !last {
		return err == nil, err
	}
	c.item = store.Change{Record: store.Record{Source: c.source, ID: c.rows.Bytes(changeID)}}
	if visible {
		// A missing record was changed after the horizon: the next session reports it.
		if found, err := c.find(); err != nil || !found {
			return err == nil, err
		}
		return visit(&c.item)
	}
	first, _, err := c.step(c.query.FirstStep(string(c.item.ID), q.Since.Number))
	if err != nil || !first.before {
		return err == nil, err // the record was added and removed since the bookmark
	}
	c.item.EmittedAt = fromMillis(c.rows.Int(changeCommitted))
	c.item.Removed = store.RemovedOutOfScope
	if c.cur.deleted {
		c.item.Removed, c.item.DeletedAt = store.RemovedDeleted, fromMillis(c.rows.Int(changeEmitted))
	}
	return visit(&c.item)
}

// reported returns whether the current change is the last change of its record up to the
// horizon that has to be sent, and whether the record is visible after it. The loop reads
// the later changes of the record until one of them has to be sent.
func (c *changeCursor) reported(until int64) (last, visible bool, err error) {
	later := c.cur.next != 0 && c.cur.next <= until
	if later && c.shown.All && c.src.Time == nil {
		return false, false, nil // the later change will be reported in any case
	}
	cur := c.cur
	for {
		var next step
		if later || cur.next != 0 && c.src.Time != nil {
			if next, _, err = c.step(c.query.Step(cur.next)); err != nil {
				return false, false, err
			}
		}
		after, err := c.visibleAfter(cur, next)
		if err != nil {
			return false, false, err
		}
		reports := cur.before != after || cur.before && cur.shown
		switch first := cur.number == c.cur.number; {
		case first && !reports, !first && reports:
			return false, false, nil
		case first:
			visible = after
		}
		if !later {
			return true, visible, nil
		}
		cur = next
		later = cur.next != 0 && cur.next <= until
	}
}

// visibleAfter reports whether the record was visible after a change. The next change
// says so (before); after the last change, the record itself does.
func (c *changeCursor) visibleAfter(cur, next step) (bool, error) {
	switch {
	case cur.deleted || c.src.Time == nil:
		return !cur.deleted, nil
	case cur.next != 0:
		return next.before, nil
	}
	return c.find()
}
