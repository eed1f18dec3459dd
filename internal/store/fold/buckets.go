package fold

import (
	"bytes"
	"slices"

	"pdpp/internal/query"
	"pdpp/internal/rawjson"
	"pdpp/internal/sortkey"
	"pdpp/internal/store"
	"pdpp/internal/timebucket"
)

// Buckets makes time buckets. Which of them are kept is a matter of time alone, so
// they are counted first: by Count from rows, or by a store that can count an
// interval, with Put. Then, for other metrics than count, Add takes rows again.
type Buckets struct {
	query *query.Aggregate
	kept  []bucket // as they came; from Close on, ascending
	none  bucket   // records without a time
}

type bucket struct {
	timebucket.Bucket
	from, to []byte // encoded Start and End
	count    int64
	tally    *Tally
}

// NewBuckets returns the empty buckets of an aggregate.
func NewBuckets(q *query.Aggregate) *Buckets { return &Buckets{query: q} }

// Interval is the bucket of an encoded time: the encoded times from and, below, to.
type Interval struct {
	From, To []byte
	bucket   timebucket.Bucket
}

// Of returns the bucket of a time; false when enc is not an encoded time.
func (b *Buckets) Of(enc []byte) (Interval, bool) {
	t, ok := sortkey.Time(enc)
	if !ok {
		return Interval{}, false
	}
	found := timebucket.Of(t, b.query.Buckets.Granularity, b.query.Buckets.Zone)
	return Interval{sortkey.FromTime(found.Start), sortkey.FromTime(found.End), found}, true
}

// Put adds the count of a bucket. Buckets are put in the order of the query; full
// reports whether the limit is reached.
func (b *Buckets) Put(i Interval, n int64) (full bool) {
	b.kept = append(b.kept, bucket{Bucket: i.bucket, from: i.From, to: i.To, count: n})
	return len(b.kept) == b.query.Limit
}

// Count counts a row. Rows come in ascending order of their group.
func (b *Buckets) Count(r Row) {
	if r.Group == nil {
		b.none.count += r.Count
		return
	}
	if last := len(b.kept) - 1; last >= 0 && b.kept[last].holds(r.Group) {
		b.kept[last].count += r.Count
		return
	}
	if len(b.kept) >= b.query.Limit && !b.query.Buckets.Desc {
		return
	}
	if len(b.kept) == 2*b.query.Limit { // drop the earliest
		b.kept = append(b.kept[:0], b.latest()...)
	}
	if i, ok := b.Of(r.Group); ok {
		b.Put(i, r.Count)
	}
}

// latest returns the buckets that were added last, at most as many as the limit.
func (b *Buckets) latest() []bucket { return b.kept[max(0, len(b.kept)-b.query.Limit):] }

func (b *bucket) holds(enc []byte) bool {
	return bytes.Compare(enc, b.from) >= 0 && bytes.Compare(enc, b.to) < 0
}

// Close ends the counting of total records. Records without a time are the bucket
// null, which is cut first.
func (b *Buckets) Close(total int64) {
	b.kept = b.latest()
	slices.SortFunc(b.kept, func(x, y bucket) int { return bytes.Compare(x.from, y.from) })
	for _, k := range b.kept {
		total -= k.count
	}
	b.none.count = 0
	if len(b.kept) < b.query.Limit {
		b.none.count = total
	}
	for i := range b.kept {
		b.kept[i].tally = NewTally(b.query)
	}
	b.none.tally = NewTally(b.query)
}

// Add takes a row for the metric, after Close. For count_distinct, rows with equal
// values follow one another, whatever their group.
func (b *Buckets) Add(r Row) {
	if r.Group == nil {
		b.none.tally.Add(r)
		return
	}
	i, ok := slices.BinarySearchFunc(b.kept, r.Group, func(k bucket, enc []byte) int { return bytes.Compare(k.from, enc) })
	if !ok {
		i--
	}
	if i >= 0 && b.kept[i].holds(r.Group) {
		b.kept[i].tally.Add(r)
	}
}

// Result returns the buckets in the order of the query, null last (AG-7).
func (b *Buckets) Result() []Group {
	var out []Group
	for _, k := range b.kept {
		g := k.tally.Group(rawjson.AppendString(nil, k.Key))
		g.Count, g.From, g.To = k.count, k.from, k.to
		out = append(out, g)
	}
	if b.query.Buckets.Desc {
		slices.Reverse(out)
	}
	if b.none.count > 0 {
		g := b.none.tally.Group(null)
		g.Count = b.none.count
		out = append(out, g)
	}
	return out
}

// Other returns how many of total records are in none of the groups (AG-9).
func Other(total int64, groups []store.Group) int64 {
	for _, g := range groups {
		total -= g.Count
	}
	return total
}
