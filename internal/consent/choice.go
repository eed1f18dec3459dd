package consent

import (
	"slices"
	"time"

	"pdpp"
	"pdpp/internal/grant"
)

// Choice is what the owner ticked.
type Choice struct {
	Streams  []StreamChoice `json:"streams"`
	Duration Duration       `json:"duration"`
	Until    time.Time      `json:"until,omitzero"`    // the end, with DurationDate
	Replace  []string       `json:"replace,omitempty"` // grants and packages that end with the approval
	Training bool           `json:"training,omitempty"`
}

// StreamChoice is one ticked stream.
type StreamChoice struct {
	N      int       `json:"n"`
	Fields []string  `json:"fields,omitempty"` // empty: all that are offered (H-181)
	Since  time.Time `json:"since,omitzero"`   // zero: as requested
	Until  time.Time `json:"until,omitzero"`   // zero: as requested; exclusive
}

// Duration is the owner's answer to "For how long?" (H-181).
type Duration string

// The durations.
const (
	DurationOnce    Duration = "once" // a single_use grant
	Duration7d      Duration = "7d"
	Duration30d     Duration = "30d"
	Duration90d     Duration = "90d"
	Duration365d    Duration = "365d"
	DurationForever Duration = "forever" // until revoked
	DurationDate    Duration = "date"    // until Choice.Until
)

const day = 24 * time.Hour

// lengths are the durations that end a fixed time after the approval.
var lengths = map[Duration]time.Duration{
	DurationOnce: grant.SingleUseLifetime,
	Duration7d:   7 * day, Duration30d: 30 * day, Duration90d: 90 * day, Duration365d: 365 * day,
}

// Durations returns the durations that the owner can choose from, in the order of the
// form. A client that asked for a single use gets nothing longer.
func (o *Offer) Durations() []Duration {
	if o.AccessMode == grant.SingleUse {
		return []Duration{DurationOnce}
	}
	return []Duration{DurationOnce, Duration7d, Duration30d, Duration90d, Duration365d, DurationForever, DurationDate}
}

// End returns the end of a grant that is approved at now; zero means until revoked. date
// is the chosen end of DurationDate.
func (d Duration) End(now, date time.Time) time.Time {
	if length, ok := lengths[d]; ok {
		return now.Add(length)
	}
	if d == DurationDate {
		return date
	}
	return time.Time{}
}

// ParseDay returns the start of a day of a date control (2026-12-31) and the start of the
// next, both in UTC. "Since" that day means from its start; "until" that day includes it.
func ParseDay(s string) (start, end time.Time, ok bool) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil || t.Year() < 2 || t.Year() > 9998 {
		return time.Time{}, time.Time{}, false
	}
	return t, t.AddDate(0, 0, 1), true
}

// LeftOut returns the fields that the stream declares now and the grant does not include,
// in manifest order.
func LeftOut(c *pdpp.Catalog, g *pdpp.Grant, s pdpp.GrantStream) []string {
	m := c.Manifest(g.ConnectorKey)
	if m == nil || m.Stream(s.Name) == nil {
		return nil
	}
	return slices.DeleteFunc(grant.AllFields(m.Stream(s.Name)), func(name string) bool { return slices.Contains(s.Fields, name) })
}
