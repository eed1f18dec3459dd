package sqlread

import (
	"bytes"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/store"
)

// Snapshot implements store.Changes.
func (r *Reader) Snapshot(q query.List, until int64, scan int, visit func(*store.Record) (bool, error)) (at *query.Position, more bool, err error) {
	q.Order = query.Order{By: query.ByID}
	now, err := r.conn.Horizon(q.Subject)
	if err != nil {
		return nil, false, err
	}
	part := snapshotPart{r: r, until: until, unchanged: now.Number == until, visit: visit}
	for looked := 0; looked < scan; looked += part.looked {
		if more, err = part.read(q); err != nil || !part.full {
			return part.at, more, err
		}
		q.After = part.at
	}
	return part.at, true, nil
}

// snapshotPart visits the records of a page that were visible when change number until
// was made.
type snapshotPart struct {
	r         *Reader
	until     int64
	unchanged bool // there was no change since
	visit     func(*store.Record) (bool, error)

	at     *query.Position // of the last record that was visited or skipped
	looked int
	full   bool // the page ended at its limit
}

func (p *snapshotPart) read(q query.List) (more bool, err error) {
	p.looked, p.full = 0, false
	return p.r.List(q, func(rec *store.Record) (bool, error) {
		if p.full = !p.unchanged && p.looked == q.Limit; p.full {
			return false, nil
		}
		p.looked++
		src := q.Sources[rec.Source]
		was, taken := true, true
		if !p.unchanged {
			was, err = p.r.wasVisible(q.Subject, src, rec.ID, p.until)
		}
		if err == nil && was {
			taken, err = p.visit(rec)
		}
		if err == nil && taken {
			p.at = &query.Position{Connection: src.Connection, Key: bytes.Clone(rec.Order)}
		}
		return taken, err
	})
}

// wasVisible reports whether a record that is visible now was visible at a change. If the
// log does not have the times, it returns true; clients with such a grant have to start
// from the beginning each time.
func (r *Reader) wasVisible(subject pdpp.SubjectID, src query.Source, id []byte, until int64) (bool, error) {
	c, err := r.changeCursor(subject, src)
	if err != nil || c == nil {
		return false, err
	}
	if !c.hasTimes() {
		return true, nil
	}
	first, changed, err := c.step(c.query.FirstStep(string(id), until))
	return !changed || first.before, err
}
