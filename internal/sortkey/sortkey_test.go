package sortkey

import (
	"bytes"
	"testing"

	"pdpp"
)

func TestFromJSON(t *testing.T) {
	tests := []struct {
		kind  pdpp.Kind
		value string
		want  string
		ok    bool
	}{
		{pdpp.KindString, `""`, "", true},
		{pdpp.KindString, `"a\u0062\n😀"`, "ab\n😀", true},
		{pdpp.KindString, `1`, "", false},
		{pdpp.KindString, `null`, "", false},
		{pdpp.KindString, "\x00stub\x00", "", false},
		{pdpp.KindBoolean, `false`, "\x00", true},
		{pdpp.KindBoolean, `true`, "\x01", true},
		{pdpp.KindBoolean, `"true"`, "", false},
		{pdpp.KindBoolean, `1`, "", false},
		{pdpp.KindNumber, `0`, "\x80", true},
		{pdpp.KindNumber, `-0.0e7`, "\x80", true},
		{pdpp.KindNumber, `12`, "\x9a\x18", true},
		{pdpp.KindNumber, `-12`, "\x65\xe7", true},
		{pdpp.KindNumber, `1.5`, "\x99\x1e", true},
		{pdpp.KindNumber, `123`, "\x9b\x19\x3c", true},
		{pdpp.KindNumber, `"12"`, "", false},
		{pdpp.KindNumber, `null`, "", false},
		{pdpp.KindNumber, `[1]`, "", false},
		{pdpp.KindInteger, `1.0`, "\x99\x14", true},
		{pdpp.KindInteger, `15e-1`, "", false},
		{pdpp.KindInteger, `150e-1`, "\x9a\x1e", true},
		{pdpp.KindInteger, `1.5`, "", false},
		{pdpp.KindInteger, `0.0`, "\x80", true},
		{pdpp.KindInteger, `1e400`, "\xfd\x00\x01\x91\x14", true},
		{pdpp.KindDate, `"1970-01-01"`, "\x80\x00\x00\x00\x00\x00\x00\x00\x00", true},
		{pdpp.KindDateTime, `"1970-01-01T00:00:01.5Z"`, "\x80\x00\x00\x00\x01\x1d\xcd\x65\x00", true},
		{pdpp.KindDateTime, `"1970-01-01T00:00:00\u005a"`, "\x80\x00\x00\x00\x00\x00\x00\x00\x00", true},
		{pdpp.KindDateTime, `"yesterday"`, "", false},
		{pdpp.KindDateTime, `0`, "", false},
		{pdpp.KindNone, `1`, "", false},
	}
	for _, tt := range tests {
		got, ok := FromJSON(tt.kind, []byte(tt.value))
		if ok != tt.ok || string(got) != tt.want || (got == nil) == ok {
			t.Errorf("FromJSON(%d, %q) = %x, %v, want %x, %v", tt.kind, tt.value, got, ok, tt.want, tt.ok)
		}
		dst, ok := AppendJSON([]byte("dst"), tt.kind, []byte(tt.value))
		if ok != tt.ok || string(dst) != "dst"+tt.want {
			t.Errorf("AppendJSON(%d, %q) = %x, %v, want dst and %x, %v", tt.kind, tt.value, dst, ok, tt.want, tt.ok)
		}
	}
}

