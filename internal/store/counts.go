package store

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// TermCounts counts the terms in the lexical fields of a record, for scoring without
// its text. Per field, as uvarints: its number, the number of all its terms and
// of the distinct ones; then the hashes of the distinct terms in ascending order,
// hashSize bytes each; then, for each term that occurs more than once, its position
// plus one and its count; then a zero.
type TermCounts []byte

// hashSize is the length of a hash in bytes. With four bytes some everyday words
// collide (liquid and costarring), and a search by counts alone would find records
// without the word.
const hashSize = 6

// TermHash returns the hash of a term in TermCounts: FNV-1a, folded to hashSize.
func TermHash(term []byte) uint64 {
	const bits = 8 * hashSize
	h := uint64(14695981039346656037)
	for _, c := range term {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return (h>>bits ^ h) & (1<<bits - 1)
}

func appendHash(dst []byte, h uint64) []byte {
	return append(dst, byte(h>>40), byte(h>>32), byte(h>>24), byte(h>>16), byte(h>>8), byte(h))
}

func (w *termWriter) appendCounts(dst []byte, field int64) []byte {
	used := make([]termSlot, 0, w.count)
	for _, s := range w.slots {
		if s.round == w.round {
			used = append(used, s)
		}
	}
	slices.SortFunc(used, func(a, b termSlot) int { return cmp.Compare(a.hash, b.hash) })
	dst = binary.AppendUvarint(dst, uint64(field))
	dst = binary.AppendUvarint(dst, uint64(w.length))
	dst = binary.AppendUvarint(dst, uint64(len(used)))
	for _, s := range used {
		dst = appendHash(dst, s.hash)
	}
	for i, s := range used {
		if s.times > 1 {
			dst = binary.AppendUvarint(dst, uint64(i+1))
			dst = binary.AppendUvarint(dst, uint64(s.times))
		}
	}
	return append(dst, 0)
}

// FieldCounts are the counts of one field.
type FieldCounts struct {
	Field  int64
	Length int // all terms, repeated ones included

	hashes  []byte
	repeats []byte
}

// hash returns the i-th hash.
func (f FieldCounts) hash(i int) uint64 {
	b := f.hashes[hashSize*i:]
	return uint64(binary.BigEndian.Uint16(b))<<32 | uint64(binary.BigEndian.Uint32(b[2:]))
}

// Fields splits the counts by field.
func (c TermCounts) Fields(yield func(FieldCounts) bool) {
	b := []byte(c)
	next := func() uint64 {
		n, size := binary.Uvarint(b)
		if size <= 0 { // cut off
			b = nil
			return 0
		}
		b = b[size:]
		return n
	}
	for len(b) > 0 {
		f := FieldCounts{Field: int64(next()), Length: int(next())}
		n := hashSize * min(int(next()&0xffffff), len(b)/hashSize)
		f.hashes, b = b[:n], b[n:]
		start := b
		for len(b) > 0 && next() != 0 {
			next()
		}
		f.repeats = start[:len(start)-len(b)]
		if !yield(f) {
			return
		}
	}
}

// Times returns how often the term with a hash occurs.
func (f FieldCounts) Times(hash uint64) int {
	lo, hi := 0, len(f.hashes)/hashSize
	for lo < hi {
		mid := (lo + hi) / 2
		if f.hash(mid) < hash {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if hashSize*lo == len(f.hashes) || f.hash(lo) != hash {
		return 0
	}
	for b := f.repeats; len(b) > 1; {
		at, n := binary.Uvarint(b)
		times, m := binary.Uvarint(b[max(n, 0):])
		if n <= 0 || m <= 0 {
			break
		}
		if at == uint64(lo+1) {
			return int(times)
		}
		b = b[n+m:]
	}
	return 1
}
