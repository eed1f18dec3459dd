package sqlite

import (
	"bytes"
	"time"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/rawjson"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlgen"
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

// Changed implements store.Changes.
func (t *tx) Changed(q query.Changes, visit func(*store.Change) (bool, error)) (store.Walk, error) {
	walk := store.Walk{After: q.After}
	logs, err := t.logs(q)
	defer func() {
		for _, l := range logs {
			l.close()
		}
	}()
	if err != nil {
		return walk, err
	}
	for looked := 0; ; looked++ {
		l := earliest(logs)
		if l == nil {
			return walk, nil
		}
		if looked == q.Scan {
			walk.More = true
			return walk, nil
		}
		taken, err := l.offer(q, visit)
		if err != nil || !taken {
			walk.More = !taken
			return walk, err
		}
		walk.After = l.cur.number
		if err := l.advance(); err != nil {
			return walk, err
		}
	}
}

// step is a change as one reader sees it.
type step struct {
	number  int64
	next    int64 // the record's next change; 0 when there is none
	deleted bool
	before  bool // the record was visible before
	shown   bool // a shown field changed
}

// log reads the changes of one source.
type log struct {
	t      *tx
	q      *sqlgen.Query
	src    query.Source
	shown  query.Projection
	source int // index into the query's sources

	stmt *engine.Stmt
	cur  step
	live bool // cur is a change
	item store.Change

	record *engine.Stmt // at the record, when another change has made it
}

func (t *tx) logs(q query.Changes) ([]*log, error) {
	var out []*log
	for i, src := range q.Sources {
		l, err := t.log(q.Subject, src)
		if err != nil {
			return out, err
		}
		if l == nil {
			continue
		}
		out = append(out, l)
		if err := l.remembers(q.Since); err != nil {
			return out, err
		}
		l.source, l.shown = i, q.Shown[i]
		s := l.q.Changes(q.After, q.Until, q.Scan+1)
		if l.stmt, err = t.conn.Query(s.SQL, s.Args...); err != nil {
			return out, err
		}
		if err := l.advance(); err != nil {
			return out, err
		}
	}
	return out, nil
}

// log opens the log of a source; nil when it has no binding.
func (t *tx) log(subject pdpp.SubjectID, src query.Source) (*log, error) {
	s, ok, err := t.source(subject, src)
	if err != nil || !ok {
		return nil, err
	}
	return &log{t: t, q: sqlgen.ForGet(dialect{}, s), src: src}, nil
}

// remembers reports whether the log holds all changes after a mark, and tells which
// records were visible then. It knows former consent times alone: a grant that is
// narrowed by another field, since its source was declared anew, cannot be answered
// from it. This looks at declarations only, so that it tells nothing about records.
func (l *log) remembers(since query.Mark) error {
	s := l.q.Memory()
	stmt, err := l.t.conn.Query(s.SQL, s.Args...)
	if err != nil {
		return err
	}
	defer stmt.Close()
	if row, err := stmt.Step(); err != nil || !row {
		return err
	}
	pruned, retimed := stmt.Int(0), stmt.Int(1)
	if since.Number < pruned || l.src.Time != nil && (retimed > since.Generation || !l.knowsTimes()) {
		return store.ErrForgotten
	}
	return nil
}

// knowsTimes reports that the log holds the times by which the grant is narrowed.
func (l *log) knowsTimes() bool {
	return l.src.Time == nil || l.src.Time.Field == l.src.Stream.ConsentTimeField
}

func (l *log) close() {
	l.closeRecord()
	if l.stmt != nil {
		l.stmt.Close()
	}
}

func (l *log) closeRecord() {
	if l.record != nil {
		l.record.Close()
		l.record = nil
	}
}

// advance goes to the source's next change.
func (l *log) advance() (err error) {
	l.closeRecord()
	if l.live, err = l.stmt.Step(); l.live {
		l.cur = l.read(l.stmt)
	}
	return err
}

func (l *log) read(s *engine.Stmt) step {
	st := step{number: s.Int(0), next: s.Int(1), deleted: s.Int(2) != 0, before: s.Int(3) != 0}
	if st.before && l.src.Time != nil {
		st.before = !s.IsNull(4) && l.src.SeesTime(s.Bytes(4))
	}
	st.shown = l.shown.All || l.shows(s.Bytes(5))
	return st
}

// shows reports whether one of the named fields is shown.
func (l *log) shows(names []byte) bool {
	for name := range rawjson.Elements(names) {
		if text, ok := rawjson.String(name); ok && l.shown.Shows(text) {
			return true
		}
	}
	return false
}

// one reads the step that a statement selects; false when there is none.
func (l *log) one(st sqlgen.Statement) (step, bool, error) {
	s, err := l.t.conn.Query(st.SQL, st.Args...)
	if err != nil {
		return step{}, false, err
	}
	defer s.Close()
	row, err := s.Step()
	if err != nil || !row {
		return step{}, false, err
	}
	return l.read(s), true, nil
}

// earliest is the log whose change comes first; nil when all are at their end.
func earliest(logs []*log) *log {
	var first *log
	for _, l := range logs {
		if l.live && (first == nil || l.cur.number < first.cur.number) {
			first = l
		}
	}
	return first
}

// Columns of the log's statement after those of the step.
const (
	logID = 6 + iota
	logEmitted
	logCommitted
	logRecord
	logRecordEmitted
	logBody
)

// find finds the record of the current change, if it is visible now: beside the
// change when that is its last one, else by its id.
func (l *log) find() (visible bool, err error) {
	r := &l.item.Record
	switch {
	case !l.stmt.IsNull(logRecord):
		r.Ref, r.EmittedAt, r.Body = store.Ref(l.stmt.Int(logRecord)), fromMillis(l.stmt.Int(logRecordEmitted)), l.stmt.Bytes(logBody)
		return true, nil
	case l.cur.next == 0:
		return false, nil
	}
	if l.record == nil {
		s := l.q.Get(pdpp.RecordID(l.stmt.Bytes(logID)))
		if l.record, err = l.t.conn.Query(s.SQL, s.Args...); err != nil {
			return false, err
		}
		if visible, err = l.record.Step(); err != nil || !visible {
			l.closeRecord()
			return false, err
		}
	}
	r.Ref, r.EmittedAt, r.Body = store.Ref(l.record.Int(0)), fromMillis(l.record.Int(2)), l.record.Bytes(3)
	return true, nil
}

// offer deals with the current change: it is told when it is the last one of its
// record that is told of.
func (l *log) offer(q query.Changes, visit func(*store.Change) (bool, error)) (taken bool, err error) {
	last, visible, err := l.told(q.Until)
	if err != nil || !last {
		return err == nil, err
	}
	l.item = store.Change{Record: store.Record{Source: l.source, ID: l.stmt.Bytes(logID)}}
	if visible {
		// One that is gone was changed after the horizon: the next session tells.
		if found, err := l.find(); err != nil || !found {
			return err == nil, err
		}
		return visit(&l.item)
	}
	first, _, err := l.one(l.q.FirstStep(string(l.item.ID), q.Since.Number))
	if err != nil || !first.before {
		return err == nil, err // it came and went since the bookmark
	}
	l.item.EmittedAt = fromMillis(l.stmt.Int(logCommitted))
	l.item.Removed = store.RemovedOutOfScope
	if l.cur.deleted {
		l.item.Removed, l.item.DeletedAt = store.RemovedDeleted, fromMillis(l.stmt.Int(logEmitted))
	}
	return visit(&l.item)
}

// told reports whether the current change is the last one up to the horizon that
// the reader is told of, and whether the record is visible after it, which is
// then so up to the horizon.
func (l *log) told(until int64) (last, visible bool, err error) {
	later := l.cur.next != 0 && l.cur.next <= until
	if later && l.shown.All && l.src.Time == nil {
		return false, false, nil // whatever it was, it is told
	}
	cur := l.cur
	for {
		var next step
		if later || cur.next != 0 && l.src.Time != nil {
			if next, _, err = l.one(l.q.Step(cur.next)); err != nil {
				return false, false, err
			}
		}
		after, err := l.after(cur, next)
		if err != nil {
			return false, false, err
		}
		tells := cur.before != after || cur.before && cur.shown
		switch first := cur.number == l.cur.number; {
		case first && !tells, !first && tells:
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

// after reports whether the record was visible after a change: the next one says
// so, and after the last one the record itself.
func (l *log) after(cur, next step) (bool, error) {
	switch {
	case cur.deleted || l.src.Time == nil:
		return !cur.deleted, nil
	case cur.next != 0:
		return next.before, nil
	}
	return l.find()
}

// Snapshot implements store.Changes.
func (t *tx) Snapshot(q query.List, until int64, scan int, visit func(*store.Record) (bool, error)) (at *query.Position, more bool, err error) {
	q.Order = query.Order{By: query.ByID}
	now, err := t.Horizon(q.Subject)
	if err != nil {
		return nil, false, err
	}
	part := snapshotPart{t: t, until: until, unchanged: now.Number == until, visit: visit}
	for looked := 0; looked < scan; looked += part.looked {
		if more, err = part.read(q); err != nil || !part.full {
			return part.at, more, err
		}
		q.After = part.at
	}
	return part.at, true, nil
}

// snapshotPart offers what is left over from the next records that a list gives.
type snapshotPart struct {
	t         *tx
	until     int64
	unchanged bool // nothing happened since
	visit     func(*store.Record) (bool, error)

	at     *query.Position // of the last record that was dealt with
	looked int
	full   bool // there may be more of them, which begin at this position
}

func (p *snapshotPart) read(q query.List) (more bool, err error) {
	p.looked, p.full = 0, false
	return p.t.List(q, func(r *store.Record) (bool, error) {
		if p.full = !p.unchanged && p.looked == q.Limit; p.full {
			return false, nil
		}
		p.looked++
		src := q.Sources[r.Source]
		was, taken := true, true
		if !p.unchanged {
			was, err = p.t.wasVisible(q.Subject, src, r.ID, p.until)
		}
		if err == nil && was {
			taken, err = p.visit(r)
		}
		if err == nil && taken {
			p.at = &query.Position{Connection: src.Connection, Key: bytes.Clone(r.Order)}
		}
		return taken, err
	})
}

// wasVisible reports whether a record that is visible now was so at a change. Where
// the log does not know the times it is taken as visible: a reader of such a grant
// has to start from the beginning each time.
func (t *tx) wasVisible(subject pdpp.SubjectID, src query.Source, id []byte, until int64) (bool, error) {
	l, err := t.log(subject, src)
	if err != nil || l == nil {
		return false, err
	}
	if !l.knowsTimes() {
		return true, nil
	}
	first, changed, err := l.one(l.q.FirstStep(string(id), until))
	return !changed || first.before, err
}

// Prune implements store.ChangesWriter.
func (t *tx) Prune(before time.Time, most int) (int64, error) {
	s, err := t.conn.Query(`SELECT binding FROM bindings`)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	var total int64
	for total < int64(most) {
		row, err := s.Step()
		if err != nil || !row {
			return total, err
		}
		n, err := t.prune(s.Int(0), millis(before), most-int(total))
		if err != nil {
			return total, err
		}
		total += n
	}
	return total, nil
}

// prune removes the oldest changes of a binding up to the first that is young
// enough, whatever the clock did in between.
func (t *tx) prune(binding, before int64, most int) (int64, error) {
	last, err := queryInt(t.conn, `WITH oldest AS (SELECT seq, committed_at FROM changes WHERE binding = ? ORDER BY seq LIMIT ?)
		SELECT max(seq) FROM oldest o WHERE NOT EXISTS
			(SELECT 1 FROM oldest young WHERE young.committed_at >= ? AND young.seq <= o.seq)`, binding, most, before)
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
