package rawjson

import (
	"bytes"
	"strings"
)

// Texts makes strings of bytes that are used and forgotten together, such as those of
// one page: many of them share an allocation. None of them changes when others are
// made. A nil *Texts makes each on its own.
type Texts struct{ room *strings.Builder }

// The rooms of short texts. The first one is small: it may be the only one.
const (
	firstRoom = 512
	nextRoom  = 4096
)

// Of is b as a string.
func (t *Texts) Of(b []byte) string {
	if t == nil || len(b) > firstRoom {
		return string(b)
	}
	if t.room == nil || t.room.Cap()-t.room.Len() < len(b) {
		size := firstRoom
		if t.room != nil {
			size = nextRoom
		}
		t.room = new(strings.Builder)
		t.room.Grow(size)
	}
	start := t.room.Len()
	t.room.Write(b)
	return t.room.String()[start:]
}

// Decoded is the decoded inside of a JSON string.
func (t *Texts) Decoded(content []byte) string {
	if bytes.IndexByte(content, '\\') < 0 {
		return t.Of(content)
	}
	var buf [firstRoom]byte
	dst := buf[:0]
	if len(content) > len(buf) {
		dst = make([]byte, 0, len(content)) // nothing decodes to more
	}
	return t.Of(appendDecoded(dst, content))
}

// String decodes a JSON string value, as the function of that name does.
func (t *Texts) String(value []byte) (string, bool) {
	in, ok := Content(value)
	if !ok {
		return "", false
	}
	return t.Decoded(in), true
}
