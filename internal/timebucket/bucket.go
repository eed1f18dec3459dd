package timebucket

import "time"

// Bucket is the half-open interval of instants [Start, End), both in UTC and whole
// seconds, that count under Key. It is never empty.
type Bucket struct {
	Start, End time.Time
	Key        string
}

// Of returns the bucket that contains t. It panics when g is not one of the constants.
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
