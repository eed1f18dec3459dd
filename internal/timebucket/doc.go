// Package timebucket cuts the time line into the minutes, hours, days, weeks,
// months, quarters and years of an IANA zone (rs-contract AG-3, AG-11; decisions
// R8, R13). It is pure: no clock, and no file that a caller could name.
//
// A bucket has a key, what the clocks of the zone show at its beginning, and is
// the half-open interval of instants that count under that key. For every zone
// and granularity the buckets partition the time line: each instant is in exactly
// one, each ends where the next begins, none is empty, and keys strictly increase.
// They are made for the years 0001 to 9999.
//
// # When clocks change
//
// Where clocks go forward, what they skip has no bucket: no hour 02 on the night
// that summer time begins in Berlin, no 30 December 2011 in Apia. Of what is
// skipped in part, the rest is a shorter bucket under its usual key.
//
// Where clocks go back, they show the same twice. A key has no zone and so cannot
// say which of the two is meant: both count under one key. A bucket begins when
// clocks pass its beginning for the last time, and reaches to the last time they
// pass its end. The hour that is repeated in Berlin is therefore one bucket of two
// hours.
//
// When clocks return to before the edge of a bucket they had already passed, no
// partition can agree with every clock. By the rule above the first pass counts
// where the clocks return to: at St. John's, where they once went from 00:01 back
// to 23:01, that first minute after midnight belongs to the day before. For the
// same reason the sixty minutes before clocks go back to 02:00 all count under the
// minute 02:00, while those after have each their own. Letting a bucket cover both
// passes of everything it overlaps would be the alternative; it would merge
// October and November 2009 at St. John's into one month.
package timebucket
