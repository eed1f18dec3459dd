package rawjson

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// CharCount counts the characters (code points) of the content of a JSON string. An
// escape counts as one character, and so does an escaped pair of surrogates.
func CharCount(content []byte) int {
	count := 0
	for {
		n := bytes.IndexByte(content, '\\')
		if n < 0 {
			return count + starts(content)
		}
		count += starts(content[:n]) + 1
		content = content[n:]
		content = content[min(escapeSize(content), len(content)):]
	}
}

// RuneCount counts characters like utf8.RuneCountInString, faster where most of them
// are ASCII.
func RuneCount(s string) int {
	count := 0
	for i := 0; i < len(s); {
		if i+8 <= len(s) && load(s, i)&highs == 0 {
			count += 8
			i += 8
			continue
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		count++
		i += size
	}
	return count
}

// starts counts the bytes that start a character: all except 10xxxxxx.
func starts(b []byte) int {
	count := len(b)
	for ; len(b) >= 8; b = b[8:] {
		if x := binary.LittleEndian.Uint64(b); x&highs != 0 {
			count -= bits.OnesCount64(x &^ (x << 1) & highs)
		}
	}
	for _, c := range b {
		if !utf8.RuneStart(c) {
			count--
		}
	}
	return count
}

// escapeSize returns the length of the escape that b starts with: 2, 6, or 12 for a
// pair of surrogates.
func escapeSize(b []byte) int {
	if len(b) < 2 || b[1] != 'u' {
		return 2
	}
	_, n := unicodeEscape(b)
	return n
}

// Prefix returns the longest prefix of the content of a JSON string that has at most
// n characters, counted as CharCount does. It never splits an escape, an escaped
// pair of surrogates, or a UTF-8 sequence. The result aliases content.
func Prefix(content []byte, n int) []byte {
	if len(content) <= n {
		return content
	}
	i := 0
	for n > 0 && i < len(content) {
		if n >= 8 && i+8 <= len(content) {
			if special(binary.LittleEndian.Uint64(content[i:])) == 0 {
				i += 8
				n -= 8
				continue
			}
		}
		i += charSize(content[i:])
		n--
	}
	i = min(i, len(content))
	return content[:i:i]
}

// Within returns the longest prefix of the content of a JSON string that has at most n
// bytes. Like Prefix, it never splits a character.
func Within(content []byte, n int) []byte {
	if len(content) <= n {
		return content
	}
	i := 0
	for i < n {
		if i+8 <= n && special(binary.LittleEndian.Uint64(content[i:])) == 0 {
			i += 8
			continue
		}
		size := charSize(content[i:])
		if i+size > n {
			break
		}
		i += size
	}
	return content[:i:i]
}

// charSize returns the length of the character that b starts with.
func charSize(b []byte) int {
	switch {
	case b[0] == '\\':
		return escapeSize(b)
	case b[0] < utf8.RuneSelf:
		return 1
	}
	_, n := utf8.DecodeRune(b)
	return n
}
