package analyzer

// Values of byteClass. ASCII letters and digits have their folded form, which
// lies between the two.
const (
	separator = 0x00
	nonASCII  = 0x80
)

// byteClass is the class of each byte of UTF-8 for the scanner.
var byteClass = makeByteClass()

func makeByteClass() (t [256]uint8) {
	for c := range t {
		switch {
		case c >= 'A' && c <= 'Z':
			t[c] = uint8(c) + 'a' - 'A'
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			t[c] = uint8(c)
		case c >= 0x80:
			t[c] = nonASCII
		}
	}
	return t
}

// isWord reports whether a class is that of an ASCII letter or digit.
func isWord(class uint8) bool { return class != separator && class < nonASCII }

// separatorLen returns the length of the separator at the start of s, if it is one of the
// punctuation marks that are frequent in prose and that no normalization turns into part
// of a word; otherwise 0. It keeps most typographic and East Asian text off the slow
// path, and segments short.
func separatorLen(s string) int {
	if len(s) < 3 {
		return 0
	}
	switch s[0] {
	case 0xE2: // U+2000–U+203F: spaces, dashes, quotation marks, format characters
		if s[1] == 0x80 && isContinuation(s[2]) {
			return 3
		}
	case 0xE3: // U+3000–U+3002: ideographic space, comma, full stop
		if s[1] == 0x80 && s[2] >= 0x80 && s[2] <= 0x82 {
			return 3
		}
	case 0xEF: // U+FF01–U+FF0F, U+FF1A–U+FF20: fullwidth punctuation
		if s[1] == 0xBC && (s[2] >= 0x81 && s[2] <= 0x8F || s[2] >= 0x9A && s[2] <= 0xA0) {
			return 3
		}
	}
	return 0
}

func isContinuation(c byte) bool { return c&0xC0 == 0x80 }
