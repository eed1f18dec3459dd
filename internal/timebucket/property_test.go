package timebucket

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var all = []Granularity{Minute, Hour, Day, Week, Month, Quarter, Year}

// odd are zones with something unusual; drawn more often than others.
var odd = []string{
	"UTC", "Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe", "Pacific/Apia", "Pacific/Kwajalein",
	"Asia/Kathmandu", "Asia/Manila", "America/Juneau", "America/Havana", "Africa/Casablanca", "Europe/Dublin",
	"Antarctica/Troll", "Africa/Monrovia", "Asia/Gaza", "America/Scoresbysund", "Europe/Amsterdam", "Etc/GMT+12",
}

// drawZone takes zones of this machine and, where given, those of others.
func drawZone(t *rapid.T, others []*time.Location) *time.Location {
	if len(others) > 0 && rapid.Bool().Draw(t, "of others") {
		return rapid.SampledFrom(others).Draw(t, "zone")
	}
	name := rapid.OneOf(rapid.SampledFrom(odd), rapid.SampledFrom(strings.Fields(names))).Draw(t, "zone")
	return mustZone(name)
}

var (
	first = time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC)
	last  = time.Date(9999, 12, 30, 0, 0, 0, 0, time.UTC)
)

// drawTime draws a time of the years 1 to 9999; in half of the cases within three days of
// a change of clocks.
func drawTime(t *rapid.T, zone *time.Location) time.Time {
	lo, hi := first.Unix(), last.Unix()
	if rapid.Bool().Draw(t, "modern") {
		lo, hi = time.Date(1840, 1, 1, 0, 0, 0, 0, time.UTC).Unix(), time.Date(2060, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	}
	at := time.Unix(rapid.Int64Range(lo, hi).Draw(t, "second"), rapid.Int64Range(0, 999_999_999).Draw(t, "nano"))
	if !rapid.Bool().Draw(t, "near a change") {
		return at
	}
	change, _ := at.In(zone).ZoneBounds()
	if change.Before(first.Add(4 * 24 * time.Hour)) {
		return at
	}
	near := time.Duration(rapid.Int64Range(-3*day, 3*day).Draw(t, "seconds from it"))
	return change.Add(near * time.Second)
}

func TestBucketsPartition(t *testing.T) {
	others := embedded(t)
	rapid.Check(t, func(t *rapid.T) {
		zone := drawZone(t, others)
		at := drawTime(t, zone)
		g := rapid.SampledFrom(all).Draw(t, "granularity")
		b := Of(at, g, zone)
		if !b.contains(at) {
			t.Fatalf("Of(%s, %s, %s) = %v, which does not contain it", at, g, zone, b)
		}
		inside := rapid.Int64Range(0, b.End.Unix()-b.Start.Unix()-1).Draw(t, "inside")
		for _, other := range []time.Time{b.Start, b.Start.Add(time.Duration(inside) * time.Second), b.End.Add(-1)} {
			if o := Of(other, g, zone); o != b {
				t.Fatalf("Of(%s, %s, %s) = %v, but that is within %v", other, g, zone, o, b)
			}
		}
		after, before := next(b, g, zone), prev(b, g, zone)
		if after.Start != b.End || before.End != b.Start {
			t.Fatalf("not contiguous in %s: %v, %v, %v", zone, before, b, after)
		}
		if prev(after, g, zone) != b || next(before, g, zone) != b {
			t.Fatalf("neighbours of %v in %s do not lead back", b, zone)
		}
		if year := at.UTC().Year(); year > 2 && year < 9998 && (b.Key <= before.Key || after.Key <= b.Key) {
			t.Fatalf("keys do not increase in %s: %s, %s, %s", zone, before.Key, b.Key, after.Key)
		}
	})
}

// naive returns the key by formatting only, for the granularities that can be formatted.
func naive(at time.Time, g Granularity, zone *time.Location) string {
	layouts := map[Granularity]string{Hour: "2006-01-02T15", Day: "2006-01-02", Month: "2006-01", Year: "2006"}
	rest := map[Granularity]string{Hour: ":00", Month: "-01", Year: "-01-01"}
	return at.In(zone).Format(layouts[g]) + rest[g]
}

// The key is the formatted local time at t or at a later instant, whichever is less:
// clocks that will go back over the edge of a bucket have not passed it for the last time.
// Looking ahead step by step finds that without the list of changes.
func TestKeysAgreeWithFormatting(t *testing.T) {
	others := embedded(t)
	rapid.Check(t, func(t *rapid.T) {
		zone := drawZone(t, others)
		at := drawTime(t, zone)
		g := rapid.SampledFrom([]Granularity{Hour, Day, Month, Year}).Draw(t, "granularity")
		b := Of(at, g, zone)
		want := naive(at, g, zone)
		if b.Key == want {
			return
		}
		if b.Key > want {
			t.Fatalf("Of(%s, %s, %s) = %v, formatting gives the earlier %s", at, g, zone, b, want)
		}
		for s := range int64(2 * day / 10) {
			if naive(at.Add(time.Duration(s)*10*time.Second), g, zone) == b.Key {
				return
			}
		}
		t.Fatalf("Of(%s, %s, %s) = %v, formatting gives %s, and never again that key", at, g, zone, b, want)
	})
}

// Every day of some years with many changes, in every zone, begins and ends on that day
// and has about 24 hours: Casey has changed its clocks by three.
func TestDaysOfEveryZone(t *testing.T) {
	if testing.Short() {
		t.Skip("goes through every day of every zone")
	}
	start, end := time.Date(2009, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2013, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, name := range strings.Fields(names) {
		zone := mustZone(name)
		for b := Of(start, Day, zone); b.Start.Before(end); b = next(b, Day, zone) {
			if naive(b.Start, Day, zone) != b.Key || naive(b.End.Add(-1), Day, zone) != b.Key {
				t.Errorf("%s: %v is not the day of its edges", name, b)
			}
			if length := b.End.Sub(b.Start); length < 21*time.Hour || length > 27*time.Hour {
				t.Errorf("%s: %v has %v", name, b, length)
			}
		}
	}
}

// The number of buckets is that of the calendar.
func TestWalkCounts(t *testing.T) {
	tests := []struct {
		zone string
		year int
		g    Granularity
		want int
	}{
		{"UTC", 2024, Day, 366},
		{"Europe/Berlin", 2026, Day, 365},
		{"Europe/Berlin", 2026, Hour, 365*24 - 1}, // one skipped; the repeated one counts once
		{"Europe/Berlin", 2026, Minute, 365*24*60 - 60},
		{"Pacific/Apia", 2011, Day, 364},
		{"Pacific/Apia", 2011, Month, 12},
		{"Australia/Lord_Howe", 2026, Hour, 365 * 24}, // halves of hours only
		{"America/St_Johns", 2009, Quarter, 4},
	}
	for _, tt := range tests {
		zone := mustZone(tt.zone)
		year := Of(time.Date(tt.year, 7, 1, 0, 0, 0, 0, time.UTC), Year, zone)
		var keys []string
		for b := Of(year.Start, tt.g, zone); b.Start.Before(year.End); b = next(b, tt.g, zone) {
			keys = append(keys, b.Key)
		}
		if len(keys) != tt.want || !slices.IsSorted(keys) || len(slices.Compact(keys)) != tt.want {
			t.Errorf("%d in %s has %d buckets of a %s, want %d with increasing keys", tt.year, tt.zone, len(keys), tt.g, tt.want)
		}
	}
}
