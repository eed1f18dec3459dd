package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"pdpp"
	"pdpp/internal/analyzer"
	"pdpp/internal/query"
	"pdpp/internal/rawjson"
)

// Found is a match with what can be compared of it.
type Found struct {
	Connection pdpp.ConnectionID
	ID         string
	EmittedAt  time.Time
	Times      []int
	Length     int
}

// SearchQuestion is a search with the texts it was made from.
type SearchQuestion struct {
	Search query.Search
	Question
}

// someQueries have one word, several, and words in different fields.
var someQueries = []string{"x", "X y", "é", "ab", "x ab", "e AB", "2026 01", "y x", "nothing", "x nothing"}

// SearchQuestion draws a search for the current manifest; false when no field is
// searchable.
func (m *Model) SearchQuestion(t *rapid.T) (q SearchQuestion, ok bool) {
	m.w.tb = t
	s := m.w.stream("entries")
	if len(s.LexicalFields) == 0 {
		return q, false
	}
	m.drawSources(t, s, &q.Question)
	names := rapid.SliceOfNDistinct(rapid.SampledFrom(s.LexicalFields), 1, len(s.LexicalFields), rapid.ID).Draw(t, "searched")
	q.Search = query.Search{Subject: m.w.subject, Terms: analyzer.Query(pick(t, "words", someQueries))}
	for _, src := range q.List.Sources {
		q.Search.Sources = append(q.Search.Sources, searched(src, names...))
	}
	return q, true
}

// searched returns a source whose named fields are searched.
func searched(src query.Source, fields ...string) query.SearchSource {
	out := query.SearchSource{Source: src}
	for _, name := range fields {
		out.Fields = append(out.Fields, src.Stream.Field(name))
	}
	return out
}

// SearchAnswer returns what the store should find, newest first.
func (m *Model) SearchAnswer(q SearchQuestion) []Found {
	type numbered struct {
		Found
		stored int
	}
	var found []numbered
	for _, src := range q.Search.Sources {
		for id, r := range m.records[src.Connection] {
			if src.Resources != nil && !slices.Contains(src.Resources, pdpp.RecordID(id)) || !r.meets(src.Stream, q.Question) {
				continue
			}
			if times, length, ok := r.tally(src.Fields, q.Search.Terms); ok {
				found = append(found, numbered{Found{src.Connection, id, r.emittedAt, times, length}, r.stored})
			}
		}
	}
	slices.SortFunc(found, func(a, b numbered) int {
		return cmp.Or(b.EmittedAt.Compare(a.EmittedAt), cmp.Compare(b.stored, a.stored))
	})
	var out []Found
	for _, f := range found {
		out = append(out, f.Found)
	}
	return out
}

// tally counts terms by reading the fields word by word.
func (r modelRecord) tally(fields []*pdpp.Field, terms []string) (times []int, length int, all bool) {
	counts := map[string]int{}
	for _, f := range fields {
		text, _ := rawjson.String(r.fields[f.Name])
		analyzer.Terms(text, func(term []byte) bool {
			counts[string(term)]++
			length++
			return true
		})
	}
	for _, term := range terms {
		if counts[term] == 0 {
			return nil, 0, false
		}
		times = append(times, counts[term])
	}
	return times, length, true
}

// String describes a search for failures.
func (q SearchQuestion) String() string {
	src := q.Search.Sources[0]
	var names []string
	for _, f := range src.Fields {
		names = append(names, f.Name)
	}
	return fmt.Sprintf("terms %q in %v, conditions %v, time %+v, resources %v, %d sources",
		q.Search.Terms, names, q.conds, q.time, src.Resources, len(q.Search.Sources))
}
