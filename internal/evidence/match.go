package evidence

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"pdpp/internal/analyzer"
)

// Text is the decoded text of one field that was searched.
type Text struct {
	Field   string
	Content string
}

// Matches are the fields of a record that matched a query, best first.
type Matches struct {
	found      []match
	provenance Provenance
}

// match is one field that matched.
type match struct {
	Text
	distinct int // terms of the query that occur
	count    int // occurrences of all of them
	total    int // characters
	best     group
}

// Find looks for the terms of a query, as analyzer.Query gives them, in the fields
// that were searched, in declared order. It goes through each text once, and
// keeps the places within one excerpt of each other only, however long the text.
func Find(texts []Text, terms []string) Matches {
	index := make(map[string]int, len(terms))
	for _, t := range terms {
		if _, ok := index[t]; !ok {
			index[t] = len(index)
		}
	}
	m := Matches{provenance: LexicalMatch}
	for _, t := range texts {
		f := finder{index: index, occurrences: make([]int, len(index)), near: make([]int, len(index))}
		if found := f.find(t); found.count > 0 {
			m.found = append(m.found, found)
		}
	}
	slices.SortStableFunc(m.found, func(a, b match) int {
		return cmp.Or(cmp.Compare(b.distinct, a.distinct), cmp.Compare(b.count, a.count))
	})
	return m
}

// FindSemantic takes texts that a semantic search found, best first. There is
// nothing to highlight in them.
func FindSemantic(texts []Text) Matches {
	m := Matches{provenance: SemanticMatch}
	for _, t := range texts {
		m.found = append(m.found, match{Text: t, total: utf8.RuneCountInString(t.Content)})
	}
	return m
}

// Fields names the fields that hold at least one term, best first: those with the
// most different terms, then the most occurrences, then in declared order.
func (m Matches) Fields() []string {
	names := make([]string, len(m.found))
	for i, f := range m.found {
		names[i] = f.Field
	}
	return names
}

// place is where a term of the query occurs: bytes start to end of the text, its
// characters from to to.
type place struct {
	term       int
	start, end int
	from, to   int
}

// group is a run of places that fit in one excerpt.
type group struct {
	distinct int
	places   []place // neither starts nor ends go back
}

// chars is the length of the text that the group covers.
func (g group) chars() int {
	if len(g.places) == 0 {
		return 0
	}
	return g.places[len(g.places)-1].to - g.places[0].from
}

// denser reports whether g says more about the query than h: more different
// terms, else more occurrences, else closer together. Of equals the first stays.
func (g group) denser(h group) bool {
	return cmp.Or(
		cmp.Compare(g.distinct, h.distinct),
		cmp.Compare(len(g.places), len(h.places)),
		cmp.Compare(h.chars(), g.chars()),
	) > 0
}

// finder goes through one text.
type finder struct {
	index       map[string]int
	occurrences []int   // of each term so far
	near        []int   // of each term in window
	window      group   // the places that end with the last one
	buf         []place // what window.places is a part of
	best        group
	offset      int // a byte offset reached
	chars       int // the characters before it
}

func (f *finder) find(t Text) match {
	m := match{Text: t}
	analyzer.Spans(t.Content, func(term []byte, start, end int) bool {
		if i, ok := f.index[string(term)]; ok {
			f.add(t.Content, place{term: i, start: start, end: end})
		}
		return true
	})
	for _, n := range f.occurrences {
		m.count += n
		m.distinct += min(n, 1)
	}
	if m.count > 0 {
		m.total = f.chars + utf8.RuneCountInString(t.Content[f.offset:])
	}
	m.best = f.best
	return m
}

func (f *finder) add(content string, p place) {
	f.chars += utf8.RuneCountInString(content[f.offset:p.start])
	f.offset = p.start
	p.from = f.chars
	p.to = f.chars + utf8.RuneCountInString(content[p.start:p.end])

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

// push appends to the window. Where its end meets that of the buffer it moves to
// the front, so that a long text costs no more memory than a short one.
func (f *finder) push(p place) {
	if live := f.window.places; len(live) == cap(live) {
		if 2*len(live) >= cap(f.buf) {
			f.buf = make([]place, 0, max(16, 2*cap(f.buf)))
		}
		f.window.places = append(f.buf[:0], live...)
	}
	f.window.places = append(f.window.places, p)
}
