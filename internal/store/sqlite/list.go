package sqlite

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlgen"
	"pdpp/internal/store/sqlite/engine"
)

// dialect is SQLite's (see sqlgen.Dialect).
type dialect struct{}

func (dialect) Param(int) string          { return "?" }
func (dialect) Using(index string) string { return " INDEXED BY " + index }

// WalkedBody takes short bodies from the index: the record itself is then not
// looked up.
func (dialect) WalkedBody() string { return "coalesce(r.short_body, r.body)" }

func (dialect) OneOf(column, param string) string {
	return column + " IN (SELECT value FROM json_each(" + param + "))"
}

func (dialect) Tokens() (from, where, record string) {
	return "search i", "i.search MATCH '\"' || ? || '\"'", "i.rowid"
}

func (dialect) Words(groups [][]string) (from, where, record string, arg any) {
	var b strings.Builder
	for i, group := range groups {
		if i > 0 {
			b.WriteString(" AND ")
		}
		for j, term := range group {
			b.WriteString([]string{`("`, ` OR "`}[min(j, 1)])
			b.WriteString(term) // letters, marks, digits and dots
			b.WriteByte('"')
		}
		b.WriteByte(')')
	}
	return "search i", "i.search MATCH ?", "i.rowid", b.String()
}

func (dialect) List(ids []pdpp.RecordID) any {
	text, err := json.Marshal(ids)
	if err != nil {
		panic(err) // strings always encode
	}
	return string(text)
}

// source finds a binding's row numbers; false when it has none, hence no records. It
// refuses a source with conditions that cannot be relied on.
func (t *tx) source(subject pdpp.SubjectID, src query.Source) (sqlgen.Source, bool, error) {
	n, err := t.numbers(bindingKey{subject, src.Connection, src.Stream.Name}, src.Stream)
	if err != nil || n == nil {
		return sqlgen.Source{}, false, err
	}
	stale, err := t.staleOf(n.binding)
	if err != nil {
		return sqlgen.Source{}, false, err
	}
	if err := reliable(stale, src); err != nil {
		return sqlgen.Source{}, false, err
	}
	s := sqlgen.Source{
		Source: src, Subject: n.owner, Binding: n.binding, Stale: stale,
		FieldID: func(f *pdpp.Field) int64 { return n.fields[f.Name] },
	}
	ok, err := t.mayHave(s)
	return s, ok, err
}

// mayHave reports whether a source has the record that its conditions ask for by id.
// One that a time constraint hides is looked for no further: only the look-up of Get
// takes as long for it as for a missing one.
func (t *tx) mayHave(s sqlgen.Source) (visible bool, err error) {
	if s.Time == nil || len(s.Where) == 0 {
		return true, nil
	}
	id, plain, ok := sqlgen.AskedID(s)
	if !ok {
		return true, nil
	}
	err = t.getOne(sqlgen.ForGet(dialect{}, plain), id, 0, func(*store.Record) error {
		visible = true
		return nil
	})
	return visible, err
}

func (t *tx) compile(src sqlgen.Source, by query.OrderBy) (*sqlgen.Query, error) {
	return sqlgen.Compile(dialect{}, src, by, t.probe)
}

// probe runs a statement that yields one number.
func (t *tx) probe(s sqlgen.Statement) (int64, error) { return queryInt(t.conn, s.SQL, s.Args...) }

// walker reads the records of one source in order.
type walker struct {
	t      *tx
	q      *sqlgen.Query
	order  query.Order
	after  *query.Position
	limit  int
	source int // index into the query's sources
	conn   pdpp.ConnectionID

	segments []sqlgen.Segment
	stmt     *engine.Stmt
	cur      store.Record
}

// next advances to the next record; false when there is none.
func (w *walker) next() (bool, error) {
	for {
		if w.stmt == nil {
			if len(w.segments) == 0 {
				return false, nil
			}
			s := w.q.List(w.order, w.segments[0], w.after, w.limit)
			w.segments = w.segments[1:]
			stmt, err := w.t.conn.Query(s.SQL, s.Args...)
			if err != nil {
				return false, err
			}
			w.stmt = stmt
		}
		row, err := w.stmt.Step()
		if err != nil {
			return false, err
		}
		if !row {
			w.close()
			continue
		}
		if w.read(); w.q.Verify(w.cur.Body) {
			return true, nil
		}
	}
}

