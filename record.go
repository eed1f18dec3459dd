package pdpp

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// MaxRecordID is the greatest length of a canonical record id in bytes (REC-2).
const MaxRecordID = 512

// Valid reports whether id may be the canonical key of a record (REC-2): 1 to
// 512 bytes of UTF-8 without NUL, not "." or "..".
func (id RecordID) Valid() bool {
	s := string(id)
	return s != "" && len(s) <= MaxRecordID && s != "." && s != ".." &&
		utf8.ValidString(s) && strings.IndexByte(s, 0) < 0
}

// TimestampFormat is the layout of all times that the server writes (C-33).
const TimestampFormat = "2006-01-02T15:04:05.000Z"

// FormatTime returns t in TimestampFormat, in UTC.
func FormatTime(t time.Time) string { return string(AppendTime(nil, t)) }

// AppendTime appends t as FormatTime returns it. Every record contains such a time,
// so this avoids the slower time.AppendFormat.
func AppendTime(dst []byte, t time.Time) []byte {
	t = t.UTC()
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	if year < 0 || year > 9999 {
		return t.AppendFormat(dst, TimestampFormat)
	}
	dst = append(appendTwo(appendTwo(dst, year/100), year%100), '-')
	dst = append(appendTwo(dst, int(month)), '-')
	dst = append(appendTwo(dst, day), 'T')
	dst = append(appendTwo(dst, hour), ':')
	dst = append(appendTwo(dst, minute), ':')
	dst = append(appendTwo(dst, second), '.')
	ms := t.Nanosecond() / 1e6
	return append(appendTwo(dst, ms/10), byte('0'+ms%10), 'Z')
}

func appendTwo(dst []byte, n int) []byte { return append(dst, byte('0'+n/10), byte('0'+n%10)) }

// ParseTime parses a time (C-34): an RFC 3339 date-time, a date alone (midnight UTC),
// or a date-time without offset (UTC).
func ParseTime(s string) (time.Time, bool) {
	if len(s) < len("2006-01-02") || len(s) > 64 {
		return time.Time{}, false
	}
	if len(s) == len("2006-01-02") {
		t, err := time.Parse("2006-01-02", s)
		return t, err == nil
	}
	// Package time is lenient about digits and separators; RFC 3339 is not.
	if len(s) < len("2006-01-02T15:04:05") || s[13] != ':' || s[16] != ':' || strings.Contains(s, ",") || !validOffset(s) {
		return time.Time{}, false
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t.UTC(), true
	}
	if t, err := time.Parse("2006-01-02T15:04:05", s); err == nil {
		return t, true
	}
	return time.Time{}, false
}

// validOffset reports whether a numeric offset at the end of s, if there is one, is
// less than a day.
func validOffset(s string) bool {
	tail := s[len(s)-len("+00:00"):]
	if tail[0] != '+' && tail[0] != '-' {
		return true
	}
	return tail[1:3] <= "23" && tail[4:6] <= "59"
}

// ParseDuration parses a duration from a command line: 90s, 15m, 12h, 30d (H-10).
func ParseDuration(s string) (time.Duration, bool) {
	if len(s) < 2 {
		return 0, false
	}
	units := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour}
	unit, ok := units[s[len(s)-1]]
	n, err := strconv.ParseInt(s[:len(s)-1], 10, 64)
	if !ok || err != nil || n <= 0 || n > int64(maxDuration/unit) {
		return 0, false
	}
	return time.Duration(n) * unit, true
}

// maxDuration prevents an overflow of time.Duration.
const maxDuration = 200 * 365 * 24 * time.Hour
