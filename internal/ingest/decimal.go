package ingest

import (
	"bytes"
	"strconv"

	"pdpp"
)

// appendDecimal appends the canonical text of a JSON number (REC-2): an integer as
// written, anything else its exact value, without exponent, trailing zeros of a fraction,
// or a sign of zero. It returns false, without allocating, when the text would be longer
// than any key.
func appendDecimal(dst, number []byte) ([]byte, bool) {
	digits, negative := bytes.CutPrefix(number, []byte{'-'})
	if isDigits(digits) && !(negative && string(digits) == "0") {
		return append(dst, number...), len(number) <= pdpp.MaxRecordID
	}
	significant, point, ok := decompose(digits)
	if !ok {
		return dst, false
	}
	if len(significant) == 0 {
		return append(dst, '0'), true
	}
	if len(significant) > pdpp.MaxRecordID || point > pdpp.MaxRecordID || -point > pdpp.MaxRecordID {
		return dst, false
	}
	start := len(dst)
	if negative {
		dst = append(dst, '-')
	}
	switch n := int64(len(significant)); {
	case point <= 0:
		dst = append(dst, "0."...)
		dst = append(dst, bytes.Repeat([]byte{'0'}, int(-point))...)
		dst = append(dst, significant...)
	case point >= n:
		dst = append(dst, significant...)
		dst = append(dst, bytes.Repeat([]byte{'0'}, int(point-n))...)
	default:
		dst = append(dst, significant[:point]...)
		dst = append(dst, '.')
		dst = append(dst, significant[point:]...)
	}
	return dst, len(dst)-start <= pdpp.MaxRecordID
}

// decompose returns the digits of an unsigned number without zeros at either end, and
// the position of the decimal point: the value is 0.significant times ten to the point.
// It returns false when the exponent does not fit in 32 bits.
func decompose(number []byte) (significant []byte, point int64, ok bool) {
	mantissa, exponent := number, int64(0)
	if at := bytes.IndexAny(number, "eE"); at >= 0 {
		mantissa = number[:at]
		var err error
		if exponent, err = strconv.ParseInt(string(number[at+1:]), 10, 32); err != nil {
			// Zero with any exponent is zero.
			return nil, 0, len(bytes.Trim(mantissa, "0.")) == 0
		}
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte{'.'})
	significant = append(append(make([]byte, 0, len(mantissa)), whole...), fraction...)
	point = int64(len(whole)) + exponent
	trimmed := bytes.TrimLeft(significant, "0")
	point -= int64(len(significant) - len(trimmed))
	return bytes.TrimRight(trimmed, "0"), point, true
}

func isDigits(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0
}

// isWhole reports whether a JSON number has an integral value, however written.
func isWhole(number []byte) bool {
	digits := bytes.TrimPrefix(number, []byte{'-'})
	if isDigits(digits) {
		return true
	}
	significant, point, ok := decompose(digits)
	return ok && point >= int64(len(significant)) || ok && len(significant) == 0
}
