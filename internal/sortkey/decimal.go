package sortkey

import "slices"

// A number that is not zero is ±0.d1d2d3… × 10^exp with d1 and the last digit not
// zero. Its encoding is
//
//	the exponent: one byte nearE+exp when exp is within minNear..maxNear,
//	else tinyE or hugeE and three bytes;
//	the digits: two per byte, as 2×pair+1, the last as 2×pair.
//
// So the last byte is the only even one among the digits: it ends the encoding, and it is
// less than a byte that continues with the same pair. Negative numbers are the complement
// of all bytes of their absolute value. Zero is between.
const (
	zero    = 0x80
	tinyE   = 0x83
	nearE   = 0x98
	hugeE   = 0xFD
	minNear = -20
	maxNear = 100
	bias    = 1 << 23 // makes tiny exponents positive
)

// Limits on values, not on how they are written: scientific exponents up to
// ±maxExp and up to maxDigits significant digits.
const (
	maxExp    = 999_999
	maxDigits = 1_100
)

// decimal is a parsed number. The significant digits are head, then tail; both
// alias the text.
type decimal struct {
	negative   bool
	head, tail []byte
	exp        int // value = 0.headtail × 10^exp
}

func (d *decimal) digits() int     { return len(d.head) + len(d.tail) }
func (d *decimal) isZero() bool    { return d.digits() == 0 }
func (d *decimal) isInteger() bool { return d.isZero() || d.digits() <= d.exp }

// parseDecimal reads a number by the JSON grammar (RFC 8259 §6) and nothing else:
// no plus sign, no leading zeros, no hexadecimal, no NaN.
func parseDecimal(text []byte) (decimal, bool) {
	var d decimal
	s := text
	if len(s) > 0 && s[0] == '-' {
		d.negative = true
		s = s[1:]
	}
	n := digits(s)
	if n == 0 || n > 1 && s[0] == '0' {
		return d, false
	}
	d.head, s = s[:n], s[n:]
	if len(s) > 0 && s[0] == '.' {
		n = digits(s[1:])
		if n == 0 {
			return d, false
		}
		d.tail, s = s[1:1+n], s[1+n:]
	}
	e, ok := exponent(s)
	if !ok {
		return d, false
	}
	return d.normal(e)
}

// digits counts the digits that s starts with.
func digits(s []byte) int {
	n := 0
	for n < len(s) && s[n]-'0' <= 9 {
		n++
	}
	return n
}

// exponent reads the optional exponent part. It saturates far beyond what any mantissa
// could bring back into range.
func exponent(s []byte) (int, bool) {
	if len(s) == 0 {
		return 0, true
	}
	if s[0] != 'e' && s[0] != 'E' {
		return 0, false
	}
	s = s[1:]
	negative := len(s) > 0 && s[0] == '-'
	if negative || len(s) > 0 && s[0] == '+' {
		s = s[1:]
	}
	if len(s) == 0 || digits(s) != len(s) {
		return 0, false
	}
	e := 0
	for _, c := range s {
		e = min(e*10+int(c-'0'), 1<<50)
	}
	if negative {
		e = -e
	}
	return e, true
}

// normal converts head, tail and exponent, as written, to the canonical form; false when
// the value is outside the limits.
func (d *decimal) normal(e int) (decimal, bool) {
	d.exp = len(d.head) + e
	d.tail = trimZeros(d.tail)
	if len(d.tail) == 0 {
		d.head = trimZeros(d.head)
	}
	if len(d.head) > 0 && d.head[0] == '0' { // then it is all of head
		d.head = nil
		d.exp--
	}
	if len(d.head) == 0 {
		n := 0
		for n < len(d.tail) && d.tail[n] == '0' {
			n++
		}
		d.tail = d.tail[n:]
		d.exp -= n
	}
	if d.isZero() {
		return decimal{}, true // -0 and 0e9 are 0
	}
	scientific := d.exp - 1
	return *d, scientific <= maxExp && scientific >= -maxExp && d.digits() <= maxDigits
}

// trimZeros cuts the zeros at the end of s.
func trimZeros(s []byte) []byte {
	n := len(s)
	for n > 0 && s[n-1] == '0' {
		n--
	}
	return s[:n]
}

// append adds the encoding of d to dst.
func (d *decimal) append(dst []byte) []byte {
	if d.isZero() {
		return append(dst, zero)
	}
	dst = slices.Grow(dst, 4+(d.digits()+1)/2)
	start := len(dst)
	dst = appendExponent(dst, d.exp)
	dst = d.appendDigits(dst)
	if d.negative {
		complement(dst[start:])
	}
	return dst
}

func appendExponent(dst []byte, exp int) []byte {
	switch {
	case exp < minNear:
		exp += bias
		return append(dst, tinyE, byte(exp>>16), byte(exp>>8), byte(exp))
	case exp > maxNear:
		return append(dst, hugeE, byte(exp>>16), byte(exp>>8), byte(exp))
	}
	return append(dst, byte(nearE+exp))
}

func (d *decimal) appendDigits(dst []byte) []byte {
	head, tail := d.head, d.tail
	for ; len(head) >= 2; head = head[2:] {
		dst = append(dst, pair(head[0], head[1]))
	}
	if len(head) == 1 { // the pair that spans the decimal point
		second := byte('0')
		if len(tail) > 0 {
			second, tail = tail[0], tail[1:]
		}
		dst = append(dst, pair(head[0], second))
	}
	for ; len(tail) >= 2; tail = tail[2:] {
		dst = append(dst, pair(tail[0], tail[1]))
	}
	if len(tail) == 1 {
		dst = append(dst, pair(tail[0], '0'))
	}
	dst[len(dst)-1]--
	return dst
}

// pair encodes two digits that are followed by others.
func pair(a, b byte) byte { return 2*(10*(a-'0')+(b-'0')) + 1 }

func complement(b []byte) {
	for i := range b {
		b[i] = ^b[i]
	}
}
