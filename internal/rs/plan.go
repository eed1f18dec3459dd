package rs

import (
	"slices"

	"pdpp"
	"pdpp/internal/grant"
	"pdpp/internal/query"
	"pdpp/internal/rawjson"
)

// wish is what a record read asks for, still without meaning.
type wish struct {
	selection query.Selection
	filters   []query.Filter
	sort      query.Sort
	expand    query.Expand
}

// plan is a record read over bindings: for each, what the store reads and how
// its records are shown. The two slices run in step.
type plan struct {
	rows    []grant.Row
	sources []query.Source
	shapes  []*shape
}

// shape is how the records of one binding are written.
type shape struct {
	connection pdpp.ConnectionID
	row        grant.Row
	projection query.Projection
	expansions []query.Expansion
	hasBlobs   bool
	middle     []byte // ,"stream":…,"data":
	tail       []byte // ,"connection_id":…,"connector_key":…,"display_name":…
}

// plan gives a wish its meaning for every row. Over several connectors, a row
// that does not declare what is asked for is left out with a warning; when none
// is left, the request fails as for the first binding alone (C-25).
func (q *request) plan(rows []grant.Row, w wish) (*plan, error) {
	p := &plan{}
	failures := map[pdpp.ConnectionID]error{}
	for _, row := range rows {
		shape, where, err := q.shapeRow(row, w)
		if err != nil && (len(rows) == 1 || !query.Undeclared(err)) {
			return nil, err
		}
		if err != nil {
			for _, c := range row.Connections {
				q.warnings.skippedBinding(row.Manifest.ConnectorKey, c.ID)
				failures[c.ID] = err
			}
			continue
		}
		p.rows = append(p.rows, row)
		for _, b := range grant.Bindings([]grant.Row{row}) {
			src := sourceOf(b)
			src.Where = where
			p.sources = append(p.sources, src)
			p.shapes = append(p.shapes, shape.on(b.Connection))
		}
	}
	if len(p.rows) == 0 && len(failures) > 0 {
		ids := make([]pdpp.ConnectionID, 0, len(failures))
		for id := range failures {
			ids = append(ids, id)
		}
		return nil, failures[slices.Min(ids)]
	}
	return p, nil
}

func (q *request) shapeRow(row grant.Row, w wish) (*shape, []query.Condition, error) {
	projection, err := query.Project(w.selection, row.Access)
	if err != nil {
		return nil, nil, err
	}
	where, err := query.Where(w.filters, row.Access)
	if err != nil {
		return nil, nil, err
	}
	if err := query.CheckSort(w.sort, row.Access); err != nil {
		return nil, nil, err
	}
	expansions, err := query.Expansions(w.expand, q.reach, row)
	if err != nil {
		return nil, nil, err
	}
	return newShape(row, projection, expansions), where, nil
}

func newShape(row grant.Row, projection query.Projection, expansions []query.Expansion) *shape {
	s := &shape{row: row, projection: projection, expansions: expansions}
	s.hasBlobs = slices.ContainsFunc(row.Stream.Fields, func(f *pdpp.Field) bool { return f.Blob != pdpp.BlobNone })
	s.middle = appendText(nil, `,"stream":`)
	s.middle = rawjson.AppendString(s.middle, row.Stream.Name)
	s.middle = appendText(s.middle, `,"data":`)
	return s
}

// on completes a shape for one connection of its row.
func (s *shape) on(c pdpp.Connection) *shape {
	out := *s
	out.connection = c.ID
	out.tail = appendMember(nil, "connection_id", string(c.ID))
	out.tail = appendMember(out.tail, "connector_key", string(s.row.Manifest.ConnectorKey))
	out.tail = appendMember(out.tail, "display_name", c.DisplayName())
	return &out
}
