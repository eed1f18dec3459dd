package fold

import (
	"bytes"
	"encoding/binary"
	"strconv"

	"pdpp/internal/query"
	"pdpp/internal/sortkey"
	"pdpp/internal/store"
)

// Row counts the records of one source with one value in the group field and one in
// the field of the metric; nil means no value. For min and max, ID is the least id of
// these records, or nil when it is to be found later, for the kept groups only. The
// bytes are valid until the next row.
type Row struct {
	Group  []byte
	Metric []byte
	Count  int64
	ID     []byte
	Source int // index into the query's sources
}

// Pick is the record whose stored value is the min or max.
type Pick struct {
	Source int
	ID     []byte
}

// Group is a group. For min and max, its value is still to be read from a record.
type Group struct {
	store.Group
	Best []byte // for min and max: the encoded value; nil when no record has one
	Pick *Pick  // the record with it; nil when rows had no ids

	From, To []byte // encoded values of the group: one, or those from From and below To
	rank     []byte // orders groups by their metric; nil if there is no value
}

// Tally computes the metric of one group over all sources (AG-10). For count_distinct,
// rows with equal values follow one another.
type Tally struct {
	query *query.Aggregate
	count int64
	sum   sortkey.Sum

	distinct int64
	has      bool
	key      []byte // the last value, or the best
	pick     Pick
	word     [8]byte
}

// NewTally returns an empty tally of an aggregate.
func NewTally(q *query.Aggregate) *Tally { return &Tally{query: q} }

// Add takes a row.
func (t *Tally) Add(r Row) {
	t.count += r.Count
	if r.Metric == nil {
		return
	}
	switch t.query.Metric {
	case query.MetricSum:
		t.sum.Add(r.Metric, r.Count)
	case query.MetricDistinct:
		if !t.has || !bytes.Equal(t.key, r.Metric) {
			t.distinct++
			t.note(r)
		}
	case query.MetricMin:
		t.better(r, -1)
	case query.MetricMax:
		t.better(r, 1)
	}
}

// better keeps a row whose value is further in a direction than all before. Among
// equal values it keeps the record with the least id, then with the least connection
// (AG-12): both are visible whatever is granted.
func (t *Tally) better(r Row, direction int) {
	order := direction
	if t.has {
		order = bytes.Compare(r.Metric, t.key)
	}
	if order == 0 && t.before(r) {
		order = direction
	}
	if order == direction {
		t.note(r)
		t.pick.Source = r.Source
		t.pick.ID = bytes.Clone(r.ID)
	}
}

func (t *Tally) before(r Row) bool {
	if c := bytes.Compare(r.ID, t.pick.ID); c != 0 {
		return c < 0
	}
	return t.query.Sources[r.Source].Connection < t.query.Sources[t.pick.Source].Connection
}

func (t *Tally) note(r Row) {
	t.has = true
	t.key = append(t.key[:0], r.Metric...)
}

// reset empties the tally for another group.
func (t *Tally) reset() {
	t.count, t.distinct, t.has = 0, 0, false
	t.pick.ID = nil
	t.sum.Reset()
}

// rank returns a key that orders groups by their metric; nil when there is no value.
// The bytes are valid until the next Add.
func (t *Tally) rank() []byte {
	switch t.query.Metric {
	case query.MetricCount:
		return t.number(t.count)
	case query.MetricDistinct:
		return t.number(t.distinct)
	case query.MetricSum:
		_, key, _ := t.sum.Result()
		return key
	}
	if !t.has {
		return nil
	}
	return t.key
}

func (t *Tally) number(n int64) []byte {
	binary.BigEndian.PutUint64(t.word[:], uint64(n))
	return t.word[:]
}

// Group returns the result under a key, which it keeps.
func (t *Tally) Group(key []byte) Group {
	g := Group{Group: store.Group{Key: key, Count: t.count}, rank: bytes.Clone(t.rank())}
	switch t.query.Metric {
	case query.MetricDistinct:
		g.Value = strconv.AppendInt(nil, t.distinct, 10)
	case query.MetricSum:
		g.Value = null
		if text, _, ok := t.sum.Result(); ok {
			g.Value = []byte(text)
		}
	case query.MetricMin, query.MetricMax:
		g.Value = null
		if t.has {
			g.Best = g.rank
		}
		if t.has && t.pick.ID != nil {
			g.Pick = &Pick{Source: t.pick.Source, ID: t.pick.ID}
		}
	}
	return g
}

// null is the JSON text of a missing value.
var null = []byte("null")