func (w *walker) read() {
	readRecord(&w.cur, w.stmt, w.source)
	switch w.order.By {
	case query.ByCursor:
		w.cur.Order = w.stmt.Bytes(4)
	case query.ByID:
		w.cur.Order = w.cur.ID
	case query.ByEmitted:
		w.cur.Order = sqlgen.EmittedKey(w.stmt.Int(2), w.cur.ID)
	}
}

func readRecord(r *store.Record, s *engine.Stmt, source int) {
	r.Source = source
	r.Ref = store.Ref(s.Int(0))
	r.ID = s.Bytes(1)
	r.EmittedAt = fromMillis(s.Int(2))
	r.Body = s.Bytes(3)
}

func (w *walker) close() {
	if w.stmt != nil {
		w.stmt.Close()
		w.stmt = nil
	}
}

// before tells whether w's record comes before o's.
func (w *walker) before(o *walker) bool {
	if w.order.By == query.ByCursor {
		// Records without a sort value are last in both directions.
		_, none, _ := store.OrderSegments()
		wn, on := bytes.Compare(w.cur.Order, none) >= 0, bytes.Compare(o.cur.Order, none) >= 0
		if wn != on {
			return on
		}
	}
	c := bytes.Compare(w.cur.Order, o.cur.Order)
	if c == 0 {
		c = strings.Compare(string(w.conn), string(o.conn))
	}
	if w.order.Desc {
		c = -c
	}
	return c < 0
}

// List implements store.Records.
func (t *tx) List(q query.List, visit func(*store.Record) (bool, error)) (more bool, err error) {
	walkers, err := t.walkers(q)
	defer func() {
		for _, w := range walkers {
			w.close()
		}
	}()
	if err != nil {
		return false, err
	}
	live := walkers[:0:0]
	for _, w := range walkers {
		ok, err := w.next()
		if err != nil {
			return false, err
		}
		if ok {
			live = append(live, w)
		}
	}
	for len(live) > 0 {
		first := 0
		for i := 1; i < len(live); i++ {
			if live[i].before(live[first]) {
				first = i
			}
		}
		taken, err := visit(&live[first].cur)
		if err != nil || !taken {
			return !taken && err == nil, err
		}
		ok, err := live[first].next()
		if err != nil {
			return false, err
		}
		if !ok {
			live = append(live[:first], live[first+1:]...)
		}
	}
	return false, nil
}

func (t *tx) walkers(q query.List) ([]*walker, error) {
	var out []*walker
	for i, src := range q.Sources {
		s, ok, err := t.source(q.Subject, src)
		if err != nil {
			return out, err
		}
		if !ok {
			continue
		}
		if q.Order.By == query.ByCursor && s.Stale.HasOrder() {
			return out, store.ErrRebuilding(s.Stream.Name)
		}
		compiled, err := t.compile(s, q.Order.By)
		if err != nil {
			return out, err
		}
		if compiled.Empty() {
			continue
		}
		w := t.walk(compiled, s, q)
		w.source = i
		out = append(out, w)
	}
	return out, nil
}

// walk makes the walker of a compiled source.
func (t *tx) walk(compiled *sqlgen.Query, s sqlgen.Source, q query.List) *walker {
	return &walker{
		t: t, q: compiled, order: q.Order, after: q.After, limit: q.Limit + 1, conn: s.Connection,
		segments: sqlgen.Segments(q.Order, s.Stream, q.After),
	}
}

