package analyzer

import (
	"sync"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// scratch contains the buffers of one call. It is pooled because the term buffer escapes
// to yield: an allocation per field would cost more than the analysis of a short field.
type scratch struct {
	term  [maxTermChars * utf8.UTFMax]byte
	clean []byte // a segment without ignored characters
	norm  []byte // a segment in NFKC
}

// maxPooled is the buffer size above which a scratch is not returned to the pool.
const maxPooled = 1 << 16

var scratchPool = sync.Pool{New: func() any { return new(scratch) }}

func (s *scratch) release() {
	if cap(s.clean)+cap(s.norm) > maxPooled {
		s.clean, s.norm = nil, nil
	}
	scratchPool.Put(s)
}

// normalize returns seg without ignored characters and in NFKC. The result is valid until
// the next call.
func (s *scratch) normalize(seg string) []byte {
	if isSettled(seg) {
		s.clean = append(s.clean[:0], seg...)
		return s.clean
	}
	s.clean = appendClean(s.clean[:0], seg)
	s.norm = norm.NFKC.Append(s.norm[:0], s.clean...)
	return s.norm
}

// isSettled reports whether normalize would change nothing. It is the quick check of
// Unicode (UAX #15 §9), which returns false for some normalized text.
func isSettled(seg string) bool {
	var last uint8
	for _, r := range seg {
		if r < utf8.RuneSelf {
			last = 0
			continue
		}
		f := lookup(r)
		if !f.settled || f.ccc != 0 && f.ccc < last {
			return false
		}
		last = f.ccc
	}
	return true
}

// appendClean appends seg without its ignored characters. Invalid bytes become U+FFFD,
// which also separates, so that those around an ignored character do not combine.
func appendClean(dst []byte, seg string) []byte {
	for _, r := range seg {
		if !isIgnored(r) {
			dst = utf8.AppendRune(dst, r)
		}
	}
	return dst
}
