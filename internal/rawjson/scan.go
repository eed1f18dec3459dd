package rawjson

import (
	"math/bits"
	"unicode/utf8"
)

// Constants for testing eight bytes at once, as lanes of a 64-bit word.
const (
	lanes = 0x0101010101010101
	highs = 0x80 * lanes
)

// special sets the high bit of each lane that is a quote, a backslash, a control
// character or not ASCII. A borrow of the subtraction can also mark a plain lane, but
// only above a lane that is marked correctly. So the lowest mark is always correct.
func special(x uint64) uint64 {
	quote := (x ^ '"'*lanes) - lanes
	slash := (x ^ '\\'*lanes) - lanes
	control := x - ' '*lanes
	return (quote | slash | control | x) & highs
}

// load reads eight bytes; the compiler makes it one instruction.
func load[T string | []byte](s T, i int) uint64 {
	s = s[i : i+8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// quoteOrSlash sets the high bit of each lane that is a quote or a backslash. As with
// special, the lowest mark is always correct. Non-ASCII bytes are masked out.
func quoteOrSlash(x uint64) uint64 {
	quote := (x ^ '"'*lanes) - lanes
	slash := (x ^ '\\'*lanes) - lanes
	return (quote | slash) &^ x & highs
}

// plain returns the offset of the first special byte at or after i.
func plain[T string | []byte](b T, i int) int {
	for ; i+8 <= len(b); i += 8 {
		if m := special(load(b, i)); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	for i < len(b) && b[i] >= ' ' && b[i] < utf8.RuneSelf && b[i] != '"' && b[i] != '\\' {
		i++
	}
	return i
}

// str reads a string whose content starts at i.
func (p *parser) str(i int) (end int, escaped bool) {
	src := p.src
	for {
		i = plain(src, i)
		switch c := p.at(i); {
		case c == '"':
			return i + 1, escaped
		case c == '\\':
			n := escape(src, i)
			if n == 0 {
				return p.fail(ErrSyntax, i), false
			}
			i += n
			escaped = true
		case c < ' ': // a control character, or the end of the text
			return p.fail(ErrSyntax, i), false
		default:
			if i = skipNonASCII(src, i); i < 0 {
				return p.fail(ErrUTF8, ^i), false
			}
		}
	}
}

// skipNonASCII returns the offset after a run of non-ASCII characters, or the bitwise
// complement of the offset of the first byte that is not UTF-8.
func skipNonASCII(src []byte, i int) int {
	for i < len(src) && src[i] >= utf8.RuneSelf {
		_, n := utf8.DecodeRune(src[i:])
		if n == 1 {
			return ^i
		}
		i += n
	}
	return i
}

// escape returns the length of the escape at i: 2 or 6 bytes, 0 when there is none.
func escape(b []byte, i int) int {
	if i+1 >= len(b) {
		return 0
	}
	switch b[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := hex4(b, i+2); ok {
			return 6
		}
	}
	return 0
}

// number reads a number by the grammar of RFC 8259 §6.
func (p *parser) number(i int) int {
	if p.at(i) == '-' {
		i++
	}
	if p.at(i) == '0' {
		i++
	} else if i = p.digits(i); i < 0 {
		return i
	}
	if p.at(i) == '.' {
		if i = p.digits(i + 1); i < 0 {
			return i
		}
	}
	if c := p.at(i); c != 'e' && c != 'E' {
		return i
	}
	i++
	if c := p.at(i); c == '+' || c == '-' {
		i++
	}
	return p.digits(i)
}

// digits reads one digit or more.
func (p *parser) digits(i int) int {
	start := i
	for i < len(p.src) && p.src[i]-'0' <= 9 {
		i++
	}
	if i == start {
		return p.fail(ErrSyntax, i)
	}
	return i
}
