package sortkey

import (
	"encoding/binary"
	"time"

	"pdpp"
)

// timeSize is the length of every encoded time.
const timeSize = 9

// epoch is added to Unix seconds: it puts 1970 in the middle of five bytes, which cover
// 17,000 years both ways. With its offset, a time of the years 0000 to 9999 can be a day
// outside these years.
const epoch = 1 << 39

// FromTime encodes an instant. Times that do not fit in five bytes, which no RFC 3339
// text can express, become the first or the last instant that does.
func FromTime(t time.Time) []byte {
	return appendInstant(make([]byte, 0, timeSize), t.Unix(), t.Nanosecond())
}

// Time returns the time that FromTime encoded, in UTC; false if enc is not an encoded
// time.
func Time(enc []byte) (time.Time, bool) {
	if len(enc) != timeSize {
		return time.Time{}, false
	}
	nano := binary.BigEndian.Uint32(enc[5:])
	if nano >= 1e9 {
		return time.Time{}, false
	}
	sec := int64(enc[0])<<32 | int64(binary.BigEndian.Uint32(enc[1:]))
	return time.Unix(sec-epoch, int64(nano)).UTC(), true
}

func appendInstant(dst []byte, sec int64, nano int) []byte {
	switch {
	case sec < -epoch:
		sec, nano = -epoch, 0
	case sec >= epoch:
		sec, nano = epoch-1, 1e9-1
	}
	var enc [timeSize]byte
	sec += epoch
	enc[0] = byte(sec >> 32)
	binary.BigEndian.PutUint32(enc[1:], uint32(sec))
	binary.BigEndian.PutUint32(enc[5:], uint32(nano))
	return append(dst, enc[:]...)
}

// appendTimeText encodes a time in the forms of C-34. pdpp.ParseTime decides what is a
// time; the usual forms are read here with the same result and without its allocations.
func appendTimeText(dst, text []byte) ([]byte, bool) {
	if sec, nano, ok := usualTime(text); ok {
		return appendInstant(dst, sec, nano), true
	}
	t, ok := pdpp.ParseTime(string(text))
	if !ok {
		return dst, false
	}
	return appendInstant(dst, t.Unix(), t.Nanosecond()), true
}

// usualTime reads YYYY-MM-DD, and YYYY-MM-DDTHH:MM:SS with at most nine digits of
// fraction and an offset or none. false means only that it is not of that form.
func usualTime(s []byte) (sec int64, nano int, ok bool) {
	if len(s) < 10 || len(s) > 64 || s[4] != '-' || s[7] != '-' {
		return 0, 0, false
	}
	year, month, day := two(s, 0)*100+two(s, 2), two(s, 5), two(s, 8)
	if two(s, 0) < 0 || two(s, 2) < 0 || month < 1 || month > 12 || day < 1 || day > monthDays(year, month) {
		return 0, 0, false
	}
	sec = unixDays(year, month, day) * 86400
	if len(s) == 10 {
		return sec, 0, true
	}
	if len(s) < 19 || s[10] != 'T' || s[13] != ':' || s[16] != ':' {
		return 0, 0, false
	}
	hour, minute, second := two(s, 11), two(s, 14), two(s, 17)
	if uint(hour) > 23 || uint(minute) > 59 || uint(second) > 59 {
		return 0, 0, false
	}
	nano, rest, ok := fraction(s[19:])
	if !ok {
		return 0, 0, false
	}
	offset, ok := zone(rest)
	return sec + int64(hour*3600+minute*60+second-offset), nano, ok
}

// two reads two digits at i; negative when they are not digits.
func two(s []byte, i int) int {
	a, b := s[i]-'0', s[i+1]-'0'
	if a > 9 || b > 9 {
		return -1
	}
	return int(a)*10 + int(b)
}

// fraction reads an optional fraction of one to nine digits.
func fraction(s []byte) (nano int, rest []byte, ok bool) {
	if len(s) == 0 || s[0] != '.' {
		return 0, s, true
	}
	s = s[1:]
	n := digits(s)
	if n == 0 || n > 9 {
		return 0, nil, false
	}
	for i := range 9 {
		nano *= 10
		if i < n {
			nano += int(s[i] - '0')
		}
	}
	return nano, s[n:], true
}

// zone reads Z, an offset, or nothing, which is UTC; the result is in seconds.
func zone(s []byte) (offset int, ok bool) {
	if len(s) == 0 || len(s) == 1 && s[0] == 'Z' {
		return 0, true
	}
	if len(s) != 6 || s[3] != ':' || s[0] != '+' && s[0] != '-' {
		return 0, false
	}
	hour, minute := two(s, 1), two(s, 4)
	if uint(hour) > 23 || uint(minute) > 59 {
		return 0, false
	}
	offset = hour*3600 + minute*60
	if s[0] == '-' {
		offset = -offset
	}
	return offset, true
}

func monthDays(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// unixDays counts the days from 1970-01-01. Years start in March here, so that the
// leap day is the last of its year.
func unixDays(year, month, day int) int64 {
	y, m := year, month-3
	if m < 0 {
		y, m = y-1, m+12
	}
	y += 400 // the divisions below need a year that is not negative
	const toUnix = 719468 + 146097
	return int64(y*365+y/4-y/100+y/400+(153*m+2)/5+day-1) - toUnix
}
