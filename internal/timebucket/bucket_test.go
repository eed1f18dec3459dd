package timebucket

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func (b Bucket) contains(t time.Time) bool { return !t.Before(b.Start) && t.Before(b.End) }

// next returns the bucket that begins where b ends. Clocks may have skipped some, so its
// key need not be the next one of the calendar.
func next(b Bucket, g Granularity, zone *time.Location) Bucket { return Of(b.End, g, zone) }

// prev returns the bucket that ends where b begins.
func prev(b Bucket, g Granularity, zone *time.Location) Bucket { return Of(b.Start.Add(-1), g, zone) }

// bucketCase is a time and the bucket it is in.
type bucketCase struct {
	name, at string
	g        Granularity
	zone     string
	want     Bucket
}

func checkAll(t *testing.T, tests []bucketCase) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { check(t, tt.at, tt.g, tt.zone, tt.want) })
	}
}

func TestOf(t *testing.T) {
	checkAll(t, []bucketCase{
		{"minute", "2026-05-01T08:07:59.999999999Z", Minute, "UTC", span("2026-05-01T08:07", "2026-05-01T08:07:00Z", "2026-05-01T08:08:00Z")},
		{"hour", "2026-05-01T08:07:00Z", Hour, "UTC", span("2026-05-01T08:00", "2026-05-01T08:00:00Z", "2026-05-01T09:00:00Z")},
		{"day", "2026-05-01T23:59:59Z", Day, "UTC", span("2026-05-01", "2026-05-01T00:00:00Z", "2026-05-02T00:00:00Z")},
		{"week", "2026-05-03T23:59:59Z", Week, "UTC", span("2026-04-27", "2026-04-27T00:00:00Z", "2026-05-04T00:00:00Z")},
		{"week on its monday", "2026-04-27T00:00:00Z", Week, "UTC", span("2026-04-27", "2026-04-27T00:00:00Z", "2026-05-04T00:00:00Z")},
		{"month", "2024-02-29T12:00:00Z", Month, "UTC", span("2024-02-01", "2024-02-01T00:00:00Z", "2024-03-01T00:00:00Z")},
		{"quarter", "2025-12-31T23:00:00Z", Quarter, "UTC", span("2025-10-01", "2025-10-01T00:00:00Z", "2026-01-01T00:00:00Z")},
		{"year", "2026-12-31T23:00:00Z", Year, "UTC", span("2026-01-01", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z")},
		{"before 1970", "1969-12-31T23:59:59.5Z", Minute, "UTC", span("1969-12-31T23:59", "1969-12-31T23:59:00Z", "1970-01-01T00:00:00Z")},
		{"week before 1970", "1969-12-28T00:00:00Z", Week, "UTC", span("1969-12-22", "1969-12-22T00:00:00Z", "1969-12-29T00:00:00Z")},
		{"first year", "0001-01-01T00:00:00Z", Week, "UTC", span("0001-01-01", "0001-01-01T00:00:00Z", "0001-01-08T00:00:00Z")},

		{"summer", "2026-07-31T22:30:00Z", Month, "Europe/Berlin", span("2026-08-01", "2026-07-31T22:00:00Z", "2026-08-31T22:00:00Z")},
		{"a month with both offsets", "2026-10-10T00:00:00Z", Month, "Europe/Berlin", span("2026-10-01", "2026-09-30T22:00:00Z", "2026-10-31T23:00:00Z")},
		{"a year has the same at both ends", "2026-07-01T00:00:00Z", Year, "America/New_York", span("2026-01-01", "2026-01-01T05:00:00Z", "2027-01-01T05:00:00Z")},
		{"a southern year", "2026-07-01T00:00:00Z", Year, "Australia/Sydney", span("2026-01-01", "2025-12-31T13:00:00Z", "2026-12-31T13:00:00Z")},
		{"45 minutes", "2026-05-01T08:07:00Z", Hour, "Asia/Kathmandu", span("2026-05-01T13:00", "2026-05-01T07:15:00Z", "2026-05-01T08:15:00Z")},
		{"offset with seconds", "1890-01-01T00:00:00Z", Minute, "Europe/Berlin", span("1890-01-01T00:53", "1889-12-31T23:59:32Z", "1890-01-01T00:00:32Z")},
		{"year 9999", "9999-12-31T10:00:00Z", Year, "Europe/Berlin", span("9999-01-01", "9998-12-31T23:00:00Z", "9999-12-31T23:00:00Z")},
	})
}

// Where clocks are changed; the rules are in the package comment.
func TestOfChanges(t *testing.T) {
	checkAll(t, []bucketCase{
		{"before the gap", "2026-03-29T00:59:59Z", Hour, "Europe/Berlin", span("2026-03-29T01:00", "2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z")},
		{"after the gap", "2026-03-29T01:00:00Z", Hour, "Europe/Berlin", span("2026-03-29T03:00", "2026-03-29T01:00:00Z", "2026-03-29T02:00:00Z")},
		{"a day of 23 hours", "2026-03-29T12:00:00Z", Day, "Europe/Berlin", span("2026-03-29", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z")},
		{"half an hour is skipped", "2025-10-04T15:30:00Z", Hour, "Australia/Lord_Howe", span("2025-10-05T02:00", "2025-10-04T15:30:00Z", "2025-10-04T16:00:00Z")},
		{"midnight is skipped", "2025-09-07T04:00:00Z", Day, "America/Santiago", span("2025-09-07", "2025-09-07T04:00:00Z", "2025-09-08T03:00:00Z")},
		{"the day after a skipped one", "2011-12-30T10:00:00Z", Day, "Pacific/Apia", span("2011-12-31", "2011-12-30T10:00:00Z", "2011-12-31T10:00:00Z")},
		{"a week without its friday", "2011-12-30T10:00:00Z", Week, "Pacific/Apia", span("2011-12-26", "2011-12-26T10:00:00Z", "2012-01-01T10:00:00Z")},

		{"repeated hour, first pass", "2026-10-25T00:10:00Z", Hour, "Europe/Berlin", span("2026-10-25T02:00", "2026-10-25T00:00:00Z", "2026-10-25T02:00:00Z")},
		{"repeated hour, second pass", "2026-10-25T01:10:00Z", Hour, "Europe/Berlin", span("2026-10-25T02:00", "2026-10-25T00:00:00Z", "2026-10-25T02:00:00Z")},
		{"repeated hour of 90 minutes", "2026-04-04T15:10:00Z", Hour, "Australia/Lord_Howe", span("2026-04-05T01:00", "2026-04-04T14:00:00Z", "2026-04-04T15:30:00Z")},
		{"a day of 25 hours", "2026-10-25T12:00:00Z", Day, "Europe/Berlin", span("2026-10-25", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z")},
		{"midnight twice", "2025-11-02T04:30:00Z", Day, "America/Havana", span("2025-11-02", "2025-11-02T04:00:00Z", "2025-11-03T05:00:00Z")},
		{"last hour of a day twice", "2026-04-05T03:30:00Z", Day, "America/Santiago", span("2026-04-04", "2026-04-04T03:00:00Z", "2026-04-05T04:00:00Z")},
		{"a day twice", "1969-09-30T20:00:00Z", Day, "Pacific/Kwajalein", span("1969-09-30", "1969-09-29T13:00:00Z", "1969-10-01T12:00:00Z")},
		{"repeated minute, first pass", "2026-10-25T00:59:00Z", Minute, "Europe/Berlin", span("2026-10-25T02:00", "2026-10-25T00:00:00Z", "2026-10-25T01:01:00Z")},
		{"repeated minute, second pass", "2026-10-25T01:07:00Z", Minute, "Europe/Berlin", span("2026-10-25T02:07", "2026-10-25T01:07:00Z", "2026-10-25T01:08:00Z")},

		{"back over midnight, before", "2009-11-01T02:29:59Z", Day, "America/St_Johns", span("2009-10-31", "2009-10-31T02:30:00Z", "2009-11-01T03:30:00Z")},
		{"back over midnight, the minute after", "2009-11-01T02:30:30Z", Day, "America/St_Johns", span("2009-10-31", "2009-10-31T02:30:00Z", "2009-11-01T03:30:00Z")},
		{"back over midnight, month", "2009-11-01T02:30:30Z", Month, "America/St_Johns", span("2009-10-01", "2009-10-01T02:30:00Z", "2009-11-01T03:30:00Z")},
		{"back over midnight, after", "2009-11-01T03:30:00Z", Month, "America/St_Johns", span("2009-11-01", "2009-11-01T03:30:00Z", "2009-12-01T03:30:00Z")},
	})
}

// With an offset, instants of the years 0000 to 9999 can be outside these years.
func TestOfBeyondFourDigits(t *testing.T) {
	tests := []struct {
		at   string
		zone string
		want string
	}{
		{"9999-12-31T23:30:00Z", "Asia/Tokyo", "+010000-01-01T08:30"},
		{"0000-01-01T00:00:00Z", "America/New_York", "-000001-12-31T19:03"},
		{"0000-01-01T00:00:00Z", "UTC", "0000-01-01T00:00"},
	}
	for _, tt := range tests {
		at, zone := instant(tt.at), mustZone(tt.zone)
		b := Of(at, Minute, zone)
		if b.Key != tt.want || !b.contains(at) {
			t.Errorf("Of(%s, minute, %s) = %v, want key %s and %s inside", tt.at, tt.zone, b, tt.want, tt.at)
		}
	}
}

func TestNeighbours(t *testing.T) {
	tests := []struct {
		at   string
		g    Granularity
		zone string
		want []string // keys of the bucket before, the bucket, and the one after
	}{
		{"2026-05-01T08:00:00Z", Quarter, "UTC", []string{"2026-01-01", "2026-04-01", "2026-07-01"}},
		{"2026-03-29T01:00:00Z", Hour, "Europe/Berlin", []string{"2026-03-29T01:00", "2026-03-29T03:00", "2026-03-29T04:00"}},
		{"2026-10-25T00:00:00Z", Hour, "Europe/Berlin", []string{"2026-10-25T01:00", "2026-10-25T02:00", "2026-10-25T03:00"}},
		{"2011-12-30T09:00:00Z", Day, "Pacific/Apia", []string{"2011-12-28", "2011-12-29", "2011-12-31"}},
	}
	for _, tt := range tests {
		zone := mustZone(tt.zone)
		b := Of(instant(tt.at), tt.g, zone)
		got := []string{prev(b, tt.g, zone).Key, b.Key, next(b, tt.g, zone).Key}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("around %s by %s in %s (-want +got):\n%s", tt.at, tt.g, tt.zone, diff)
		}
	}
}

func TestParseGranularity(t *testing.T) {
	for _, s := range []string{"minute", "hour", "day", "week", "month", "quarter", "year"} {
		if g, ok := ParseGranularity(s); !ok || string(g) != s {
			t.Errorf("ParseGranularity(%q) = %q, %v", s, g, ok)
		}
	}
	for _, s := range []string{"", "Day", "days", " day", "second", "decade"} {
		if g, ok := ParseGranularity(s); ok || g != "" {
			t.Errorf("ParseGranularity(%q) = %q, %v, want none", s, g, ok)
		}
	}
}

func TestOfRefusesUnknownGranularity(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error(`Of(…, "decade", …) did not panic`)
		}
	}()
	Of(time.Unix(0, 0), "decade", time.UTC)
}

func check(t *testing.T, at string, g Granularity, zone string, want Bucket) {
	t.Helper()
	if got := Of(instant(at), g, mustZone(zone)); !cmp.Equal(want, got) {
		t.Errorf("Of(%s, %s, %s)\n got %v\nwant %v", at, g, zone, got, want)
	}
}

func span(key, start, end string) Bucket {
	return Bucket{Start: instant(start), End: instant(end), Key: key}
}

func instant(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		panic(err)
	}
	return t
}

func mustZone(name string) *time.Location {
	zone, ok := LoadZone(name)
	if !ok {
		panic("no zone " + name)
	}
	return zone
}
