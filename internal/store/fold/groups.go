package fold

import (
	"bytes"
	"container/heap"
	"slices"
	"time"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/rawjson"
	"pdpp/internal/sortkey"
)

// Groups computes scalar groups. Rows come in ascending order of their group and, for
// count_distinct, of their metric within it; rows without a group come at any time.
type Groups struct {
	query   *query.Aggregate
	kind    pdpp.Kind
	open    bool   // current has rows
	key     []byte // of the current group; never nil
	current *Tally
	none    *Tally // records without a group
	best    ranking
	scratch []byte
}

// NewGroups returns the empty groups of an aggregate.
func NewGroups(q *query.Aggregate) *Groups {
	return &Groups{query: q, kind: q.Kind(q.Group), key: []byte{}, current: NewTally(q), none: NewTally(q)}
}

// Add takes a row.
func (g *Groups) Add(r Row) {
	if r.Group == nil {
		g.none.Add(r)
		return
	}
	if !g.open || !bytes.Equal(g.key, r.Group) {
		g.close()
		g.open = true
		g.key = append(g.key[:0], r.Group...)
	}
	g.current.Add(r)
}

// close ends the current group.
func (g *Groups) close() {
	if !g.open {
		return
	}
	g.scratch = appendKey(g.scratch[:0], g.kind, g.key)
	g.offer(g.current, g.scratch, g.key)
	g.current.reset()
	g.open = false
}

// offer keeps a group when it is among the best so far. key is its JSON text, enc its
// encoded value.
func (g *Groups) offer(t *Tally, key, enc []byte) {
	if len(g.best) == g.query.Limit {
		if compareRank(t.rank(), key, g.best[0].rank, g.best[0].Key) >= 0 {
			return
		}
		heap.Pop(&g.best)
	}
	kept := t.Group(bytes.Clone(key))
	kept.From = bytes.Clone(enc)
	heap.Push(&g.best, kept)
}

// Result returns the groups in their order (AG-7).
func (g *Groups) Result() []Group {
	g.close()
	if g.none.count > 0 {
		g.offer(g.none, null, nil)
		g.none.reset()
	}
	slices.SortFunc(g.best, func(a, b Group) int { return compareRank(a.rank, a.Key, b.rank, b.Key) })
	return g.best
}

// compareRank orders groups: the larger metric first, groups without a metric last,
// ties by the JSON text of the key.
func compareRank(rankA, keyA, rankB, keyB []byte) int {
	switch {
	case rankA == nil && rankB != nil:
		return 1
	case rankA != nil && rankB == nil:
		return -1
	}
	if c := bytes.Compare(rankB, rankA); c != 0 {
		return c
	}
	return bytes.Compare(keyA, keyB)
}

// ranking is a heap with the lowest group on top.
type ranking []Group

func (r ranking) Len() int { return len(r) }
func (r ranking) Less(i, j int) bool {
	return compareRank(r[i].rank, r[i].Key, r[j].rank, r[j].Key) > 0
}
func (r ranking) Swap(i, j int) { r[i], r[j] = r[j], r[i] }
func (r *ranking) Push(g any)   { *r = append(*r, g.(Group)) }
func (r *ranking) Pop() any {
	old := *r
	last := old[len(old)-1]
	*r = old[:len(old)-1]
	return last
}

// appendKey appends the JSON value of an encoded one (AG-11). Equal times are one
// group, whose key is in UTC.
func appendKey(dst []byte, kind pdpp.Kind, enc []byte) []byte {
	switch {
	case kind == pdpp.KindString:
		return rawjson.AppendString(dst, string(enc))
	case kind == pdpp.KindBoolean && len(enc) == 1:
		if enc[0] == 0 {
			return append(dst, "false"...)
		}
		return append(dst, "true"...)
	case kind.IsNumeric():
		if text, ok := sortkey.Decimal(enc); ok {
			return append(dst, text...)
		}
	case kind.IsTime():
		if t, ok := sortkey.Time(enc); ok {
			return rawjson.AppendString(dst, timeKey(kind, t))
		}
	}
	return append(dst, null...) // no store has such an entry
}

func timeKey(kind pdpp.Kind, t time.Time) string {
	if kind == pdpp.KindDate && t.Equal(t.Truncate(24*time.Hour)) {
		return t.Format(time.DateOnly)
	}
	return t.Format(time.RFC3339Nano)
}
