package store

import (
	"context"
	"slices"

	"pdpp"
)

// Stale is what reads cannot rely on while the records of a binding are indexed anew
// (M-11).
type Stale struct {
	All    bool     `json:"all,omitempty"`    // nothing is known about how they were indexed
	Order  bool     `json:"order,omitempty"`  // the order by cursor field
	Fields []string `json:"fields,omitempty"` // where the values of these fields are found
	Words  []string `json:"words,omitempty"`  // the words of these fields
}

// StaleAfter tells what changes when a stream is declared in another way; nil: it is
// not known how it was declared.
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

// sameIndex reports whether the values of a field are found in the same way.
func sameIndex(before *pdpp.Stream, f *pdpp.Field, after *pdpp.Stream, g *pdpp.Field) bool {
	return f != nil && f.Kind == g.Kind && SlotOf(before, f) == SlotOf(after, g) && Indexed(before, f) == Indexed(after, g)
}

// Add adds what else became stale before all records were indexed.
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

// Has reports whether a field is stale; "" is none.
func (s *Stale) Has(field string) bool {
	return s != nil && field != "" && (s.All || slices.Contains(s.Fields, field))
}

// HasWords reports whether a search may miss the words of a field.
func (s *Stale) HasWords(field string) bool {
	return s != nil && (s.All || slices.Contains(s.Words, field))
}

// HasOrder reports whether the order by cursor field is stale.
func (s *Stale) HasOrder() bool { return s != nil && (s.All || s.Order) }

// ErrRebuilding answers a read that depends on what is being indexed anew.
func ErrRebuilding(stream string) error {
	return &pdpp.Error{
		Code: pdpp.CodeUnavailable, RetryAfter: 5, Op: "store", Stream: stream,
		Message: "The stream was declared anew, and its index is being rebuilt; try again later.",
	}
}

// Reindex indexes all records whose declaration has changed (M-11), slice by slice.
// progress, when not nil, is told how many were looked at so far.
func Reindex(ctx context.Context, st Store, progress func(done int)) error {
	total := 0
	for more := true; more; {
		err := st.Bulk(ctx, func(tx Tx) (err error) {
			var done int
			done, more, err = tx.Reindex()
			total += done
			return err
		})
		if err != nil {
			return err
		}
		if progress != nil && total > 0 {
			progress(total)
		}
	}
	return nil
}
