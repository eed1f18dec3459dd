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
	Stale   *store.Stale // what of its index is being rebuilt
}

// Gather is the number of index entries up to which it is cheaper to collect all
// matches and sort them than to walk the order and test each record.
const Gather = 2000

// Query is a compiled source: its conditions and the way they are looked up.
type Query struct {
	d      Dialect
	src    Source
	terms  terms
	driver int           // index into terms.spans; walkOrder; or byResources
	walk   query.OrderBy // the order that walkOrder walks
	sorted bool          // the way is in the order asked for
	lean   bool          // index entries alone: the records are not joined
}

const (
	walkOrder   = -1
	byResources = -2
)

// Compile chooses the way to a source's visible records. probe runs a statement that
// yields one number.
//
// One equality in cursor order is a walk of its index entries, which are in that
// order. Otherwise the conditions are probed: the one with the fewest entries is
// gathered and sorted when it has at most Gather of them; failing that, the order
// is walked and each record tested, which then finds a match every few records.
func Compile(d Dialect, src Source, by query.OrderBy, probe func(Statement) (int64, error)) (*Query, error) {
	q := &Query{d: d, src: src, terms: analyze(src.Source, src.FieldID), driver: walkOrder, walk: by, sorted: true}
	t := q.terms
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

// bounded chooses the way under a grant's time range: only by what lies within
// it, so that the time an answer takes tells nothing about records outside. The
// entries of the time field are such a way, and so are those of an equality when
// the time field is the cursor field, since their order keys are bounded.
func (q *Query) bounded(by query.OrderBy) {
	for i, s := range q.terms.spans {
		if s.field.Name == q.src.Time.Field {
			q.driver, q.sorted = i, false
			return
		}
	}
	for i, s := range q.terms.spans {
		if s.eq != nil && !s.token {
			q.driver, q.sorted = i, by == query.ByCursor
			return
		}
	}
	q.walk, q.sorted = query.ByCursor, by == query.ByCursor
}

// walkable reports that the span's index entries are in the wanted order.
func (s span) walkable(by query.OrderBy) bool {
	return s.eq != nil && !s.token && by == query.ByCursor
}

// Verify tests the conditions that the statements leave to the caller: equality
// on fields without index entries, for records found another way.
func (q *Query) Verify(body []byte) bool {
	for i, s := range q.terms.spans {
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

// Partial reports that Verify has something to test.
func (q *Query) Partial() bool {
	for i, s := range q.terms.spans {
		if s.token && i != q.driver {
			return true
		}
	}
	return false
}

// Empty reports that no record can match.
func (q *Query) Empty() bool { return q.terms.none }

func (q *Query) probe(s span) Statement {
	b := builder{d: q.d}
	if s.token {
		from, where, _ := q.d.Tokens()
		b.add(`SELECT count(*) FROM (SELECT 1 FROM `+from+` WHERE `+where+` LIMIT ?) n`, store.ValueToken(s.number, s.eq), Gather+1)
		return b.statement()
	}
	b.add(`SELECT count(*) FROM (SELECT 1 FROM field_index i WHERE i.subject = ? AND i.field = ?`, q.src.Subject, s.number)
	s.where(&b, "i.value")
	b.add(` LIMIT ?) n`, Gather+1)
	return b.statement()
}

// Segment is a part of an order that one statement reads.
type Segment struct{ lo, hi []byte }

// follows reports that the whole segment comes after a position of another one:
// records without a value follow those with one in both directions.
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
	if !q.Partial() {
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
	case q.driver >= 0 && q.terms.spans[q.driver].token:
		from, _, record := q.d.Tokens()
		b.add(from + ` JOIN records r ON r.record = ` + record)
	case q.lean:
		b.add(`field_index i`)
	case q.driver >= 0:
		b.add(`field_index i JOIN records r ON r.record = i.record`)
	case q.driver == byResources || q.terms.hasID:
		b.add(`records r` + q.d.Using("records_by_id"))
	default:
		b.add(`records r` + q.d.Using(orderIndex[q.walk]))
	}
}

func (q *Query) where(b *builder, o query.Order, seg Segment, after *query.Position) {
	q.lookup(b, o, seg, after)
	q.residual(b)
}

// lookup writes the conditions that the driver and the order key cover.
func (q *Query) lookup(b *builder, o query.Order, seg Segment, after *query.Position) {
	// The walked table's own copy of the order key keeps the scan in its index.
	orderKey := "r.order_key"
	switch {
	case q.driver < 0:
		b.add(` WHERE r.subject = ? AND r.binding = ?`, q.src.Subject, q.src.Binding)
	case q.terms.spans[q.driver].token:
		s := q.terms.spans[q.driver]
		_, where, _ := q.d.Tokens()
		b.add(` WHERE `+where+` AND r.subject = ?`, store.ValueToken(s.number, s.eq), q.src.Subject)
	default:
		orderKey = "i.order_key"
		s := q.terms.spans[q.driver]
		b.add(` WHERE i.subject = ? AND i.field = ?`, q.src.Subject, s.number)
		s.where(b, "i.value")
	}
	bounds := span{lo: seg.lo, hi: seg.hi}
	if q.terms.order.lo != nil {
		bounds.raise(q.terms.order.lo)
	}
	if q.terms.order.hi != nil {
		bounds.lower(q.terms.order.hi)
	}
	if o.By == query.ByCursor {
		q.afterKey(&bounds, o, seg, after)
	} else {
		q.afterRow(b, o, after)
	}
	bounds.where(b, orderKey)
}

// record is the column with the number of the record.
func (q *Query) record() string {
	if q.lean {
		return "i.record"
	}
	return "r.record"
}

// residual writes the conditions that neither the driver nor the bounds on the
// order key cover.
func (q *Query) residual(b *builder) {
	t := q.terms
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
	b.args = append(b.args, q.d.List(q.terms.resources))
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
	emitted, id := SplitEmitted(after.Key)
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

// EmittedKey is the order key by emitted_at: milliseconds, then the id.
func EmittedKey(millis int64, id []byte) []byte {
	return append(binary.BigEndian.AppendUint64(nil, uint64(millis)^1<<63), id...)
}

// SplitEmitted is the inverse of EmittedKey.
func SplitEmitted(key []byte) (millis int64, id string) {
	if len(key) < 8 {
		return 0, ""
	}
	return int64(binary.BigEndian.Uint64(key) ^ 1<<63), string(key[8:])
}
