package rs

import (
	"slices"
	"strings"

	"pdpp"
	"pdpp/internal/auth"
	"pdpp/internal/grant"
	"pdpp/internal/query"
	"pdpp/internal/rawjson"
)

// readParams are the parameters of a record read, not yet validated.
type readParams struct {
	selection query.Selection
	filters   []query.Filter
	sort      query.Sort
	expand    query.Expand
}

// plan describes a read of records: for each binding, the source that the store reads and
// the shape of its records. sources and shapes have the same indexes.
type plan struct {
	rows    []grant.Row
	sources []query.Source
	shapes  []*shape
	plain   bool // no fields, view or expansion is selected
}

// shape is how the records of one binding are written.
type shape struct {
	connection pdpp.ConnectionID
	row        grant.Row
	projection query.Projection
	expansions []query.Expansion
	members    map[string]member // fields of the projection; nil if it has all fields
	hasBlobs   bool
	middle     rawjson.Writer // "stream":…,"data":
	tail       rawjson.Writer // "connection_id":…,"connector_key":…,"display_name":…
}

// member describes how one field of a projection is written.
type member struct {
	name  string
	place int    // in the projection's order
	key   []byte // the quoted name and a colon
	blob  pdpp.BlobShape
}

// allRows returns the rows of all streams that the selectors of the request match, and
// warns about streams that are not declared.
func (q *request) allRows() ([]grant.Row, error) {
	for _, name := range q.reach.Undeclared {
		q.warnings.skippedStream(name)
	}
	return q.reach.Select(q.sel)
}

// streamRows returns the rows of a stream that the selectors of the request match. They
// are cached in the reach and must not be changed.
func (q *request) streamRows(name string) ([]grant.Row, error) {
	type key struct {
		stream string
		grant.Selector
	}
	// A missing stream is not cached, because the number of names is not limited.
	rows, err := auth.TryDerive(q.reach, key{name, q.sel}, func() ([]grant.Row, error) { return q.reach.Stream(name, q.sel) })
	q.asksFor(rows)
	return rows, err
}

// planOne returns the plan for a record of the stream in the path. A plain plan is cached
// in the reach.
func (q *request) planOne(rows []grant.Row, w readParams) (*plan, error) {
	if !w.isPlain() {
		return q.plan(rows, w)
	}
	type key struct {
		stream string
		grant.Selector
	}
	return auth.TryDerive(q.reach, key{q.vars.get("stream"), q.sel}, func() (*plan, error) { return q.plan(rows, w) })
}

// plan validates the parameters for every row.
func (q *request) plan(rows []grant.Row, w readParams) (*plan, error) {
	p := &plan{plain: w.isPlain()}
	err := q.eachApplicable(rows, func(row grant.Row) error {
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

// eachApplicable calls take with each row. If there are several rows, a row whose stream
// does not declare what the request uses is skipped with a warning. If all are skipped,
// the request fails with the error of the first binding (C-25).
func (q *request) eachApplicable(rows []grant.Row, take func(grant.Row) error) error {
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

// skip warns that a row is not part of the read.
func (q *request) skip(row grant.Row) {
	for _, c := range row.Connections {
		q.warnings.skippedBinding(row.Manifest.ConnectorKey, c.ID)
	}
}

// connected returns the rows that have a binding. The others are not part of a read, and
// must not decide its order or its errors. When no row has a binding, it returns all.
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

// failure is a row that cannot be part of a read, and why.
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

// shapeRow validates the parameters for one row. It returns the shape of its records and
// the conditions of the filters.
func (q *request) shapeRow(row grant.Row, w readParams) (*shape, []query.Condition, error) {
	projection, badFields := query.Project(w.selection, row.Access)
	where, badFilter := query.Where(w.filters, row.Access)
	badSort := query.CheckSort(w.sort, row.Access)
	expansions, badExpand := query.Expansions(w.expand, q.reach.Reach, row)
	if err := query.First(badFields, badFilter, badSort, badExpand); err != nil {
		return nil, nil, err
	}
	if w.isPlain() {
		plain := auth.Derive(q.reach, shapeKey{row.Access, ""}, func() *shape { return newShape(row, projection, nil) })
		return plain, where, nil
	}
	return newShape(row, projection, expansions), where, nil
}

// shapeOn completes a shape for a connection.
func (q *request) shapeOn(s *shape, row grant.Row, c pdpp.Connection, w readParams) *shape {
	if !w.isPlain() {
		return s.on(row, c)
	}
	return auth.Derive(q.reach, shapeKey{row.Access, c.ID}, func() *shape { return s.on(row, c) })
}

// isPlain reports whether no fields, view or expansion is selected.
func (w readParams) isPlain() bool {
	return w.selection.View == "" && w.selection.Fields == nil && len(w.expand.Relations) == 0
}

// shapeKey is the key under which the reach caches the plain shape of a row, which its
// access identifies: for one connection, or with "" for all.
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
	s.middle = make(rawjson.Writer, 0, 64)
	s.middle.Text("stream", row.Stream.Name)
	s.middle.Key("data")
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
	out.tail = make(rawjson.Writer, 0, 128)
	out.tail.Text("connection_id", string(c.ID))
	out.tail.Text("connector_key", string(s.row.Manifest.ConnectorKey))
	out.tail.Optional("display_name", c.DisplayName())
	return &out
}
