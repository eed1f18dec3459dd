package store

import (
	"crypto/sha256"
	"encoding/base32"
	"hash/maphash"
	"strconv"

	"pdpp/internal/analyzer"
)

// termWriter collects the distinct index terms of a record: the number of the field,
// a dot and the term, so that only granted fields are looked up. The numbers of
// fields are unique across bindings. It also counts the occurrences of each term,
// which is all that a score needs.
type termWriter struct {
	out    []byte
	counts []byte

	slots  []termSlot // open addressing, at most half full
	round  uint32     // slots of earlier fields are stale
	count  int        // distinct terms of this field
	length int        // all terms of this field
}

type termSlot struct {
	round      uint32
	start, end uint32 // the term in out
	hash       uint64
	times      uint32
}

// add appends the terms of one field.
func (w *termWriter) add(field int64, text string) {
	w.round++
	w.count, w.length = 0, 0
	analyzer.Terms(text, func(term []byte) bool {
		w.term(field, term)
		return true
	})
	if w.count > 0 {
		w.counts = w.appendCounts(w.counts, field)
	}
}

// token appends a term that is not a word.
func (w *termWriter) token(t string) {
	if len(w.out) > 0 {
		w.out = append(w.out, ' ')
	}
	w.out = append(w.out, t...)
}

// ValueToken returns the term of the records with a value in a field. Two dots
// distinguish it from words; the digest is long enough to identify the value.
func ValueToken(field int64, key []byte) string {
	sum := sha256.Sum256(key)
	t := strconv.AppendInt(make([]byte, 0, 40), field, 36)
	t = append(t, '.', '.')
	return string(base32.HexEncoding.WithPadding(base32.NoPadding).AppendEncode(t, sum[:10]))
}

// term counts one occurrence. Beyond the limit of distinct terms, only terms that
// were already added are counted.
func (w *termWriter) term(field int64, term []byte) {
	w.length++
	if 2*(w.count+1) > len(w.slots) {
		w.grow()
	}
	i := w.slot(term)
	for ; w.slots[i].round == w.round; i = (i + 1) & (len(w.slots) - 1) {
		s := &w.slots[i]
		if string(w.out[s.start:s.end]) == string(term) {
			s.times++
			return
		}
	}
	if w.count == analyzer.MaxFieldTerms {
		return
	}
	if len(w.out) > 0 {
		w.out = append(w.out, ' ')
	}
	w.out = strconv.AppendInt(w.out, field, 36)
	w.out = append(w.out, '.')
	start := len(w.out)
	w.out = append(w.out, term...)
	w.slots[i] = termSlot{w.round, uint32(start), uint32(len(w.out)), TermHash(term), 1}
	w.count++
}

// slotSeed prevents the author of a text from choosing words that share a slot.
var slotSeed = maphash.MakeSeed()

func (w *termWriter) slot(term []byte) int {
	return int(maphash.Bytes(slotSeed, term) & uint64(len(w.slots)-1))
}

func (w *termWriter) grow() {
	old := w.slots
	w.slots = make([]termSlot, max(128, 2*len(old)))
	for _, s := range old {
		if s.round != w.round {
			continue
		}
		i := w.slot(w.out[s.start:s.end])
		for w.slots[i].round == w.round {
			i = (i + 1) & (len(w.slots) - 1)
		}
		w.slots[i] = s
	}
}
