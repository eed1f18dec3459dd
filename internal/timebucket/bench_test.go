package timebucket

import (
	"testing"
	"time"
)

func BenchmarkOf(b *testing.B) {
	at := time.Date(2026, 5, 1, 8, 7, 30, 0, time.UTC)
	for _, zone := range []string{"UTC", "Europe/Berlin", "Asia/Kathmandu"} {
		for _, g := range []Granularity{Minute, Day, Month, Year} {
			b.Run(zone+"/"+string(g), func(b *testing.B) {
				loc := mustZone(zone)
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					Of(at.Add(time.Duration(i%1e6)*time.Second), g, loc)
				}
			})
		}
	}
}

// Far from now the zone's rule has to be worked out each time.
func BenchmarkOfFuture(b *testing.B) {
	at, loc := time.Date(2126, 10, 20, 0, 0, 0, 0, time.UTC), mustZone("Europe/Berlin")
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		Of(at.Add(time.Duration(i%1e6)*time.Second), Day, loc)
	}
}

func BenchmarkLoadZone(b *testing.B) {
	b.Run("known", func(b *testing.B) {
		for b.Loop() {
			LoadZone("Europe/Berlin")
		}
	})
	b.Run("unknown", func(b *testing.B) {
		for b.Loop() {
			LoadZone("Europe/Atlantis")
		}
	})
}