// Get implements store.Records.
func (t *tx) Get(q query.Get, visit func(*store.Record) error) error {
	for i, src := range q.Sources {
		s, ok, err := t.source(q.Subject, src)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		compiled := sqlgen.ForGet(dialect{}, s)
		if compiled.Empty() || !compiled.Lists(q.ID) {
			continue
		}
		if err := t.getOne(compiled, q.ID, i, visit); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) getOne(q *sqlgen.Query, id pdpp.RecordID, source int, visit func(*store.Record) error) error {
	s := q.Get(id)
	if q.Discreet() {
		record, ok, err := t.near(q, id)
		if err != nil || !ok {
			return err
		}
		s = q.Shown(record, id)
	}
	stmt, err := t.conn.Query(s.SQL, s.Args...)
	if err != nil {
		return err
	}
	defer stmt.Close()
	row, err := stmt.Step()
	if err != nil || !row || len(stmt.Bytes(3)) == 0 {
		return err
	}
	var r store.Record
	readRecord(&r, stmt, source)
	r.Order = stmt.Bytes(4)
	if !q.Verify(r.Body) {
		return nil
	}
	return visit(&r)
}

// near is the number of the record with an id, or of another one when there is none
// with it; false when the binding is empty.
func (t *tx) near(q *sqlgen.Query, id pdpp.RecordID) (record int64, ok bool, err error) {
	s := q.Near(id)
	stmt, err := t.conn.Query(s.SQL, s.Args...)
	if err != nil {
		return 0, false, err
	}
	defer stmt.Close()
	if _, err := stmt.Step(); err != nil {
		return 0, false, err
	}
	next, first := 0, 1
	if stmt.IsNull(next) {
		return stmt.Int(first), !stmt.IsNull(first), nil
	}
	return stmt.Int(next), true, nil
}

// Count implements store.Records.
func (t *tx) Count(q query.List) (int64, error) {
	var total int64
	for _, src := range q.Sources {
		s, ok, err := t.source(q.Subject, src)
		if err != nil {
			return 0, err
		}
		if !ok {
			continue
		}
		n, err := t.count(s)
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

func (t *tx) count(s sqlgen.Source) (int64, error) {
	if len(s.Conditions()) == 0 && s.Resources == nil {
		return queryInt(t.conn, `SELECT record_count FROM bindings WHERE subject = ? AND binding = ?`, s.Subject, s.Binding)
	}
	compiled, err := t.compile(s, query.ByCursor)
	if err != nil || compiled.Empty() {
		return 0, err
	}
	return t.countWith(compiled, s)
}

// countWith counts in the index where that says everything, and else looks at
// the records.
func (t *tx) countWith(q *sqlgen.Query, s sqlgen.Source) (n int64, err error) {
	if !q.Partial() {
		c := q.Count()
		return queryInt(t.conn, c.SQL, c.Args...)
	}
	w := t.walk(q, s, query.List{Order: query.Order{By: query.ByCursor}})
	defer w.close()
	for {
		ok, err := w.next()
		if err != nil || !ok {
			return n, err
		}
		n++
	}
}

// LastEmitted implements store.Records.
func (t *tx) LastEmitted(subject pdpp.SubjectID, src query.Source) (last time.Time, found bool, err error) {
	q := query.List{
		Subject: subject, Sources: []query.Source{src}, Limit: 1,
		Order: query.Order{By: query.ByEmitted, Desc: true},
	}
	_, err = t.List(q, func(r *store.Record) (bool, error) {
		if found {
			return false, nil
		}
		last, found = r.EmittedAt, true
		return true, nil
	})
	return last, found, err
}

// errDamaged reports a long value with a missing piece.
var errDamaged = errors.New("a piece of a long value is missing; the database is damaged")

// Long implements store.Records.
func (t *tx) Long(ref store.Ref, stub store.Stub, from int, piece func([]byte) bool) error {
	next := from / store.PieceChars
	s, err := t.conn.Query(`SELECT raw, piece FROM pieces WHERE record = ? AND ordinal = ? AND piece >= ? ORDER BY piece`,
		int64(ref), stub.Ordinal, next)
	if err != nil {
		return err
	}
	defer s.Close()
	for ; ; next++ {
		row, err := s.Step()
		if err != nil {
			return err
		}
		if !row && next*store.PieceChars >= stub.Chars && stub.Chars > 0 {
			return nil
		}
		if !row || s.Int(1) != int64(next) {
			return errDamaged
		}
		if !piece(s.Bytes(0)) {
			return nil
		}
	}
}
