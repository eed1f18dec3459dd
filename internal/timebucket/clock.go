package timebucket

import (
	"math"
	"time"
)

// apart is more than any two clocks of the world ever differed: offsets from UTC are less
// than a day, so a change of clocks later than that cannot repeat the current local time.
const apart = 2 * day

// period is an interval [start, end) in Unix seconds with one offset. The neighbouring
// period may have the same offset.
type period struct {
	start, end int64
	offset     int64
}

// periodAt returns a period of zone that contains sec. Where a zone follows a yearly rule,
// package time is not exact about the changes of clocks, in two ways that are corrected
// here.
func periodAt(sec int64, zone *time.Location) period {
	if zone == time.UTC {
		return period{math.MinInt64, math.MaxInt64, 0}
	}
	t := time.Unix(sec, 0).In(zone)
	_, offset := t.Zone()
	start, end := bounds(t)
	for start != math.MinInt64 {
		// The rule of a zone ignores changes before it came into force, and yields an
		// earlier start. Seen from there, the change is an end.
		_, change := bounds(time.Unix(start, 0).In(zone))
		if change == end || change <= start {
			break
		}
		start = change
	}
	if end <= sec {
		// The rule assumes 365 days in every year: on the last day of a leap year its
		// end is in the past. The offset is valid for the rest of that UTC day.
		_, tomorrow := steps(wall(sec), 0, day)
		end = int64(tomorrow)
	}
	return period{start, end, int64(offset)}
}

// bounds returns the period of t according to package time.
func bounds(t time.Time) (start, end int64) {
	start, end = math.MinInt64, math.MaxInt64
	from, to := t.ZoneBounds()
	if !from.IsZero() {
		start = from.Unix()
	}
	if !to.IsZero() {
		end = to.Unix()
	}
	return start, end
}

// lowest returns the earliest local time at sec, which is in here, or at any later
// instant: the local time at sec, unless clocks go back soon.
func lowest(sec int64, here period, zone *time.Location) wall {
	low := sec + here.offset
	for p := here; p.end < sec+apart; {
		change := p.end
		p = periodAt(change, zone)
		low = min(low, change+p.offset)
	}
	return wall(low)
}

// passed returns the instant at which clocks pass w for the last time: before it they
// show less than w, after it never again. When w is skipped, that is the instant of the
// change. here is any period; when it is the right one, no other is looked up.
func passed(w wall, here period, zone *time.Location) time.Time {
	p := here
	if at := int64(w) - p.offset; at <= p.start || at > p.end-apart {
		p = periodAt(int64(w)+day, zone) // clocks have passed w there, wherever it is
	}
	for {
		// Strictly after the start: clocks that show exactly w when the period starts
		// may have gone back from a later time.
		if at := int64(w) - p.offset; at > p.start {
			return time.Unix(min(at, p.end), 0).UTC()
		}
		p = periodAt(p.start-1, zone)
	}
}
