package store

import (
	"slices"

	"pdpp"
)

// Stale describes which index entries of a binding are outdated while its records are
// re-indexed (M-11). Reads that need one of them fail.
type Stale struct {
	All    bool     `json:"all,omitempty"`    // everything: the former declaration is not known
	Order  bool     `json:"order,omitempty"`  // the order by cursor field
	Fields []string `json:"fields,omitempty"` // the values of these fields
	Words  []string `json:"words,omitempty"`  // the search terms of these fields
}

// StaleAfter compares two declarations of a stream and returns what has to be indexed
// again. A nil before means that the former declaration is not known.
func StaleAfter(before, after *pdpp.Stream) Stale {
	if before == nil {
		return Stale{All: true}
	}
	s := Stale{Order: before.CursorField != after.CursorField}
	for _, f := range after.Fields {
		old := before.Field(f.Name)
		if !sameIndex(before, old, after, f) {
			s.Fields = append(s.Fields, f.Name)
			s.Order = s.Order || f.Name == after.CursorField
		}
		if slices.Contains(after.LexicalFields, f.Name) && (old == nil || !slices.Contains(before.LexicalFields, f.Name)) {
			s.Words = append(s.Words, f.Name)
		}
	}
	return s
}

// sameIndex reports whether both declarations index the values of a field alike.
func sameIndex(before *pdpp.Stream, f *pdpp.Field, after *pdpp.Stream, g *pdpp.Field) bool {
	return f != nil && f.Kind == g.Kind && SlotOf(before, f) == SlotOf(after, g) && Indexed(before, f) == Indexed(after, g)
}

// Add merges o into s: a stream may be declared again before its re-index has ended.
func (s *Stale) Add(o Stale) {
	s.All, s.Order = s.All || o.All, s.Order || o.Order
	s.Fields, s.Words = union(s.Fields, o.Fields), union(s.Words, o.Words)
}

func union(a, b []string) []string {
	for _, name := range b {
		if !slices.Contains(a, name) {
			a = append(a, name)
		}
	}
	return a
}

// Has reports whether the values of a field are stale; false for the empty name.
func (s *Stale) Has(field string) bool {
	return s != nil && field != "" && (s.All || slices.Contains(s.Fields, field))
}

// HasWords reports whether a search may miss the words of a field.
func (s *Stale) HasWords(field string) bool {
	return s != nil && (s.All || slices.Contains(s.Words, field))
}

// HasOrder reports whether the order by cursor field is stale.
func (s *Stale) HasOrder() bool { return s != nil && (s.All || s.Order) }

// ErrRebuilding returns the error of a read that needs index entries that are being
// rebuilt.
func ErrRebuilding(stream string) error {
	return &pdpp.Error{
		Code: pdpp.CodeUnavailable, RetryAfter: 5, Op: "store", Stream: stream,
		Message: "The stream has a new declaration, and its index is being rebuilt. Try again later.",
	}
}
