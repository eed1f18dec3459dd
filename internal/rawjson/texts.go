package rawjson

import (
	"bytes"
	"strings"
)

// Texts converts bytes to strings that share allocations. It is for strings with the same
// lifetime, such as those of one page. A nil *Texts allocates each string separately.
type Texts struct{ chunk *strings.Builder }

// The sizes of the shared allocations. The first one is small: it may be the only one.
const (
	firstChunk = 512
	nextChunk  = 4096
)

// Copy returns b as a string.
func (t *Texts) Copy(b []byte) string {
	if t == nil || len(b) > firstChunk {
		return string(b)
	}
	if t.chunk == nil || t.chunk.Cap()-t.chunk.Len() < len(b) {
		size := firstChunk
		if t.chunk != nil {
			size = nextChunk
		}
		t.chunk = new(strings.Builder)
		t.chunk.Grow(size)
	}
	start := t.chunk.Len()
	t.chunk.Write(b)
	return t.chunk.String()[start:]
}

// Decoded returns the decoded content of a JSON string.
func (t *Texts) Decoded(content []byte) string {
	if bytes.IndexByte(content, '\\') < 0 {
		return t.Copy(content)
	}
	var buf [firstChunk]byte
	dst := buf[:0]
	if len(content) > len(buf) {
		dst = make([]byte, 0, len(content)) // nothing decodes to more
	}
	return t.Copy(appendDecoded(dst, content))
}

// String decodes a JSON string value, as the function of that name does.
func (t *Texts) String(value []byte) (string, bool) {
	in, ok := Content(value)
	if !ok {
		return "", false
	}
	return t.Decoded(in), true
}
