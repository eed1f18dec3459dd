package sortkey

import (
	"bytes"
	"strconv"
)

// maxPadding is how many padding zeros Decimal writes before it uses the scientific
// form.
const maxPadding = 20

// Decimal returns the number that enc encodes, as text; false if enc is not an encoded
// number. The text is the same for equal values and follows the JSON grammar: plain,
// without needless zeros, or scientific like 1.2e400 where that would be long.
func Decimal(enc []byte) (string, bool) {
	if len(enc) == 1 && enc[0] == zero {
		return "0", true
	}
	d, ok := decode(enc)
	if !ok {
		return "", false
	}
	return string(d.text()), true
}

// decode reads a canonical encoding of a number that is not zero. All digits are
// in head.
func decode(enc []byte) (decimal, bool) {
	var d decimal
	if len(enc) < 2 || enc[0] == zero {
		return d, false
	}
	if enc[0] < zero {
		d.negative = true
		enc = bytes.Clone(enc)
		complement(enc)
	}
	var ok bool
	if d.exp, enc, ok = decodeExponent(enc); !ok {
		return d, false
	}
	if d.head, ok = decodeDigits(enc); !ok {
		return d, false
	}
	scientific := d.exp - 1
	return d, scientific <= maxExp && scientific >= -maxExp && len(d.head) <= maxDigits
}

func decodeExponent(enc []byte) (exp int, rest []byte, ok bool) {
	b := int(enc[0])
	if b >= nearE+minNear && b <= nearE+maxNear {
		return b - nearE, enc[1:], true
	}
	if b != tinyE && b != hugeE || len(enc) < 5 {
		return 0, nil, false
	}
	exp = int(enc[1])<<16 | int(enc[2])<<8 | int(enc[3])
	if b == hugeE {
		return exp, enc[4:], exp > maxNear
	}
	exp -= bias
	return exp, enc[4:], exp < minNear
}

// decodeDigits accepts only the output of appendDigits.
func decodeDigits(enc []byte) ([]byte, bool) {
	if len(enc) == 0 {
		return nil, false
	}
	out := make([]byte, 0, 2*len(enc))
	for i, b := range enc {
		last := i == len(enc)-1
		if b > 199 || (b&1 == 0) != last {
			return nil, false
		}
		out = append(out, '0'+b/20, '0'+b/2%10)
	}
	if out[0] == '0' || enc[len(enc)-1] == 0 {
		return nil, false
	}
	if n := len(out) - 1; out[n] == '0' {
		out = out[:n]
	}
	return out, true
}

func (d *decimal) text() []byte {
	n := len(d.head)
	out := make([]byte, 0, n+maxPadding+8)
	if d.negative {
		out = append(out, '-')
	}
	switch {
	case d.exp > n+maxPadding || d.exp < -6:
		out = append(out, d.head[0])
		if n > 1 {
			out = append(out, '.')
			out = append(out, d.head[1:]...)
		}
		out = append(out, 'e')
		return strconv.AppendInt(out, int64(d.exp-1), 10)
	case d.exp <= 0:
		out = append(out, "0."...)
		out = append(out, zeros[:-d.exp]...)
		return append(out, d.head...)
	case d.exp >= n:
		out = append(out, d.head...)
		return append(out, zeros[:d.exp-n]...)
	}
	out = append(out, d.head[:d.exp]...)
	out = append(out, '.')
	return append(out, d.head[d.exp:]...)
}

// zeros has maxPadding zeros.
const zeros = "00000000000000000000"
