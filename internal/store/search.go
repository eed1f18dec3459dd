package store

import (
	"slices"
	"strconv"

	"pdpp/internal/query"
)

// Searcher finds records by their words.
type Searcher interface {
	// Search visits the visible records in which every term occurs, newest
	// first by Number, until there are no more or visit refuses one. The Match is
	// valid during the call. Only the sources' fields and visible records
	// influence what is visited, and in which order.
	Search(q query.Search, visit func(*Match) (taken bool, err error)) error
	// Matched reports which of its source's fields contain a term of the query,
	// in a record that Search visited. It does not read their texts.
	Matched(q query.Search, r *Record) ([]bool, error)
	// Incomplete reports whether Search may miss records because the words of a
	// searched field are still being indexed.
	Incomplete(q query.Search) (bool, error)
	// Rebuilding reports whether any records are being re-indexed.
	Rebuilding() (bool, error)
}

// Match is a record found by its words, with what its score depends on.
type Match struct {
	Record       // without Order; Body is nil when it is longer than ShortBody
	Times  []int // how often each term of the query occurs in the searchable fields
	Length int   // how many terms those have
}

// ShortBody is the length in bytes up to which a match includes its body.
const ShortBody = 4096

// Number orders matches by emitted_at, then by the time they were stored. It also
// counts records of other subjects, so clients must not see it.
func (m *Match) Number() int64 { return int64(m.Ref) }

// Tally counts the terms of a query in the given fields of a record; false when one
// does not occur. times has the length of hashes.
func (c TermCounts) Tally(fields []int64, hashes []uint64, times []int) (length int, all bool) {
	clear(times)
	for f := range c.Fields {
		if !slices.Contains(fields, f.Field) {
			continue
		}
		length += f.Length
		for i, h := range hashes {
			times[i] += f.Times(h)
		}
	}
	for _, n := range times {
		if n == 0 {
			return length, false
		}
	}
	return length, true
}

// TermToken returns the term of a word of a field in the search index.
func TermToken(field int64, term string) string {
	t := append(strconv.AppendInt(make([]byte, 0, 16+len(term)), field, 36), '.')
	return string(append(t, term...))
}
