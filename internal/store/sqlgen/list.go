package sqlgen

import (
	"bytes"
	"encoding/binary"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/rawjson"
	"pdpp/internal/sortkey"
	"pdpp/internal/store"
)

// Source is a binding to read, with its row numbers.
type Source struct {
	query.Source
	Subject int64
	Binding int64
	FieldID func(*pdpp.Field) int64
	Stale   *store.Stale // the index entries that are being rebuilt
}

// Gather is the number of index entries up to which it is cheaper to collect all
// matches and sort them than to walk the order and test each record.
const Gather = 2000

// Query is a compiled source: its conditions and the plan to look them up.
type Query struct {
	d      Dialect
	src    Source
	conds  conditions
	driver int           // index into conds.spans; walkOrder; or byResources
	walk   query.OrderBy // the order that walkOrder walks
	sorted bool          // rows come in the order of the query
	lean   bool          // index entries only: records are not joined
}

const (
	walkOrder   = -1
	byResources = -2
)

// Compile chooses the plan for a source's visible records. probe runs a statement
// that counts index entries.
//
// A single equality in cursor order is a walk of its index entries, which are in
// that order. Otherwise the conditions are probed: the entries of the rarest one are
// gathered and sorted when there are at most Gather of them. If there are more, the
// order is walked and each record tested, which then finds a match every few records.
func Compile(d Dialect, src Source, by query.OrderBy, probe func(Statement) (int64, error)) (*Query, error) {
	q := &Query{d: d, src: src, conds: analyze(src.Source, src.FieldID), driver: walkOrder, walk: by, sorted: true}
	t := q.conds
	switch {
	case t.none || t.hasID:
		return q, nil
	case t.resources != nil:
		q.driver, q.sorted = byResources, false
		return q, nil
	case src.Time != nil:
		q.bounded(by)
		return q, nil
	case len(t.spans) == 1 && t.spans[0].walkable(by):
		q.driver = 0
		return q, nil
	}
	best := int64(Gather + 1)
	for i, s := range t.spans {
		n, err := probe(q.probe(s))
		if err != nil {
			return nil, err
		}
		if n < best {
			best, q.driver, q.sorted = n, i, false
		}
	}
	if q.driver != walkOrder {
		return q, nil
	}
	for i, s := range t.spans {
		if s.walkable(by) {
			q.driver, q.sorted = i, true
			break
		}
	}
	return q, nil
}

// bounded chooses the plan under a grant's time range. The plan reads only entries
// within the range, so that the time of an answer reveals nothing about records
// outside. The entries of the time field are within it; so are those of an equality
// when the time field is the cursor field, since their order keys are bounded.
func (q *Query) bounded(by query.OrderBy) {
	for i, s := range q.conds.spans {
		if s.field.Name == q.src.Time.Field {
			q.driver, q.sorted = i, false
			return
		}
	}
	for i, s := range q.conds.spans {
		if s.eq != nil && !s.token {
			q.driver, q.sorted = i, by == query.ByCursor
			return
		}
	}
	q.walk, q.sorted = query.ByCursor, by == query.ByCursor
}

// walkable reports whether the span's index entries are in the wanted order.
func (s span) walkable(by query.OrderBy) bool {
	return s.eq != nil && !s.token && by == query.ByCursor
}

// Verify tests the conditions that the statements leave to the caller: equality on
// fields without index entries, when another condition drives the query.
func (q *Query) Verify(body []byte) bool {
	for i, s := range q.conds.spans {
		if !s.token || i == q.driver {
			continue
		}
		value, ok := rawjson.Get(body, s.field.Name)
		if !ok {
			return false
		}
		key, ok := sortkey.FromJSON(s.field.Kind, value)
		if !ok || !bytes.Equal(key, s.eq) {
			return false
		}
	}
	return true
}

// NeedsVerify reports whether Verify has conditions to test.
func (q *Query) NeedsVerify() bool {
	for i, s := range q.conds.spans {
		if s.token && i != q.driver {
			return true
		}
	}
	return false
}

// Empty reports whether no record can match.
func (q *Query) Empty() bool { return q.conds.none }

