package pdpp

import (
	"strings"
	"testing"
	"time"
)

func TestParseTime(t *testing.T) {
	noon := time.Date(2026, 4, 30, 12, 0, 0, 0, time.UTC)
	for s, want := range map[string]time.Time{
		"2026-04-30":                     noon.Truncate(24 * time.Hour),
		"2026-04-30T12:00:00Z":           noon,
		"2026-04-30T12:00:00":            noon,
		"2026-04-30T14:00:00+02:00":      noon,
		"2026-04-30T12:00:00.250Z":       noon.Add(250 * time.Millisecond),
		"2026-04-30T12:00:00.123456789Z": noon.Add(123456789),
	} {
		if got, ok := ParseTime(s); !ok || !got.Equal(want) {
			t.Errorf("ParseTime(%q) = %v, %v, want %v", s, got, ok, want)
		}
	}
	for _, s := range []string{
		"", "2026", "2026-4-30", "30.04.2026", "2026-02-30", "2026-04-30T", "2026-04-30 12:00:00", "2026-04-30T5:00:00Z",
		"2026-04-30T12:00:00,5Z", "2026-04-30T12:00:00+24:00", "2026-04-30T12:00:00+00:60", "2026-04-30T12:00Z", strings.Repeat("2", 80),
	} {
		if got, ok := ParseTime(s); ok {
			t.Errorf("ParseTime(%q) = %v, want false", s, got)
		}
	}
}

func TestFormatTime(t *testing.T) {
	zone := time.FixedZone("", -5*3600)
	for _, at := range []time.Time{
		time.Date(2026, 1, 2, 3, 4, 5, 6_999_999, time.UTC), time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(9999, 12, 31, 23, 59, 59, 999_000_000, time.UTC), time.Date(2026, 12, 31, 23, 30, 0, 120_000_000, zone),
		time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC), time.UnixMilli(-1), time.UnixMilli(1 << 41),
	} {
		if got, want := FormatTime(at), at.UTC().Format(TimestampFormat); got != want {
			t.Errorf("FormatTime(%v) = %s, want %s", at, got, want)
		}
	}
}

func TestParseDuration(t *testing.T) {
	for s, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "15m": 15 * time.Minute, "12h": 12 * time.Hour, "30d": 720 * time.Hour,
	} {
		if got, ok := ParseDuration(s); !ok || got != want {
			t.Errorf("ParseDuration(%q) = %v, %v, want %v", s, got, ok, want)
		}
	}
	for _, s := range []string{"", "5", "d", "-1d", "0d", "1.5h", "3w", "213504d", "99999999999999999999d"} {
		if got, ok := ParseDuration(s); ok {
			t.Errorf("ParseDuration(%q) = %v, want false", s, got)
		}
	}
}

func TestRecordIDValid(t *testing.T) {
	for id, want := range map[RecordID]bool{
		"a": true, "a/b:c d": true, "...": true, "": false, ".": false, "..": false, "a\x00": false, "\xff": false,
		RecordID(strings.Repeat("x", 512)): true, RecordID(strings.Repeat("x", 513)): false,
	} {
		if got := id.Valid(); got != want {
			t.Errorf("RecordID(%.20q).Valid() = %v", id, got)
		}
	}
}

func TestDisplayName(t *testing.T) {
	for label, want := range map[string]string{"Joint account": "Joint account", "": "", " \t": "", "cin_a": "", "bank": ""} {
		c := Connection{ID: "cin_a", Connector: "bank", Label: label}
		if got := c.DisplayName(); got != want {
			t.Errorf("DisplayName of %q = %q, want %q", label, got, want)
		}
	}
}

func TestIDForms(t *testing.T) {
	for id, want := range map[ConnectionID]bool{"cin_a1": true, "": false, "a b": false, "a/b": false, ConnectionID(strings.Repeat("x", 129)): false} {
		if got := id.Valid(); got != want {
			t.Errorf("ConnectionID(%.20q).Valid() = %v", id, got)
		}
	}
	for k, want := range map[ConnectorKey]bool{"mail": true, "a-b_9": true, "Mail": false, "_x": false, "": false, "https://x": false} {
		if got := k.Valid(); got != want {
			t.Errorf("ConnectorKey(%q).Valid() = %v", k, got)
		}
	}
}
