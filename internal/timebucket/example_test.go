package timebucket_test

import (
	"fmt"
	"time"

	"pdpp/internal/timebucket"
)

// The night in which summer time ends: the hour that clocks show twice is one
// bucket of two hours.
func ExampleOf() {
	zone, _ := timebucket.LoadZone("Europe/Berlin")
	b := timebucket.Of(time.Date(2026, 10, 24, 23, 30, 0, 0, time.UTC), timebucket.Hour, zone)
	for range 3 {
		fmt.Println(b.Key, b.Start.Format(time.TimeOnly), b.End.Sub(b.Start))
		b = timebucket.Of(b.End, timebucket.Hour, zone)
	}
	// Output:
	// 2026-10-25T01:00 23:00:00 1h0m0s
	// 2026-10-25T02:00 00:00:00 2h0m0s
	// 2026-10-25T03:00 02:00:00 1h0m0s
}
