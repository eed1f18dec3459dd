package demo

import (
	"fmt"
	"iter"
	"strings"
	"time"
)

const day = 24 * time.Hour

// The first and the last day of the data, independent of the clock.
var (
	firstDay = time.Date(2023, 1, 2, 0, 0, 0, 0, time.UTC)
	lastDay  = time.Date(2026, 10, 18, 0, 0, 0, 0, time.UTC)
)

// moment parses "2006-01-02" or "2006-01-02 15:04" from an embedded text.
func moment(s string) time.Time {
	layout := "2006-01-02 15:04"
	if len(s) == len("2006-01-02") {
		layout = "2006-01-02"
	}
	t, err := time.Parse(layout, s)
	if err != nil {
		panic("demo: " + err.Error()) // a typing mistake in an embedded text
	}
	return t
}

func utc(t time.Time) string { return t.Format("2006-01-02T15:04:05Z") }

func isoDay(t time.Time) string { return t.Format("2006-01-02") }

func month(t time.Time) string { return t.Format("2006-01") }

// hamburg formats a time with the offset of Hamburg. It implements the rule for summer time
// itself, so that no time zone database is needed.
func hamburg(t time.Time) string {
	offset := 1
	if !t.Before(changeover(t.Year(), time.March)) && t.Before(changeover(t.Year(), time.October)) {
		offset = 2
	}
	return t.Add(time.Duration(offset)*time.Hour).Format("2006-01-02T15:04:05") + fmt.Sprintf("+%02d:00", offset)
}

// changeover returns 01:00 UTC on the last Sunday of a month.
func changeover(year int, m time.Month) time.Time {
	t := time.Date(year, m+1, 0, 1, 0, 0, 0, time.UTC)
	return t.AddDate(0, 0, -int(t.Weekday()))
}

// days returns every midnight from first to last, both included.
func days(first, last time.Time) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		for t := first; !t.After(last); t = t.AddDate(0, 0, 1) {
			if !yield(t) {
				return
			}
		}
	}
}

// months returns the first day of every month of the data.
func months() iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		for t := time.Date(2023, 1, 1, 0, 0, 0, 0, time.UTC); t.Before(lastDay); t = t.AddDate(0, 1, 0) {
			if !yield(t) {
				return
			}
		}
	}
}

// Replacements that adapt templates to their time. The templates describe the new flat,
// with its neighbours and its problems.
var (
	beforeMove = strings.NewReplacer(
		"Aylin's father", "Frau Kruse downstairs", "Frau Demirs Vater", "Frau Kruse", "Aylin", "Frau Kruse",
		"S. Haddad", "E. Kruse", "Samir", "Frau Kruse", "zum Oud hochkommen", "zum Skat herunterkommen",
		"news of the deposit", "news of the bathroom window", "half of Ottensen", "half of Eimsbüttel",
		"Kiste 48 = Kabel?", "Keller: Kabel?", "an der Ecke", "in der Osterstraße",
		"das alte Fensterbrett aus der Osterstraße", "das alte Fensterbrett")
	beforeFall = strings.NewReplacer("the wrist is fine", "I am eating enough")
	afterMove  = strings.NewReplacer("Brandt", "the caretaker", "the landlord", "the caretaker")
)

// adaptTo replaces what is not true at the time of a generated text. Hand-written texts do
// not need it.
func adaptTo(text string, at time.Time) string {
	if at.Before(moment("2024-05-18")) {
		text = beforeFall.Replace(text)
	}
	if at.Before(moment("2025-04-15")) {
		return beforeMove.Replace(text)
	}
	return text
}