func (q *Query) probe(s span) Statement {
	b := builder{d: q.d}
	if s.token {
		j := q.d.Token()
		b.add(`SELECT count(*) FROM (SELECT 1 FROM `+j.From+` WHERE `+j.Where+` LIMIT ?) n`, store.ValueToken(s.number, s.eq), Gather+1)
		return b.statement()
	}
	b.add(`SELECT count(*) FROM (SELECT 1 FROM field_index i WHERE i.subject = ? AND i.field = ?`, q.src.Subject, s.number)
	s.where(&b, "i.value")
	b.add(` LIMIT ?) n`, Gather+1)
	return b.statement()
}

// Segment is a part of an order that one statement reads.
type Segment struct{ lo, hi []byte }

// follows reports whether the whole segment comes after a position in another one:
// records without a value follow those with a value in both directions.
func (s Segment) follows(after *query.Position) bool {
	_, none, _ := store.OrderSegments()
	return bytes.Equal(s.lo, none) && bytes.Compare(after.Key, none) < 0
}

// Segments splits what follows a position into parts to be read one after the
// other. By cursor field descending, the records without a value would come
// first; they are read last.
func Segments(o query.Order, s *pdpp.Stream, after *query.Position) []Segment {
	valued, none, end := store.OrderSegments()
	switch {
	case o.By != query.ByCursor:
		return []Segment{{}}
	case s.CursorField == "" || after != nil && bytes.Compare(after.Key, none) >= 0:
		return []Segment{{none, end}}
	}
	return []Segment{{valued, none}, {none, end}}
}

// List selects record, id, emitted_at, body and order_key of the records of one
// segment after a position.
func (q *Query) List(o query.Order, seg Segment, after *query.Position, limit int) Statement {
	b := builder{d: q.d}
	if q.sorted {
		body := "r.body"
		if q.driver == walkOrder && q.walk == query.ByCursor {
			body = q.d.WalkedBody()
		}
		b.add(`SELECT r.record, r.id, r.emitted_at, ` + body + `, r.order_key FROM `)
		q.from(&b)
		q.where(&b, o, seg, after)
		q.orderBy(&b, o)
		q.limit(&b, limit)
		return b.statement()
	}
	// Sort record numbers, not bodies.
	b.add(`SELECT r.record, r.id, r.emitted_at, r.body, r.order_key FROM (SELECT r.record AS n FROM `)
	q.from(&b)
	q.where(&b, o, seg, after)
	q.orderBy(&b, o)
	q.limit(&b, limit)
	b.add(`) k JOIN records r ON r.record = k.n`)
	q.orderBy(&b, o)
	return b.statement()
}

// limit bounds the rows, unless some of them may fail Verify.
func (q *Query) limit(b *builder, limit int) {
	if !q.NeedsVerify() {
		b.add(` LIMIT ?`, limit)
	}
}

// Count counts the matching records.
func (q *Query) Count() Statement {
	b := builder{d: q.d}
	b.add(`SELECT count(*) FROM `)
	q.from(&b)
	q.where(&b, query.Order{By: query.ByCursor}, Segment{}, nil)
	return b.statement()
}

var orderIndex = map[query.OrderBy]string{
	query.ByID: "records_by_id", query.ByCursor: "records_by_order", query.ByEmitted: "records_by_emitted",
}

func (q *Query) from(b *builder) {
	switch {
	case q.driver >= 0 && q.conds.spans[q.driver].token:
		j := q.d.Token()
		b.add(j.From + ` JOIN records r ON r.record = ` + j.Record)
	case q.lean:
		b.add(`field_index i`)
	case q.driver >= 0:
		b.add(`field_index i JOIN records r ON r.record = i.record`)
	case q.driver == byResources || q.conds.hasID:
		b.add(`records r` + q.d.IndexHint("records_by_id"))
	default:
		b.add(`records r` + q.d.IndexHint(orderIndex[q.walk]))
	}
}

func (q *Query) where(b *builder, o query.Order, seg Segment, after *query.Position) {
	q.lookup(b, o, seg, after)
	q.residual(b)
}