func TestFromText(t *testing.T) {
	tests := []struct {
		kind    pdpp.Kind
		operand string
		json    string // the JSON value it equals; "" when it does not parse
	}{
		{pdpp.KindString, "", `""`},
		{pdpp.KindString, "null", `"null"`},
		{pdpp.KindString, "\xff", ""},
		{pdpp.KindBoolean, "true", "true"},
		{pdpp.KindBoolean, "TRUE", ""},
		{pdpp.KindBoolean, "1", ""},
		{pdpp.KindBoolean, "", ""},
		{pdpp.KindNumber, "12.0", "12"},
		{pdpp.KindNumber, "-1.2e1", "-12"},
		{pdpp.KindNumber, "", ""},
		{pdpp.KindNumber, "-", ""},
		{pdpp.KindNumber, "+1", ""},
		{pdpp.KindNumber, "01", ""},
		{pdpp.KindNumber, "1.", ""},
		{pdpp.KindNumber, ".5", ""},
		{pdpp.KindNumber, "1e", ""},
		{pdpp.KindNumber, "1e+", ""},
		{pdpp.KindNumber, "1e5.0", ""},
		{pdpp.KindNumber, "0x10", ""},
		{pdpp.KindNumber, "NaN", ""},
		{pdpp.KindNumber, " 1", ""},
		{pdpp.KindNumber, "1_000", ""},
		{pdpp.KindInteger, "12.00", "12"},
		{pdpp.KindInteger, "12.5", ""},
		{pdpp.KindDate, "2026-01-01T01:00:00+01:00", `"2026-01-01"`},
		{pdpp.KindDateTime, "2026-01-01", `"2026-01-01T00:00:00Z"`},
		{pdpp.KindDateTime, "2026-02-30", ""},
		{pdpp.KindDateTime, "1767225600", ""},
		{pdpp.KindNone, "x", ""},
	}
	for _, tt := range tests {
		got, ok := FromText(tt.kind, tt.operand)
		want, wantOK := FromJSON(tt.kind, []byte(tt.json))
		if ok != wantOK || ok != (tt.json != "") || !bytes.Equal(got, want) || (got == nil) == ok {
			t.Errorf("FromText(%d, %q) = %x, %v, want %x, %v", tt.kind, tt.operand, got, ok, want, wantOK)
		}
	}
}

func TestAllocations(t *testing.T) {
	tests := []struct {
		name  string
		kind  pdpp.Kind
		value string
	}{
		{"integer", pdpp.KindInteger, `123456`},
		{"number", pdpp.KindNumber, `-1204.50`},
		{"date", pdpp.KindDate, `"2026-04-30"`},
		{"time", pdpp.KindDateTime, `"2026-04-30T09:12:44.123Z"`},
		{"time with offset", pdpp.KindDateTime, `"2026-04-30T09:12:44+02:00"`},
		{"time without offset", pdpp.KindDateTime, `"2026-04-30T09:12:44"`},
		{"string", pdpp.KindString, `"some text of ordinary length"`},
		{"escaped string", pdpp.KindString, `"some text\nof ordinary length"`},
		{"null", pdpp.KindDateTime, `null`},
	}
	buf := make([]byte, 0, 64)
	for _, tt := range tests {
		value := []byte(tt.value)
		if n := testing.AllocsPerRun(100, func() { sink, _ = FromJSON(tt.kind, value) }); n > 1 {
			t.Errorf("%s: FromJSON allocates %v times, want the result only", tt.name, n)
		}
		if n := testing.AllocsPerRun(100, func() { sink, _ = AppendJSON(buf, tt.kind, value) }); n != 0 {
			t.Errorf("%s: AppendJSON allocates %v times, want none", tt.name, n)
		}
	}
}

var sink []byte

func BenchmarkAppendJSON(b *testing.B) {
	benchmarks := []struct {
		name  string
		kind  pdpp.Kind
		value string
	}{
		{"integer", pdpp.KindInteger, `123456`},
		{"number", pdpp.KindNumber, `-1204.50`},
		{"date", pdpp.KindDate, `"2026-04-30"`},
		{"time", pdpp.KindDateTime, `"2026-04-30T09:12:44.123Z"`},
		{"string", pdpp.KindString, `"some text of ordinary length"`},
	}
	for _, bb := range benchmarks {
		value := []byte(bb.value)
		buf := make([]byte, 0, 64)
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sink, _ = AppendJSON(buf, bb.kind, value)
			}
		})
	}
}

func BenchmarkFromText(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		sink, _ = FromText(pdpp.KindDateTime, "2026-04-30T09:12:44.123Z")
	}
}
