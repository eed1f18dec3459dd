package pages

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"pdpp/internal/evidence"
)

func itoa(n int) string { return strconv.Itoa(n) }

// countOf returns a number with its noun: "1 record", "1,234 records".
func countOf[N int | int64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(int64(n)) + " " + many
}

// thousands writes a number with separators.
func thousands(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// day writes a date, or missing for the zero time.
func day(t time.Time, missing string) string {
	if t.IsZero() {
		return missing
	}
	return t.UTC().Format("2 January 2006")
}

// lastDayText writes the last day before an exclusive end, or missing for the zero time.
func lastDayText(end time.Time, missing string) string {
	if end.IsZero() {
		return missing
	}
	return day(end.Add(-time.Nanosecond), "")
}

// dateValue returns a time as the value of a date control.
func dateValue(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}

// lastDay returns the last day before an exclusive end.
func lastDay(end time.Time) string {
	if end.IsZero() {
		return ""
	}
	return end.Add(-time.Nanosecond).UTC().Format(time.DateOnly)
}

// nameList writes names of streams or fields, all of them.
func nameList(names []string) string {
	shown := make([]string, len(names))
	for i, name := range names {
		shown[i] = clean(name, nameLength)
	}
	return strings.Join(shown, ", ")
}

// moment writes a time to the minute, or missing for the zero time.
func moment(t time.Time, missing string) string {
	if t.IsZero() {
		return missing
	}
	return t.UTC().Format("2 Jan 2006, 15:04 UTC")
}

// clean removes control and bidirectional characters from a text of a client, a label or
// a record, and bounds its length (D14).
func clean(s string, most int) string {
	s = strings.TrimSpace(evidence.Clean(s))
	if runes := []rune(s); len(runes) > most {
		return strings.TrimSpace(string(runes[:most])) + "…"
	}
	return s
}

// The names in user agents, in the order in which they decide: browsers also name those
// that they descend from.
var (
	browserNames = [][2]string{{"Firefox/", "Firefox"}, {"Edg/", "Edge"}, {"OPR/", "Opera"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"}}
	systemNames  = [][2]string{{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"Windows", "Windows"}, {"Mac OS X", "macOS"}, {"CrOS", "ChromeOS"}, {"Linux", "Linux"}}
)

// browserName returns a user agent in words, such as "Firefox on Linux", or cleaned if it
// is not known.
func browserName(userAgent string) string {
	name, system := firstOf(browserNames, userAgent), firstOf(systemNames, userAgent)
	switch {
	case name == "":
		return cmp.Or(clean(userAgent, nameLength), "Unknown")
	case system == "":
		return name
	}
	return name + " on " + system
}

func firstOf(names [][2]string, text string) string {
	for _, n := range names {
		if strings.Contains(text, n[0]) {
			return n[1]
		}
	}
	return ""
}

const (
	nameLength = 100 // characters of the name of a client, a label or a field
	textLength = 300 // characters of a description
)
