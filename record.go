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

// TimestampFormat is the form of every time the server makes (C-33).
const TimestampFormat = "2006-01-02T15:04:05.000Z"

// FormatTime writes t as the server writes times: UTC, milliseconds, Z.
func FormatTime(t time.Time) string { return t.UTC().Format(TimestampFormat) }

// ParseTime reads a time as C-34 says: an RFC 3339 date-time, a date alone
// (midnight UTC), or a date-time without offset (UTC). Anything else is no time.
func ParseTime(s string) (time.Time, bool) {
	if len(s) < len("2006-01-02") || len(s) > 64 {
		return time.Time{}, false
	}
	if len(s) == len("2006-01-02") {
		t, err := time.Parse("2006-01-02", s)
		return t, err == nil
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t.UTC(), true
	}
	if t, err := time.Parse("2006-01-02T15:04:05", s); err == nil {
		return t, true
	}
	return time.Time{}, false
}

// ParseDuration reads an operator's duration: 90s, 15m, 12h, 30d (H-10).
func ParseDuration(s string) (time.Duration, bool) {
	if len(s) < 2 {
		return 0, false
	}
	n, err := strconv.ParseInt(s[:len(s)-1], 10, 32)
	if err != nil || n <= 0 {
		return 0, false
	}
	units := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour}
	unit, ok := units[s[len(s)-1]]
	return time.Duration(n) * unit, ok
}
