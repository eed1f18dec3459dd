package sqlgen

import (
	"bytes"
	"slices"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/store"
)

// span is what the conditions on one field allow: one value, or a half-open range of
// encoded values. A nil bound is open.
type span struct {
	field  *pdpp.Field
	number int64 // of the field
	token  bool  // equality, found by its term (SlotToken)
	eq     []byte
	lo, hi []byte
}

// conditions are those of a source, grouped by where they can be looked up.
type conditions struct {
	order     span   // on the order key; eq unused
	id        string // the record id, when hasID
	hasID     bool
	spans     []span // on indexed fields
	resources []pdpp.RecordID
	none      bool // no record can meet them
}

// analyze groups the conditions of a source.
func analyze(src query.Source, fieldID func(*pdpp.Field) int64) conditions {
	t := conditions{resources: src.Resources, none: !hasTimes(src)}
	byField := map[string]int{}
	for _, c := range src.Conditions() {
		switch slot := slotOf(src.Stream, c.Field); slot {
		case store.SlotCursor:
			t.order.narrowOrder(c)
		case store.SlotKey:
			t.none = t.none || t.hasID && t.id != string(c.Key)
			t.id, t.hasID = string(c.Key), true
		case store.SlotIndex, store.SlotToken:
			i, ok := byField[c.Field.Name]
			if !ok {
				i = len(t.spans)
				byField[c.Field.Name] = i
				t.spans = append(t.spans, span{field: c.Field, number: fieldID(c.Field), token: slot == store.SlotToken})
			}
			t.none = !t.spans[i].narrow(c) || t.none
		case store.SlotNone, store.SlotBlob:
			t.none = true
		}
	}
	if t.hasID && t.resources != nil {
		t.none = t.none || !slices.Contains(t.resources, pdpp.RecordID(t.id))
		t.resources = nil // the id is one of them
	}
	return t
}

// hasTimes reports whether the field of the grant's time range, if there is one, is
// still declared as a time. If not, no record has a time and none is visible: a new
// manifest never widens a grant (M-11).
func hasTimes(src query.Source) bool {
	if src.Time == nil {
		return true
	}
	f := src.Stream.Field(src.Time.Field)
	return f != nil && f.Kind.IsTime()
}

func slotOf(s *pdpp.Stream, f *pdpp.Field) store.Slot {
	if f.Index < 0 { // no longer declared
		return store.SlotNone
	}
	return store.SlotOf(s, f)
}

// narrow adds a condition on an indexed value; false when nothing can meet both.
func (s *span) narrow(c query.Condition) bool {
	if c.Op == pdpp.OpEq {
		if s.eq != nil && !bytes.Equal(s.eq, c.Key) {
			return false
		}
		s.eq = c.Key
	} else {
		s.bound(c.Op, c.Key, append(bytes.Clone(c.Key), 0)) // the least key above c.Key
	}
	if s.eq == nil {
		return true
	}
	return (s.lo == nil || bytes.Compare(s.eq, s.lo) >= 0) && (s.hi == nil || bytes.Compare(s.eq, s.hi) < 0)
}

// narrowOrder adds a condition on the cursor field. In an order key the value is
// followed by the record id, so bounds are prefixes.
func (s *span) narrowOrder(c query.Condition) {
	valued, none, _ := store.OrderSegments()
	s.raise(valued)
	s.lower(none)
	prefix := append(bytes.Clone(valued), c.Key...)
	s.bound(c.Op, prefix, prefixEnd(prefix))
}

// bound narrows a span to the values that op selects: from is the first key of the
// operand, next the first one above it.
func (s *span) bound(op pdpp.Op, from, next []byte) {
	lower, upper, excluded := op.Bounds()
	if lower && excluded {
		s.raise(next)
	} else if lower {
		s.raise(from)
	}
	if upper && excluded {
		s.lower(from)
	} else if upper {
		s.lower(next)
	}
}

func (s *span) raise(lo []byte) {
	if s.lo == nil || bytes.Compare(lo, s.lo) > 0 {
		s.lo = lo
	}
}

func (s *span) lower(hi []byte) {
	if s.hi == nil || bytes.Compare(hi, s.hi) < 0 {
		s.hi = hi
	}
}

// prefixEnd returns the least key above all keys that begin with p.
func prefixEnd(p []byte) []byte {
	end := bytes.Clone(p)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil // all bytes are 0xff: no bound; no order key begins with 0xff
}

// where writes the span's bounds on a column.
func (s span) where(b *builder, column string) {
	if s.eq != nil {
		b.add(" AND "+column+" = ?", s.eq)
		return
	}
	if s.lo != nil {
		b.add(" AND "+column+" >= ?", s.lo)
	}
	if s.hi != nil {
		b.add(" AND "+column+" < ?", s.hi)
	}
}

// exists tests the span against the value of a record in field_values.
func (s span) exists(b *builder, record string) {
	b.add(` AND EXISTS (SELECT 1 FROM field_values x WHERE x.record = `+record+` AND x.field = ?`, s.number)
	s.where(b, "x.value")
	b.add(")")
}