// lookup writes the conditions that the driver and the order key cover.
func (q *Query) lookup(b *builder, o query.Order, seg Segment, after *query.Position) {
	// The order key is taken from the walked table, so that its index bounds the scan.
	orderKey := "r.order_key"
	switch {
	case q.driver < 0:
		b.add(` WHERE r.subject = ? AND r.binding = ?`, q.src.Subject, q.src.Binding)
	case q.conds.spans[q.driver].token:
		s := q.conds.spans[q.driver]
		b.add(` WHERE `+q.d.Token().Where+` AND r.subject = ?`, store.ValueToken(s.number, s.eq), q.src.Subject)
	default:
		orderKey = "i.order_key"
		s := q.conds.spans[q.driver]
		b.add(` WHERE i.subject = ? AND i.field = ?`, q.src.Subject, s.number)
		s.where(b, "i.value")
	}
	bounds := span{lo: seg.lo, hi: seg.hi}
	if q.conds.order.lo != nil {
		bounds.raise(q.conds.order.lo)
	}
	if q.conds.order.hi != nil {
		bounds.lower(q.conds.order.hi)
	}
	if o.By == query.ByCursor {
		q.afterKey(&bounds, o, seg, after)
	} else {
		q.afterRow(b, o, after)
	}
	bounds.where(b, orderKey)
}

// record returns the column with the number of the record.
func (q *Query) record() string {
	if q.lean {
		return "i.record"
	}
	return "r.record"
}

// residual writes the conditions that are covered neither by the driver nor by the
// bounds of the order key.
func (q *Query) residual(b *builder) {
	t := q.conds
	if t.hasID {
		b.add(` AND r.id = ? AND r.key_in_data = 1`, t.id)
	}
	if t.resources != nil {
		q.listed(b, "r.id")
	}
	for i, s := range t.spans {
		if i != q.driver && !s.token {
			s.exists(b, q.record())
		}
	}
}

// listed tests an id against the grant's resources.
func (q *Query) listed(b *builder, column string) {
	b.add(` AND ` + q.d.OneOf(column, q.d.Param(len(b.args)+1)))
	b.args = append(b.args, q.d.IDList(q.conds.resources))
}

// afterKey narrows the bounds of the order key to what follows the position.
// Among equal keys the connection decides.
func (q *Query) afterKey(bounds *span, o query.Order, seg Segment, after *query.Position) {
	if after == nil || seg.follows(after) {
		return
	}
	next := append(append([]byte(nil), after.Key...), 0)
	switch {
	case o.Desc && q.src.Connection < after.Connection:
		bounds.lower(next)
	case o.Desc:
		bounds.lower(after.Key)
	case q.src.Connection > after.Connection:
		bounds.raise(after.Key)
	default:
		bounds.raise(next)
	}
}

// afterRow writes the position for orders by id or emitted_at.
func (q *Query) afterRow(b *builder, o query.Order, after *query.Position) {
	if after == nil {
		return
	}
	op := " > "
	tie := q.src.Connection > after.Connection
	if o.Desc {
		op = " < "
		tie = q.src.Connection < after.Connection
	}
	if tie {
		op = op[:2] + "= "
	}
	if o.By == query.ByID {
		b.add(` AND r.id`+op+`?`, string(after.Key))
		return
	}
	emitted, id := splitEmitted(after.Key)
	b.add(` AND (r.emitted_at, r.id)`+op+`(?, ?)`, emitted, id)
}

func (q *Query) orderBy(b *builder, o query.Order) {
	dir := ""
	if o.Desc {
		dir = " DESC"
	}
	switch {
	case o.By == query.ByID:
		b.add(` ORDER BY r.id` + dir)
	case o.By == query.ByEmitted:
		b.add(` ORDER BY r.emitted_at` + dir + `, r.id` + dir)
	case q.sorted && q.driver >= 0:
		b.add(` ORDER BY i.order_key` + dir)
	default:
		b.add(` ORDER BY r.order_key` + dir)
	}
}

// EmittedKey returns the order key by emitted_at: milliseconds, then the id.
func EmittedKey(millis int64, id []byte) []byte {
	return append(binary.BigEndian.AppendUint64(nil, uint64(millis)^1<<63), id...)
}

// splitEmitted returns the values that EmittedKey joined.
func splitEmitted(key []byte) (millis int64, id string) {
	if len(key) < 8 {
		return 0, ""
	}
	return int64(binary.BigEndian.Uint64(key) ^ 1<<63), string(key[8:])
}
