package timebucket

import (
	"strconv"
	"time"
)

// Granularity is the length of a bucket, by the names of AG-3.
type Granularity string

// The granularities, shortest first.
const (
	Minute  Granularity = "minute"
	Hour    Granularity = "hour"
	Day     Granularity = "day"
	Week    Granularity = "week" // begins on Monday (AG-11)
	Month   Granularity = "month"
	Quarter Granularity = "quarter"
	Year    Granularity = "year"
)

// ParseGranularity reads one of the names of AG-3, in exactly that spelling.
func ParseGranularity(s string) (Granularity, bool) {
	switch g := Granularity(s); g {
	case Minute, Hour, Day, Week, Month, Quarter, Year:
		return g, true
	}
	return "", false
}

// wall is what clocks on a wall show: seconds since they would have shown
// 1970-01-01T00:00 if they had never been changed. It is no instant.
type wall int64

const (
	minute = 60
	hour   = 60 * minute
	day    = 24 * hour
	week   = 7 * day

	// monday is a wall time at which a week begins: 1969-12-29.
	monday = -3 * day
)

// span gives the beginning of the bucket that clocks show at w, and the beginning
// of the one after it.
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

// months is how many of them the granularity has. A Granularity that
// ParseGranularity did not give is a mistake of the program.
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

// steps cuts wall time every length seconds from origin.
func steps(w, origin, length wall) (from, to wall) {
	over := (w - origin) % length
	if over < 0 { // wall times before the origin round down too
		over += length
	}
	return w - over, w - over + length
}

// months cuts wall time every n months of the year; n divides 12.
func months(w wall, n int) (from, to wall) {
	year, month, _ := w.date().Date()
	first := month - (month-1)%time.Month(n)
	return firstOf(year, first), firstOf(year, first+time.Month(n))
}

func firstOf(year int, month time.Month) wall {
	return wall(time.Date(year, month, 1, 0, 0, 0, 0, time.UTC).Unix())
}

// date borrows the calendar of package time; the zone of the result means nothing.
func (w wall) date() time.Time { return time.Unix(int64(w), 0).UTC() }

// key writes the beginning of a bucket as AG-11 says. Offsets can carry an instant
// of the years 0000 to 9999 a little beyond them; such years get a sign and six
// digits, as ISO 8601 has it, and sort by time only, not as text.
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
