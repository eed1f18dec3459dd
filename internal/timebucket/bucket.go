package timebucket

import "time"

// Bucket is the half-open interval of instants [Start, End), both in UTC and whole
// seconds, that count under Key. It is never empty.
type Bucket struct {
	Start, End time.Time
	Key        string
}

// Contains reports whether t counts under the key of b. Times that come sorted
// mostly stay in the bucket of the time before, and this is cheaper than Of.
func (b Bucket) Contains(t time.Time) bool { return !t.Before(b.Start) && t.Before(b.End) }

// Of gives the bucket that t is in. It panics when g is none of the constants.
func Of(t time.Time, g Granularity, zone *time.Location) Bucket {
	sec := t.Unix() // rounds down, and buckets begin at whole seconds
	here := periodAt(sec, zone)
	from, to := g.span(lowest(sec, here, zone))
	return Bucket{
		Start: passed(from, here, zone),
		End:   passed(to, here, zone),
		Key:   g.key(from),
	}
}

// Next gives the bucket that begins where b ends. Clocks may have skipped some, so
// its key need not be the next one of the calendar.
func Next(b Bucket, g Granularity, zone *time.Location) Bucket { return Of(b.End, g, zone) }

// Prev gives the bucket that ends where b begins.
func Prev(b Bucket, g Granularity, zone *time.Location) Bucket {
	return Of(b.Start.Add(-1), g, zone)
}
