package timebucket

import (
	"math"
	"time"
)

// apart is more than any two clocks of the world ever differed: offsets from UTC
// are less than a day, so a change of clocks more than apart in the future cannot
// bring back what they show now.
const apart = 2 * day

// period is a stretch of instants [start, end), in Unix seconds, throughout which
// clocks keep one offset. The neighbouring period may have the same offset.
type period struct {
	start, end int64
	offset     int64
}

// periodAt gives a period of zone that sec is in. Package time knows the changes of
// clocks, but where a zone goes by its yearly rule it is not exact about them, and
// both of its ways are corrected here.
func periodAt(sec int64, zone *time.Location) period {
	if zone == time.UTC {
		return period{math.MinInt64, math.MaxInt64, 0}
	}
	t := time.Unix(sec, 0).In(zone)
	_, offset := t.Zone()
	start, end := bounds(t)
	for start != math.MinInt64 {
		// The rule of a zone knows nothing of changes before it came into force,
		// and names an earlier start. From there the change shows as an end.
		_, change := bounds(time.Unix(start, 0).In(zone))
		if change == end || change <= start {
			break
		}
		start = change
	}
	if end <= sec {
		// The rule takes every year for one of 365 days: on the last day of a
		// leap year its end is in the past. The offset holds for the rest of
		// that day, which is one of UTC.
		_, tomorrow := steps(wall(sec), 0, day)
		end = int64(tomorrow)
	}
	return period{start, end, int64(offset)}
}

// bounds gives what package time says about the period that t is in.
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

// lowest gives the earliest that clocks show at sec, which is in here, or at any
// instant after it: what they show at sec, unless they will be put back.
func lowest(sec int64, here period, zone *time.Location) wall {
	low := sec + here.offset
	for p := here; p.end < sec+apart; {
		change := p.end
		p = periodAt(change, zone)
		low = min(low, change+p.offset)
	}
	return wall(low)
}

// passed gives the instant at which clocks pass w for the last time: before it
// they showed less than w, and from it on never again. When w is skipped, that is
// the moment of skipping. here is any period; when it is the one looked for, no
// other has to be found.
func passed(w wall, here period, zone *time.Location) time.Time {
	p := here
	if at := int64(w) - p.offset; at <= p.start || at > p.end-apart {
		p = periodAt(int64(w)+day, zone) // clocks have passed w there, wherever it is
	}
	for {
		// Strictly after the start: clocks that show exactly w when the period
		// starts may have been put back from beyond it.
		if at := int64(w) - p.offset; at > p.start {
			return time.Unix(min(at, p.end), 0).UTC()
		}
		p = periodAt(p.start-1, zone)
	}
}
