package rs

import (
	"slices"
	"strings"

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
	plain   bool // records are shown as the grant shows them by itself
}

// shape is how the records of one binding are written.
type shape struct {
	connection pdpp.ConnectionID
	row        grant.Row
	projection query.Projection
	expansions []query.Expansion
	members    map[string]member // of the projection; nil when it is everything
	hasBlobs   bool
	middle     []byte // ,"stream":…,"data":
	tail       []byte // ,"connection_id":…,"connector_key":…,"display_name":…
}

// member is how one field of a projection is written.
type member struct {
	name  string
	place int    // in the projection's order
	key   []byte // the quoted name and a colon
	blob  pdpp.BlobShape
}

// streamRows gives the rows of a stream as the request narrows them. They follow from the
// reach, are found once, and must not be changed.
func (q *request) streamRows(name string) ([]grant.Row, error) {
	type key struct {
		stream string
		grant.Selector
	}
	if rows, ok := q.reach.Derived.Load(key{name, q.sel}); ok {
		return rows.([]grant.Row), nil
	}
	rows, err := q.reach.Stream(name, q.sel)
	if err == nil { // what is not there could be anything
		q.reach.Derived.Store(key{name, q.sel}, rows)
	}
	return rows, err
}

// planOne is the plan for a record of the stream in the path. As the grant shows it by
// itself, it follows from the reach and is made once.
func (q *request) planOne(rows []grant.Row, w wish) (*plan, error) {
	if !w.isPlain() {
		return q.plan(rows, w)
	}
	type key struct {
		stream string
		grant.Selector
	}
	at := key{q.vars.get("stream"), q.sel}
	if p, ok := q.reach.Derived.Load(at); ok {
		return p.(*plan), nil
	}
	p, err := q.plan(rows, w)
	if err == nil {
		q.reach.Derived.Store(at, p)
	}
	return p, err
}

// plan gives a wish its meaning for every row.
func (q *request) plan(rows []grant.Row, w wish) (*plan, error) {
	p := &plan{plain: w.isPlain()}
	err := q.applicable(rows, func(row grant.Row) error {
		shape, where, err := q.shapeRow(row, w)
		if err != nil {
			return err
		}
		p.rows = append(p.rows, row)
		for _, b := range grant.Bindings([]grant.Row{row}) {
			src := sourceOf(b)
			src.Where = where
			p.sources = append(p.sources, src)
			p.shapes = append(p.shapes, q.shapeOn(shape, row, b.Connection, w))
		}
		return nil
	})
	return p, err
}

// applicable offers each row to take. Over several connectors, a row that does not
// declare what is asked for is left out with a warning; when none is left, the
// request fails as for the first binding alone (C-25).
func (q *request) applicable(rows []grant.Row, take func(grant.Row) error) error {
	var failed []failure
	rows = connected(rows)
	for _, row := range rows {
		err := take(row)
		if err != nil && (len(rows) == 1 || !query.Undeclared(err)) {
			return err
		}
		if err != nil {
			failed = append(failed, failure{row, err})
		}
	}
	if len(failed) > 0 && len(failed) == len(rows) {
		return slices.MinFunc(failed, byConnection).err
	}
	for _, f := range failed {
		q.skip(f.row)
	}
	return nil
}

// skip says that a row takes no part in the read.
func (q *request) skip(row grant.Row) {
	for _, c := range row.Connections {
		q.warnings.skippedBinding(row.Manifest.ConnectorKey, c.ID)
	}
}

// connected leaves out rows without a binding: they take no part in a read, and
// must not decide its order or its errors. When no row has one, all stay.
func connected(rows []grant.Row) []grant.Row {
	var out []grant.Row
	for _, row := range rows {
		if len(row.Connections) > 0 {
			out = append(out, row)
		}
	}
	if out == nil {
		return rows
	}
	return out
}

// failure is why a row cannot take part in a read.
type failure struct {
	row grant.Row
	err error
}

// byConnection orders failures by the first of their connections.
func byConnection(a, b failure) int {
	return strings.Compare(firstConnection(a.row), firstConnection(b.row))
}

func firstConnection(row grant.Row) string {
	first := ""
	for _, c := range row.Connections {
		if id := string(c.ID); first == "" || id < first {
			first = id
		}
	}
	return first
}

func (q *request) shapeRow(row grant.Row, w wish) (*shape, []query.Condition, error) {
	projection, badFields := query.Project(w.selection, row.Access)
	where, badFilter := query.Where(w.filters, row.Access)
	badSort := query.CheckSort(w.sort, row.Access)
	expansions, badExpand := query.Expansions(w.expand, q.reach.Reach, row)
	if err := query.First(badFields, badFilter, badSort, badExpand); err != nil {
		return nil, nil, err
	}
	if w.isPlain() {
		made := q.reach.Derive(shapeKey{row.Access, ""}, func() any { return newShape(row, projection, nil) })
		return made.(*shape), where, nil
	}
	return newShape(row, projection, expansions), where, nil
}

// shapeOn completes a shape for a connection.
func (q *request) shapeOn(s *shape, row grant.Row, c pdpp.Connection, w wish) *shape {
	if !w.isPlain() {
		return s.on(row, c)
	}
	return q.reach.Derive(shapeKey{row.Access, c.ID}, func() any { return s.on(row, c) }).(*shape)
}

// isPlain reports that records are shown as a grant shows them by itself.
func (w wish) isPlain() bool {
	return w.selection.View == "" && w.selection.Fields == nil && len(w.expand.Relations) == 0
}

// shapeKey names what follows from a reach alone and is made once: the plain shape
// of a row, known by its access, on a connection or without one.
type shapeKey struct {
	access     *grant.Access
	connection pdpp.ConnectionID
}

func newShape(row grant.Row, projection query.Projection, expansions []query.Expansion) *shape {
	s := &shape{row: row, projection: projection, expansions: expansions}
	if !projection.All {
		s.members = make(map[string]member, len(projection.Names))
		for i, name := range projection.Names {
			s.members[name] = newMember(row.Stream, name, i)
		}
	}
	s.hasBlobs = slices.ContainsFunc(row.Stream.Fields, func(f *pdpp.Field) bool { return f.Blob != pdpp.BlobNone })
	s.middle = appendText(nil, `,"stream":`)
	s.middle = rawjson.AppendString(s.middle, row.Stream.Name)
	s.middle = appendText(s.middle, `,"data":`)
	return s
}

func newMember(s *pdpp.Stream, name string, place int) member {
	m := member{name: name, place: place, key: append(rawjson.AppendString(nil, name), ':')}
	if f := s.Field(name); f != nil {
		m.blob = f.Blob
	}
	return m
}

// on completes a shape for one connection of its row.
func (s *shape) on(row grant.Row, c pdpp.Connection) *shape {
	out := *s
	out.row, out.connection = row, c.ID
	out.tail = appendMember(nil, "connection_id", string(c.ID))
	out.tail = appendMember(out.tail, "connector_key", string(s.row.Manifest.ConnectorKey))
	out.tail = appendMember(out.tail, "display_name", c.DisplayName())
	return &out
}
