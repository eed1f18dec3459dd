// Package sortkey encodes typed values as bytes whose order under bytes.Compare is
// the order that the contract asks for (rs-contract REC-7, REC-19, REC-20, M-4):
// strings by code points, numbers as exact decimals, dates and times by instant.
// Equal values have equal encodings, however they are written: 12, 12.0 and 1.2e1;
// 2026-01-01, 2026-01-01T00:00:00Z and 2026-01-01T01:00:00+01:00.
//
// A value that is null, mistyped or unparseable has no encoding: it is missing for
// sorting and filtering. Numbers never pass through float64 (C-33), and no
// work or memory grows with an exponent.
//
// The encodings, which stores write to disk:
//
//	string   the UTF-8 bytes themselves
//	boolean  one byte, 0 or 1
//	number   see decimal.go; no encoding is a proper prefix of another
//	time     9 bytes: 5 of seconds since 1970 plus 2^39, 4 of nanoseconds
package sortkey
