package timebucket

import (
	"slices"
	"strconv"
	"time"
)

// Granularity is the length of a bucket, by the names of AG-3.
type Granularity string

// The granularities.
const (
	Minute  Granularity = "minute"
	Hour    Granularity = "hour"
	Day     Granularity = "day"
	Week    Granularity = "week" // begins on Monday (AG-11)
	Month   Granularity = "month"
	Quarter Granularity = "quarter"
	Year    Granularity = "year"
)

// Granularities are all of them, shortest first.
var Granularities = []Granularity{Minute, Hour, Day, Week, Month, Quarter, Year}

// ParseGranularity reads one of the names of AG-3, in exactly that spelling.
func ParseGranularity(s string) (Granularity, bool) {
	if g := Granularity(s); slices.Contains(Granularities, g) {
		return g, true
	}
	return "", false
}

// wall is a local time: the seconds from 1970-01-01T00:00 on a clock that is never
// changed. It is not an instant.
type wall int64

const (
	minute = 60
	hour   = 60 * minute
	day    = 24 * hour
	week   = 7 * day

	// monday is a wall time at which a week begins: 1969-12-29.
	monday = -3 * day
)

// span returns the beginning of the bucket of w, and the beginning of the next one.
func (g Granularity) span(w wall) (from, to wall) {
	switch g {
	case Minute:
		return steps(w, 0, minute)
	case Hour:
		return steps(w, 0, hour)
	case Day:
		return steps(w, 0, day)
	case Week:
		return steps(w, monday, week)
	}
	return months(w, g.months())
}

// months returns how many months the granularity has. It panics when g is not one of the
// constants.
func (g Granularity) months() int {
	switch g {
	case Month:
		return 1
	case Quarter:
		return 3
	case Year:
		return 12
	}
	panic("timebucket: unknown granularity " + strconv.Quote(string(g)))
}

// steps divides wall time every length seconds from origin.
func steps(w, origin, length wall) (from, to wall) {
	over := (w - origin) % length
	if over < 0 { // wall times before the origin round down too
		over += length
	}
	return w - over, w - over + length
}

// months divides wall time every n months of the year; n divides 12.
func months(w wall, n int) (from, to wall) {
	year, month, _ := w.date().Date()
	first := month - (month-1)%time.Month(n)
	return firstOf(year, first), firstOf(year, first+time.Month(n))
}

func firstOf(year int, month time.Month) wall {
	return wall(time.Date(year, month, 1, 0, 0, 0, 0, time.UTC).Unix())
}

// date uses the calendar of package time; the zone of the result is meaningless.
func (w wall) date() time.Time { return time.Unix(int64(w), 0).UTC() }

// key formats the beginning of a bucket (AG-11). With an offset, an instant can be just
// outside the years 0000 to 9999. Such years have a sign and six digits, as in ISO 8601,
// and do not sort as text.
func (g Granularity) key(from wall) string {
	t := from.date()
	layout := "2006-01-02"
	if g == Minute || g == Hour {
		layout = "2006-01-02T15:04"
	}
	if y := t.Year(); y < 0 || y > 9999 {
		return longYear(y) + t.Format(layout[len("2006"):])
	}
	return t.Format(layout)
}

func longYear(y int) string {
	sign := "+"
	if y < 0 {
		sign, y = "-", -y
	}
	digits := strconv.Itoa(y)
	for len(digits) < 6 {
		digits = "0" + digits
	}
	return sign + digits
}
