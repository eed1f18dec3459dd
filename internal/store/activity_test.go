package store

import (
	"testing"
	"time"
)

func TestDay(t *testing.T) {
	for text, want := range map[string]string{
		"2026-11-16T23:59:59.999Z":  "2026-11-16",
		"2026-11-17T00:00:00Z":      "2026-11-17",
		"2026-11-17T00:30:00+01:00": "2026-11-16",
		"1969-12-31T23:59:59Z":      "1969-12-31",
		"1969-12-31T00:00:00Z":      "1969-12-31",
		"1970-01-01T00:00:00Z":      "1970-01-01",
	} {
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			t.Fatal(err)
		}
		if got := DayOf(at).String(); got != want {
			t.Errorf("DayOf(%s) = %s, want %s", text, got, want)
		}
	}
}
