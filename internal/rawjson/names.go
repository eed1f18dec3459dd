package rawjson

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
)

// linearKeys is how many keys of an object are compared pairwise. Above it they
// are sorted, so that a hostile object costs n log n and not n squared.
const linearKeys = 32

// names contains the keys of all open objects, innermost last.
type names struct {
	keys  []key
	arena []byte // decoded forms of the keys that have escapes
}

type span struct{ start, end int }

// key is one key of an open object. text is in the arena if decoded is set, otherwise in
// the source text.
type key struct {
	sig     uint64
	text    span
	at      int // offset in the source, for messages
	decoded bool
}

// scope is one open object: where its keys start, and a 64-bit filter of their
// signatures, which avoids most comparisons.
type scope struct {
	base, mark int
	filter     uint64
}

func (n *names) open() scope { return scope{base: len(n.keys), mark: len(n.arena)} }

// add adds the key raw. It returns false if the object already has it.
func (n *names) add(s *scope, src []byte, raw span, escaped bool) bool {
	k := key{text: raw, at: raw.start - 1, decoded: escaped}
	if escaped {
		start := len(n.arena)
		n.arena = appendDecoded(n.arena, src[raw.start:raw.end])
		k.text = span{start, len(n.arena)}
	}
	name := n.name(src, &k)
	k.sig = signature(name)
	bit := uint64(1) << (k.sig >> 58)
	if others := n.keys[s.base:]; s.filter&bit != 0 && len(others) < linearKeys {
		for i := range others {
			if others[i].sig == k.sig && bytes.Equal(n.name(src, &others[i]), name) {
				return false
			}
		}
	}
	s.filter |= bit
	n.keys = append(n.keys, k)
	return true
}

func (n *names) name(src []byte, k *key) []byte {
	if k.decoded {
		return n.arena[k.text.start:k.text.end]
	}
	return src[k.text.start:k.text.end]
}

// close ends an object. For objects with more than linearKeys keys, which add does not
// compare, it returns the offset of a duplicate key, or -1.
func (n *names) close(s scope, src []byte) int {
	at := -1
	if keys := n.keys[s.base:]; len(keys) > linearKeys {
		at = n.duplicate(keys, src)
	}
	n.keys, n.arena = n.keys[:s.base], n.arena[:s.mark]
	return at
}

// duplicate sorts keys and returns the offset of a key that equals its neighbour, or -1.
func (n *names) duplicate(keys []key, src []byte) int {
	order := func(a, b key) int {
		if a.sig != b.sig {
			return cmp.Compare(a.sig, b.sig)
		}
		return bytes.Compare(n.name(src, &a), n.name(src, &b))
	}
	slices.SortFunc(keys, order)
	for i := 1; i < len(keys); i++ {
		if order(keys[i-1], keys[i]) == 0 {
			return max(keys[i-1].at, keys[i].at)
		}
	}
	return -1
}

// signature mixes the length and the outer bytes of a name. Equal names have equal
// signatures. If different names have equal signatures, that only costs a comparison.
func signature(name []byte) uint64 {
	var a, b uint64
	switch n := len(name); {
	case n >= 8:
		a = binary.LittleEndian.Uint64(name)
		b = binary.LittleEndian.Uint64(name[n-8:])
	case n >= 4:
		a = uint64(binary.LittleEndian.Uint32(name))
		b = uint64(binary.LittleEndian.Uint32(name[n-4:]))
	case n > 0:
		a = uint64(name[0]) | uint64(name[n/2])<<8 | uint64(name[n-1])<<16
	}
	const odd1, odd2 = 0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f
	h := (a^uint64(len(name)))*odd1 ^ b*odd2
	return (h ^ h>>32) * odd1
}
