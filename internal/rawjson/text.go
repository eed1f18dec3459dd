package rawjson

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// String decodes a JSON string value; false for any other value. Escapes of lone
// surrogates become U+FFFD.
func String(value []byte) (string, bool) {
	in, ok := Content(value)
	if !ok {
		return "", false
	}
	if bytes.IndexByte(in, '\\') < 0 {
		return string(in), true
	}
	var buf [256]byte
	dst := buf[:0]
	if len(in) > len(buf) {
		dst = make([]byte, 0, len(in)) // nothing decodes to more
	}
	return string(appendDecoded(dst, in)), true
}

// Text returns what String does, as bytes. They alias value if it has no escapes.
func Text(value []byte) ([]byte, bool) {
	in, ok := Content(value)
	if ok && bytes.IndexByte(in, '\\') >= 0 {
		in = appendDecoded(make([]byte, 0, len(in)), in)
	}
	return in, ok
}

// Content returns the content of a JSON string value, still escaped.
func Content(value []byte) ([]byte, bool) {
	n := len(value)
	if n < 2 || value[0] != '"' || value[n-1] != '"' {
		return nil, false
	}
	return value[1 : n-1 : n-1], true
}

// AppendText appends the decoded content of a JSON string.
func AppendText(dst, content []byte) []byte { return appendDecoded(dst, content) }

func appendDecoded(dst, in []byte) []byte {
	for {
		n := bytes.IndexByte(in, '\\')
		if n < 0 || n+1 >= len(in) {
			return append(dst, in...)
		}
		dst = append(dst, in[:n]...)
		in = in[n:]
		if in[1] != 'u' {
			dst = append(dst, shortEscape(in[1]))
			in = in[2:]
			continue
		}
		r, size := unicodeEscape(in)
		dst = utf8.AppendRune(dst, r)
		in = in[size:]
	}
}

// shortEscape returns the character of a two-byte escape.
func shortEscape(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

// unicodeEscape decodes the \u escape that in starts with: a character of the
// basic plane, a pair of surrogates (12 bytes), or U+FFFD for half a pair.
func unicodeEscape(in []byte) (r rune, size int) {
	r, ok := hex4(in, 2)
	if !ok {
		return utf8.RuneError, min(6, len(in))
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if len(in) >= 12 && in[6] == '\\' && in[7] == 'u' {
		low, _ := hex4(in, 8)
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}

// hex4 reads four hexadecimal digits at i.
func hex4(b []byte, i int) (rune, bool) {
	if i+4 > len(b) {
		return 0, false
	}
	var r rune
	for _, c := range b[i : i+4] {
		switch {
		case c-'0' <= 9:
			c -= '0'
		case (c|0x20)-'a' <= 5:
			c = (c | 0x20) - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// AppendString appends s as a JSON string. It escapes only what JSON requires: quotes,
// backslashes and control characters. Bytes that are not UTF-8 become U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	if isShortPlain(s) {
		return append(append(dst, s...), '"')
	}
	for i := 0; i < len(s); {
		if i+8 <= len(s) { // eight bytes are copied; those from the first special one on are removed again
			x := load(s, i)
			dst = binary.LittleEndian.AppendUint64(dst, x)
			m := special(x)
			if m == 0 {
				i += 8
				continue
			}
			plain := bits.TrailingZeros64(m) >> 3
			dst, i = dst[:len(dst)-8+plain], i+plain
		}
		switch c := s[i]; {
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(s[i:])
			dst = utf8.AppendRune(dst, r)
			i += size
		case c < ' ' || c == '"' || c == '\\':
			dst = appendEscape(dst, c)
			i++
		default:
			dst = append(dst, c)
			i++
		}
	}
	return append(dst, '"')
}

// isShortPlain reports whether s has 4 to 16 bytes, like most names and ids, and needs no
// escapes. The two words it reads overlap.
func isShortPlain(s string) bool {
	n := len(s)
	if n >= 8 {
		return n <= 16 && special(load(s, 0))|special(load(s, n-8)) == 0
	}
	return n >= 4 && special(load4(s, 0)|load4(s, n-4)<<32) == 0
}

func load4(s string, i int) uint64 {
	s = s[i : i+4]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24
}

// StringLen returns the length of s as AppendString writes it.
func StringLen(s string) int {
	n := len(s) + len(`""`)
	for i := plain(s, 0); i < len(s); i = plain(s, i) {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r < ' ' || r == '"' || r == '\\' {
			var buf [len(`\u0000`)]byte
			n += len(appendEscape(buf[:0], s[i])) - size
		} else {
			n += utf8.RuneLen(r) - size // differs only for an invalid byte, which is written as U+FFFD
		}
		i += size
	}
	return n
}

// Plain returns the length of the longest prefix of s that needs no escapes in a JSON
// string and is printable: ASCII without quotes, backslashes and control characters,
// including DEL.
func Plain[T string | []byte](s T) int {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		x := load(s, i)
		if m := special(x) | ((x^del*lanes)-lanes)&highs; m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	for i < len(s) && s[i] >= ' ' && s[i] < del && s[i] != '"' && s[i] != '\\' {
		i++
	}
	return i
}

const del = 0x7f

func appendEscape(dst []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\t':
		return append(dst, '\\', 't')
	case '\r':
		return append(dst, '\\', 'r')
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	}
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}
