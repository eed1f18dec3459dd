// Package timebucket divides time into the minutes, hours, days, weeks, months, quarters
// and years of an IANA zone (rs-contract AG-3, AG-11; decisions R8, R13). It uses no
// clock, and no file that a caller could name.
//
// A bucket has a key, the local time of the zone at its beginning, and is the half-open
// interval of instants that count under that key. For every zone and granularity the
// buckets partition time: each instant is in exactly one, each ends where the next
// begins, none is empty, and keys strictly increase. They are meant for the years 0001 to
// 9999.
//
// # When clocks change
//
// Where clocks go forward, skipped times have no bucket: there is no hour 02 on the night
// when summer time begins in Berlin, and no 30 December 2011 in Apia. When only part of a
// bucket is skipped, the rest is a shorter bucket under its usual key.
//
// Where clocks go back, local times occur twice. A key has no zone and so cannot
// distinguish the two: both count under one key. A bucket begins when clocks pass its
// beginning for the last time, and ends when they pass its end for the last time. The
// hour that is repeated in Berlin is therefore one bucket of two hours.
//
// When clocks go back across the edge of a bucket, a partition cannot follow the local
// time exactly. By the rule above, the first pass counts under the local time to which
// the clocks return: at St. John's, where they once went from 00:01 back to 23:01, that
// first minute after midnight belongs to the day before. For the same reason the sixty
// minutes before clocks go back to 02:00 all count under the minute 02:00, while those
// after have each their own. Letting a bucket cover both passes of everything it overlaps
// would be the alternative; it would merge October and November 2009 at St. John's into
// one month.
package timebucket
