package store

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// TermCounts says how often terms occur in the lexical fields of a record, for
// scoring without its text. Per field: its number, the number of all its
// terms and of the distinct ones, all as uvarints; then the hashes of the
// distinct ones in ascending order, four bytes each; then for those that occur
// more than once, ended by a zero: position plus one, and how often.
type TermCounts []byte

// TermHash is the hash by which counts know a term (FNV-1a).
func TermHash(term []byte) uint32 {
	h := uint32(2166136261)
	for _, c := range term {
		h = (h ^ uint32(c)) * 16777619
	}
	return h
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
		dst = binary.BigEndian.AppendUint32(dst, s.hash)
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
		n := 4 * min(int(next()&0xffffff), len(b)/4)
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

// Times tells how often the term with a hash occurs.
func (f FieldCounts) Times(hash uint32) int {
	lo, hi := 0, len(f.hashes)/4
	for lo < hi {
		mid := (lo + hi) / 2
		if binary.BigEndian.Uint32(f.hashes[4*mid:]) < hash {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if 4*lo == len(f.hashes) || binary.BigEndian.Uint32(f.hashes[4*lo:]) != hash {
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
