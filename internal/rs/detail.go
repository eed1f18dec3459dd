package rs

import (
	"pdpp"
	"pdpp/internal/grant"
	"pdpp/internal/query"
	"pdpp/internal/store"
)

// getRecord answers GET /v1/streams/{stream}/records/{id} (REC-13, REC-14).
func getRecord(q *request) error {
	rows, err := q.streamRows(q.vars.get("stream"))
	if err != nil {
		return err
	}
	var w readParams
	if w.selection, err = q.params.Selection(); err != nil {
		return err
	}
	if w.expand, err = q.params.Expand(); err != nil {
		return err
	}
	plan, err := q.planOne(rows, w)
	if err != nil {
		return err
	}
	q.prefs = query.RecordPreferences.Parse(q.http.Header["Prefer"])
	err = q.findOne(plan, func(s *shape, r *store.Record) error {
		if err := q.record(s, r, q.prefs.FieldPreview); err != nil {
			return err
		}
		q.body = q.body[:len(q.body)-1] // reopen the object for links and meta
		return nil
	})
	if err != nil {
		return err
	}
	q.closeObject(q.presentation(plan))
	return nil
}

// findOne calls write with the record that the path names. A record that is missing,
// deleted or outside the grant is not found; an id on several connections is ambiguous.
func (q *request) findOne(p *plan, write func(*shape, *store.Record) error) error {
	var holders []*shape
	get := query.Get{Subject: q.reach.Subject, Sources: p.sources, ID: pdpp.RecordID(q.vars.get("id"))}
	var failed error
	err := q.view.Get(get, func(r *store.Record) error {
		s := p.shapes[r.Source]
		if holders = append(holders, s); len(holders) == 1 {
			failed = write(s, r)
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case len(holders) == 0:
		return pdpp.Errorf(pdpp.CodeNotFound, "There is no such record.")
	case len(holders) > 1:
		var rows []grant.Row
		for _, s := range holders {
			rows = append(rows, s.narrowed())
		}
		return q.ambiguous(pdpp.CodeAmbiguousConnection, "Several connections have a record with this id.", rows, "")
	}
	q.tally.Add(holders[0].row.Stream.Name, 1)
	q.takeRelated()
	return failed
}

// narrowed returns the row of a shape, with only the connection of the shape.
func (s *shape) narrowed() grant.Row {
	row := s.row
	row.Connections = nil
	for _, c := range s.row.Connections {
		if c.ID == s.connection {
			row.Connections = []pdpp.Connection{c}
		}
	}
	return row
}
