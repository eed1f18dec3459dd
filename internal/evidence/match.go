package evidence

import (
	"cmp"
	"slices"

	"pdpp/internal/analyzer"
)

// MaxSearched is the number of characters of a field that are searched for an excerpt.
// It bounds the work for a hit (EX-6).
const MaxSearched = 256 << 10

// MaxDetected is the number of characters of a value in a hit that are read to detect
// binary content (EX-8).
const MaxDetected = 64 << 10

// Text is the decoded text of one field that was searched.
type Text struct {
	Field   string
	Content string
	Chars   int  // of the whole text, when Content is only its beginning; else 0
	Matched bool // for such a text: some part of it contains a term of the query
}

// Matches are the fields of a record that matched a query, best first.
type Matches struct{ found []match }

// match is one field that matched.
type match struct {
	Text
	distinct int // terms of the query that occur
	count    int // occurrences of all of them
	total    int // characters
	best     group
	searched int // characters, when the field matches only after them; else 0
}

// Fields returns the names of the fields that contain at least one term, best first:
// those with the most different terms, then the most occurrences, then in declared order
// . Only the first MaxSearched characters of a field count for the order.
func (m Matches) Fields() []string {
	names := make([]string, len(m.found))
	for i, f := range m.found {
		names[i] = f.Field
	}
	return names
}

// place is an occurrence of a term of the query: bytes start to end of the text, which
// are its characters from to to.
type place struct {
	term       int
	start, end int
	from, to   int
}

// group is a sequence of places that fit in one excerpt.
type group struct {
	distinct int
	places   []place // starts and ends do not decrease
}

// chars returns the length of the text that the group covers.
func (g group) chars() int {
	if len(g.places) == 0 {
		return 0
	}
	return g.places[len(g.places)-1].to - g.places[0].from
}

// denser reports whether g is better than h: it has more different terms, else more
// occurrences, else they are closer together.
func (g group) denser(h group) bool {
	return cmp.Or(
		cmp.Compare(g.distinct, h.distinct),
		cmp.Compare(len(g.places), len(h.places)),
		cmp.Compare(h.chars(), g.chars()),
	) > 0
}

// Finder finds the terms of one query in the texts of many records. It is not safe for
// concurrent use.
type Finder struct {
	index   map[string]int
	lengths [256]uint64 // by the first byte of a term: which lengths there are

	visit func(term []byte, start, end int) bool // f.take

	// The state for the current text.
	content     string
	isCut       bool    // content is the beginning of a longer text
	occurrences []int   // of each term so far
	near        []int   // of each term in window
	window      group   // the places that end with the last one
	buf         []place // the backing array of window.places
	best        group
	offset      int // a byte offset reached
	chars       int // the characters before it
}

// NewFinder returns a Finder for the terms that analyzer.Query returns.
func NewFinder(terms []string) *Finder {
	f := &Finder{index: make(map[string]int, len(terms))}
	for _, t := range terms {
		if _, ok := f.index[t]; !ok {
			f.index[t] = len(f.index)
			f.lengths[t[0]] |= lengthBit(len(t))
		}
	}
	f.occurrences, f.near = make([]int, len(f.index)), make([]int, len(f.index))
	f.visit = f.take
	return f
}

// lengthBit returns the bit for a length. All lengths from 63 share one.
func lengthBit(n int) uint64 { return 1 << min(n, 63) }

// Find searches the texts, which are in declared order. It reads each text once and
// keeps only the places of one excerpt, however long the text is.
func (f *Finder) Find(texts []Text) Matches {
	m := Matches{}
	for _, t := range texts {
		if found := f.find(t); found.count > 0 || found.searched > 0 {
			m.found = append(m.found, found)
		}
	}
	slices.SortStableFunc(m.found, func(a, b match) int {
		return cmp.Or(cmp.Compare(b.distinct, a.distinct), cmp.Compare(b.count, a.count))
	})
	return m
}

func (f *Finder) find(t Text) match {
	f.reset(t)
	analyzer.Spans(t.Content, f.visit)
	m := match{Text: t}
	for _, n := range f.occurrences {
		m.count += n
		m.distinct += min(n, 1)
	}
	switch {
	case m.count > 0:
		m.total = max(t.Chars, f.chars+charCount(f.content[f.offset:]))
		m.best = group{f.best.distinct, slices.Clone(f.best.places)}
	case t.Matched:
		m.total, m.searched = t.Chars, charCount(t.Content)
	}
	return m
}

// reset begins a text.
func (f *Finder) reset(t Text) {
	f.content, f.isCut = t.Content, t.Chars > 0
	clear(f.occurrences)
	clear(f.near)
	f.window = group{places: f.buf[:0]}
	f.best = group{places: f.best.places[:0]}
	f.offset, f.chars = 0, 0
}

// take compares a term of the text with those of the query. The first byte and the length
// exclude most terms.
func (f *Finder) take(term []byte, start, end int) bool {
	if f.lengths[term[0]]&lengthBit(len(term)) == 0 {
		return true
	}
	if f.isCut && end == len(f.content) {
		return true // it may be the beginning of a longer word
	}
	if i, ok := f.index[string(term)]; ok {
		f.add(place{term: i, start: start, end: end})
	}
	return true
}

func (f *Finder) add(p place) {
	f.chars += charCount(f.content[f.offset:p.start])
	f.offset = p.start
	p.from = f.chars
	p.to = f.chars + charCount(f.content[p.start:p.end])

	f.occurrences[p.term]++
	f.push(p)
	if f.near[p.term]++; f.near[p.term] == 1 {
		f.window.distinct++
	}
	for len(f.window.places) > 1 && f.window.chars() > maxExcerpt {
		first := f.window.places[0].term
		if f.near[first]--; f.near[first] == 0 {
			f.window.distinct--
		}
		f.window.places = f.window.places[1:]
	}
	if f.window.denser(f.best) {
		f.best.distinct = f.window.distinct
		f.best.places = append(f.best.places[:0], f.window.places...)
	}
}

// push appends to the window. At the end of the buffer the window moves to the front, so
// that a long text needs no more memory than a short one.
func (f *Finder) push(p place) {
	if live := f.window.places; len(live) == cap(live) {
		if 2*len(live) >= cap(f.buf) {
			f.buf = make([]place, 0, max(16, 2*cap(f.buf)))
		}
		f.window.places = append(f.buf[:0], live...)
	}
	f.window.places = append(f.window.places, p)
}
