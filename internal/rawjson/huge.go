package rawjson

import (
	"errors"
	"strconv"
)

// QuoteHuge returns compact JSON in which numbers that no float64 can hold, such as 1e400,
// are strings of the same digits. Some clients refuse a whole message because of such a
// number, and others read infinity. JSON without such a number is returned unchanged.
func QuoteHuge(src []byte) []byte {
	var out []byte
	copied := 0
	for i := 0; i < len(src); {
		switch c := src[i]; {
		case c == '"':
			i = skipString(src, i)
		case c == '-' || c >= '0' && c <= '9':
			end := i + 1
			for end < len(src) && isNumberByte(src[end]) {
				end++
			}
			if isHuge(src[i:end]) {
				out = append(append(append(append(out, src[copied:i]...), '"'), src[i:end]...), '"')
				copied = end
			}
			i = end
		default:
			i++
		}
	}
	if out == nil {
		return src
	}
	return append(out, src[copied:]...)
}

// skipString returns the offset after the string that starts at i.
func skipString(src []byte, i int) int {
	for i++; ; {
		for i+8 <= len(src) && quoteOrSlash(load(src, i)) == 0 {
			i += 8
		}
		for i < len(src) && src[i] != '"' && src[i] != '\\' {
			i++
		}
		if i >= len(src) || src[i] == '"' {
			return min(i+1, len(src))
		}
		i += 2 // an escaped character
	}
}

func isNumberByte(c byte) bool {
	return c >= '0' && c <= '9' || c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-'
}

// isHuge reports whether a number is beyond the largest float64.
func isHuge(number []byte) bool {
	const digits = 308 // an integer with this many digits always fits into a float64
	hasExponent := false
	for _, c := range number {
		hasExponent = hasExponent || c == 'e' || c == 'E'
	}
	if !hasExponent && len(number) <= digits {
		return false
	}
	_, err := strconv.ParseFloat(string(number), 64)
	return errors.Is(err, strconv.ErrRange)
}
