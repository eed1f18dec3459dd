package sortkey

import (
	"bytes"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pdpp"
)

// times draws instants of the years 0000 to 9999, often close to each other.
var times = rapid.Custom(func(t *rapid.T) time.Time {
	first := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	last := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).Unix()
	sec := rapid.OneOf(rapid.Int64Range(first, last), rapid.Int64Range(-2, 2)).Draw(t, "sec")
	nano := rapid.OneOf(rapid.Int64Range(0, 999_999_999), rapid.Just(int64(0))).Draw(t, "nano")
	return time.Unix(sec, nano).UTC()
})

func TestTimeOrderAndRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := times.Draw(t, "a"), times.Draw(t, "b")
		x, y := FromTime(a), FromTime(b)
		if got, want := bytes.Compare(x, y), a.Compare(b); got != want {
			t.Fatalf("%v and %v compare as %d, want %d", a, b, got, want)
		}
		if back, ok := Time(x); !ok || !back.Equal(a) || back.Location() != time.UTC {
			t.Fatalf("Time(FromTime(%v)) = %v, %v", a, back, ok)
		}
		offset := rapid.IntRange(-23*60-59, 23*60+59).Draw(t, "offset")
		text := a.In(time.FixedZone("", offset*60)).Format(time.RFC3339Nano)
		want, wantOK := pdpp.ParseTime(text)
		got, ok := FromText(pdpp.KindDateTime, text)
		if ok != wantOK || ok && !bytes.Equal(got, FromTime(want)) {
			t.Fatalf("FromText(%s) = %x, %v, want %v, %v", text, got, ok, want, wantOK)
		}
	})
}

func TestTimeEqual(t *testing.T) {
	groups := [][]string{
		{"2026-01-01", "2026-01-01T00:00:00Z", "2026-01-01T01:00:00+01:00", "2026-01-01T00:00:00", "2025-12-31T23:30:00.000-00:30"},
		{"0000-01-01", "0000-01-01T23:59:00+23:59"},
		{"2024-02-29T12:00:00.123456789Z", "2024-02-29T12:00:00.1234567891Z"},
		{"9999-12-31T23:59:59.5Z", "9999-12-31T23:59:59.50", "9999-12-31T00:00:59.500-23:59"},
	}
	var last []byte
	for _, g := range groups {
		first, ok := FromText(pdpp.KindDateTime, g[0])
		if !ok {
			t.Fatalf("FromText(%s): no value", g[0])
		}
		for _, s := range g[1:] {
			if got, ok := FromText(pdpp.KindDate, s); !ok || !bytes.Equal(got, first) {
				t.Errorf("FromText(%s) = %x, %v, want %x as of %s", s, got, ok, first, g[0])
			}
		}
		if bytes.Equal(first, last) {
			t.Errorf("%s equals another instant", g[0])
		}
		last = first
	}
}

func TestTimeBeyondReach(t *testing.T) {
	far := time.Date(100000, 1, 1, 0, 0, 0, 0, time.UTC)
	early := time.Date(-100000, 1, 1, 0, 0, 0, 0, time.UTC)
	edge := time.Date(10000, 1, 1, 23, 0, 0, 0, time.UTC)
	a, b, c := FromTime(early), FromTime(edge), FromTime(far)
	if bytes.Compare(a, b) >= 0 || bytes.Compare(b, c) >= 0 {
		t.Errorf("%x, %x, %x do not ascend", a, b, c)
	}
	for _, enc := range [][]byte{nil, a[:8], append(FromTime(edge), 0), {0, 0, 0, 0, 0, 0xff, 0, 0, 0}} {
		if got, ok := Time(enc); ok {
			t.Errorf("Time(%x) = %v, want none", enc, got)
		}
	}
}

// FuzzTime: the fast reader and pdpp.ParseTime agree on every text.
func FuzzTime(f *testing.F) {
	for _, s := range []string{
		"2026-01-01", "2026-01-01T01:00:00+01:00", "2024-02-29T23:59:59.999999999Z", "2023-02-29", "2026-13-01", "2026-00-10", "1900-02-29",
		"2026-01-01T24:00:00Z", "2026-01-01T23:59:60Z", "2026-01-01T00:00:00,5Z", "2026-01-01t00:00:00z", "2026-01-01T00:00:00+24:00",
		"2026-01-01T00:00:00+00:60", "2026-01-01T00:00:00.Z", "2026-01-01T0:00:00Z", "0000-01-01", "9999-12-31T23:59:59-23:59", "2026-01-01 00:00:00Z",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want, wantOK := pdpp.ParseTime(s)
		got, ok := FromText(pdpp.KindDateTime, s)
		if ok != wantOK || ok && !bytes.Equal(got, FromTime(want)) {
			t.Fatalf("FromText(%q) = %x, %v, want %v, %v", s, got, ok, want, wantOK)
		}
	})
}
