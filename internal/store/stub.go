package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"unicode/utf8"

	"pdpp/internal/rawjson"
)

// LongValue is the size in bytes above which a top-level value is stored in pieces
// instead of in the body.
const LongValue = 16 << 10

// PieceChars is the number of characters in every piece of a long value but the last,
// so that a piece can be computed from a position. A window of a few thousand
// characters needs one or two pieces.
const PieceChars = 16 << 10

// Stub replaces a long value in a stored body. Its text form is enclosed in NUL bytes,
// which JSON text never contains, and includes a digest of the value, so that equal
// bodies mean equal records.
type Stub struct {
	Ordinal int  // index among the long values of the record, from 0
	Text    bool // a string: pieces are its raw inside; else they are JSON text
	Chars   int  // characters of the string, or of the JSON text
	Bytes   int  // length of all pieces together
}

// Piece is one part of a long value. It begins at a character boundary and never
// inside an escape.
type Piece struct {
	Start int // characters before it
	Raw   []byte
}

// Long is a long value that was cut out of a body.
type Long struct {
	Stub
	Pieces []Piece
}

// cutLong splits a long compact value.
func cutLong(ordinal int, value []byte) Long {
	l := Long{Stub: Stub{Ordinal: ordinal}}
	raw, next := value, jsonPiece
	if rawjson.KindOf(value) == rawjson.KindString {
		l.Text = true
		raw, next = value[1:len(value)-1], textPiece
	}
	l.Bytes = len(raw)
	for len(raw) > 0 {
		n, chars := next(raw)
		l.Pieces = append(l.Pieces, Piece{Start: l.Chars, Raw: raw[:n]})
		l.Chars += chars
		raw = raw[n:]
	}
	return l
}

// textPiece cuts the raw inside of a JSON string: at most PieceChars characters,
// and never within an escape.
func textPiece(raw []byte) (n, chars int) {
	piece := rawjson.Prefix(raw, PieceChars)
	return len(piece), rawjson.CharCount(piece)
}

// jsonPiece cuts JSON text: at most PieceChars characters.
func jsonPiece(raw []byte) (n, chars int) {
	for n < len(raw) && chars < PieceChars {
		_, size := utf8.DecodeRune(raw[n:])
		n += size
		chars++
	}
	return n, chars
}

// append writes the stub of a value into a body.
func (s Stub) append(dst, value []byte) []byte {
	kind := byte('j')
	if s.Text {
		kind = 't'
	}
	sum := sha256.Sum256(value)
	dst = append(dst, 0)
	dst = strconv.AppendInt(dst, int64(s.Ordinal), 10)
	dst = append(dst, ':', kind, ':')
	dst = strconv.AppendInt(dst, int64(s.Chars), 10)
	dst = append(dst, ':')
	dst = strconv.AppendInt(dst, int64(s.Bytes), 10)
	dst = append(dst, ':')
	dst = hex.AppendEncode(dst, sum[:16])
	return append(dst, 0)
}

// ParseStub reads a stub found in a stored body.
func ParseStub(value []byte) Stub {
	parts := bytes.SplitN(bytes.Trim(value, "\x00"), []byte{':'}, 5)
	if len(parts) != 5 {
		return Stub{}
	}
	number := func(b []byte) int {
		n, _ := strconv.Atoi(string(b))
		return n
	}
	return Stub{
		Ordinal: number(parts[0]), Text: string(parts[1]) == "t",
		Chars: number(parts[2]), Bytes: number(parts[3]),
	}
}

// Quote appends the quote that encloses the pieces of a string, and nothing for other
// values.
func (s Stub) Quote(dst []byte) []byte {
	if s.Text {
		return append(dst, '"')
	}
	return dst
}

// sameValue compares two values of stored bodies. The ordinal of a stub is not part of
// the value: it counts other long values, which may be hidden from the reader.
func sameValue(a, b []byte) bool {
	if rawjson.KindOf(a) == rawjson.KindStub && rawjson.KindOf(b) == rawjson.KindStub {
		_, a, _ = bytes.Cut(a, []byte{':'})
		_, b, _ = bytes.Cut(b, []byte{':'})
	}
	return bytes.Equal(a, b)
}
