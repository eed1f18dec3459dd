package evidence

import (
	"unicode"
	"unicode/utf8"
)

// A text for a person or a model must not contain hidden characters, which could be an
// instruction (D14, EX-7). Identifiers show them as escapes. Elsewhere they are removed,
// except where a script or an emoji needs them.

// IsInvisible reports whether a character is not visible or changes the order of others:
// controls except newline and tab, line and paragraph separators, bidirectional
// controls, and default-ignorable characters of Unicode (zero-width characters, byte
// order mark, soft hyphen, fillers, variation selectors, tags).
func IsInvisible(r rune) bool {
	switch {
	case r < 0x7F:
		return r < ' ' && r != '\n' && r != '\t'
	case r < 0x34F:
		return r <= 0x9F || r == 0xAD
	case r < 0x200B:
		return r == 0x34F || r == 0x61C || r == 0x115F || r == 0x1160 || r == 0x17B4 || r == 0x17B5 || r >= 0x180B && r <= 0x180F
	case r < 0x2070:
		return r <= 0x200F || r >= 0x2028 && r <= 0x202E || r >= 0x2060
	case r < 0x1BCA0:
		return r == 0x3164 || r >= 0xFE00 && r <= 0xFE0F || r == 0xFEFF || r == 0xFFA0 || r >= 0xFFF0 && r <= 0xFFFB
	}
	return r <= 0x1BCA3 || r >= 0x1D173 && r <= 0x1D17A || r >= 0xE0000 && r <= 0xE0FFF
}

// The invisible characters that some text needs.
const (
	nonJoiner = '\u200c'
	joiner    = '\u200d'
	asText    = '\ufe0e' // after a character that could be an emoji
	asEmoji   = '\ufe0f'
	keycap    = '\u20e3'
)

// IsRemovedAt reports whether Clean removes the character r, which is at s[i:].
func IsRemovedAt(s string, i int, r rune) bool { return IsInvisible(r) && !isNeeded(s, i, r) }

// isNeeded reports whether the meaning of the adjacent characters depends on an invisible
// one: a joiner between letters of a script that has joiners, or between emoji, and the
// choice between text and emoji. The second of two invisible characters is never needed,
// so that they cannot encode a message.
func isNeeded(s string, i int, r rune) bool {
	if r != nonJoiner && r != joiner && r != asText && r != asEmoji {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
	switch {
	case r == asText || r == asEmoji:
		return isEmoji(before) || after == keycap && (before >= '0' && before <= '9' || before == '#' || before == '*')
	case r == joiner && (isEmoji(before) || before == asEmoji):
		return isEmoji(after)
	}
	return isJoining(before) && isJoining(after)
}

// isEmoji reports whether a character is an emoji or can be shown as one.
func isEmoji(r rune) bool {
	return r >= 0xA9 && (unicode.Is(unicode.So, r) || r >= 0x1F3FB && r <= 0x1F3FF ||
		r >= 0x2190 && unicode.Is(unicode.Sm, r) || r == 0x203C || r == 0x2049 || r == 0x3030 || r == 0x303D)
}

// isJoining reports whether r is a letter or mark of a script in which joiners change
// words.
func isJoining(r rune) bool {
	const firstArabic = 0x600 // no script below comes before it
	return r >= firstArabic && (unicode.In(r, joining...) || unicode.In(r, unicode.Mn, unicode.Mc) && unicode.Is(unicode.Inherited, r))
}

var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Nko, unicode.Mandaic, unicode.Mongolian, unicode.Phags_Pa, unicode.Adlam,
	unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu,
	unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Myanmar, unicode.Khmer, unicode.Tibetan, unicode.Balinese,
	unicode.Javanese, unicode.Sundanese, unicode.Meetei_Mayek, unicode.Chakma, unicode.Newa, unicode.Tirhuta,
}
