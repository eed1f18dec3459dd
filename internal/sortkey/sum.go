package sortkey

import (
	"math/big"
	"math/bits"
)

// maxPlaces is how many decimal places a sum may span, from the first digit of its
// largest value to the last of its smallest: twice as many as any one value has. It
// prevents 1e999999 plus 1e-999999 from becoming a number of two million digits.
const maxPlaces = 2 * maxDigits

// Sum adds encoded numbers as exact decimals. The zero Sum is 0.
type Sum struct {
	total big.Int // in units of 10^scale, without small
	small int64   // in the same units; |small| < smallEnd
	scale int
	some  bool // a value other than zero was added
	wide  bool // the values span too many places

	low, high int // the lowest and the highest decimal place of all values
	digits    [20]byte
}

// smallEnd is low enough that adding one more term cannot overflow.
const smallEnd = 1 << 62

// fastDigits is how many decimal digits always fit in an unsigned integer.
const fastDigits = 18

// Add adds times × the number encoded in enc. It ignores anything else.
func (s *Sum) Add(enc []byte, times int64) {
	d, ok := s.decode(enc)
	if !ok || s.wide {
		return
	}
	place := d.exp - len(d.head)
	if !s.some {
		s.some, s.low, s.high, s.scale = true, place, d.exp, place
	}
	s.low, s.high = min(s.low, place), max(s.high, d.exp)
	if s.high-s.low > maxPlaces {
		s.wide = true
		return
	}
	if place < s.scale {
		s.flush()
		s.total.Mul(&s.total, power(s.scale-place))
		s.scale = place
	}
	if !s.addSmall(d, place-s.scale, times) {
		s.addBig(d, place-s.scale, times)
	}
}

// decode is like the function decode, without its allocation for numbers of few digits.
func (s *Sum) decode(enc []byte) (decimal, bool) {
	if len(enc) < 2 || len(enc) > 1+fastDigits/2 || enc[0] == tinyE || enc[0] == hugeE || enc[0] == ^byte(tinyE) || enc[0] == ^byte(hugeE) {
		return decode(enc)
	}
	d := decimal{negative: enc[0] < zero}
	flip := byte(0)
	if d.negative {
		flip = 0xFF
	}
	d.exp = int(enc[0]^flip) - nearE
	d.head = s.digits[:0]
	for i, b := range enc[1:] {
		b ^= flip
		if last := i == len(enc)-2; b > 199 || (b&1 == 0) != last {
			return d, false
		}
		d.head = append(d.head, '0'+b/20, '0'+b/2%10)
	}
	d.head = trimZeros(d.head)
	return d, len(d.head) > 0 // as decodeDigits has it
}

// addSmall adds 10^shift × times × the digits of d, when that is quick.
func (s *Sum) addSmall(d decimal, shift int, times int64) bool {
	if len(d.head)+shift > fastDigits || times < 0 {
		return false
	}
	m := uint64(0)
	for _, c := range d.head {
		m = m*10 + uint64(c-'0')
	}
	for range shift {
		m *= 10
	}
	over, v := bits.Mul64(m, uint64(times))
	if over != 0 || v >= smallEnd {
		return false
	}
	if d.negative {
		s.small -= int64(v)
	} else {
		s.small += int64(v)
	}
	if s.small >= smallEnd || s.small <= -smallEnd {
		s.flush()
	}
	return true
}

func (s *Sum) addBig(d decimal, shift int, times int64) {
	var v big.Int
	v.SetString(string(d.head), 10)
	v.Mul(&v, power(shift))
	v.Mul(&v, big.NewInt(times))
	if d.negative {
		v.Neg(&v)
	}
	s.total.Add(&s.total, &v)
}

func (s *Sum) flush() {
	s.total.Add(&s.total, big.NewInt(s.small))
	s.small = 0
}

func power(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// Reset sets the sum to 0.
func (s *Sum) Reset() {
	s.total.SetInt64(0)
	s.small, s.scale, s.some, s.wide = 0, 0, false, false
}

// Result returns the sum as text, in the form of Decimal, and as a key that sorts like
// the sum; false when the values span more than maxPlaces places.
func (s *Sum) Result() (text string, key []byte, ok bool) {
	if s.wide {
		return "", nil, false
	}
	s.flush()
	if s.total.Sign() == 0 {
		return "0", []byte{zero}, true
	}
	d := decimal{negative: s.total.Sign() < 0}
	written := new(big.Int).Abs(&s.total).Append(nil, 10)
	d.exp = len(written) + s.scale
	d.head = trimZeros(written)
	return string(d.text()), d.append(nil), true
}
