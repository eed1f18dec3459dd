package store

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"pdpp"
)

// Slot says where a store finds the records that have a given value in a field.
type Slot uint8

// The slots.
const (
	SlotNone   Slot = iota // the field has no comparable kind
	SlotCursor             // in the record's order key
	SlotKey                // the record's id
	SlotIndex              // an index entry
)

// SlotOf tells where the values of a field are indexed. Every field that can be
// compared has one: equality is available on all of them (REC-19).
func SlotOf(s *pdpp.Stream, f *pdpp.Field) Slot {
	switch {
	case f.Kind == pdpp.KindNone:
		return SlotNone
	case f.Name == s.CursorField:
		return SlotCursor
	case len(s.PrimaryKey) == 1 && s.PrimaryKey[0] == f.Name && f.Kind == pdpp.KindString:
		return SlotKey
	}
	return SlotIndex
}

// HasValue tells whether a field's value is also kept by record, so that it can
// be looked up for a record found otherwise: for fields with a declared range or
// aggregation, and for every time, since a grant may be narrowed by it (REC-28),
// also by one that is not the consent time any more.
func HasValue(s *pdpp.Stream, f *pdpp.Field) bool {
	if SlotOf(s, f) != SlotIndex {
		return false
	}
	if f.Kind.IsTime() || s.RangeOps(f.Name) != nil {
		return true
	}
	a := s.Aggregations
	for _, fields := range [][]string{a.Sum, a.Min, a.Max, a.GroupBy, a.GroupByTime, a.CountDistinct} {
		if slices.Contains(fields, f.Name) {
			return true
		}
	}
	return false
}

// LayoutDigest identifies how the records of a stream are indexed. When it
// differs from the one records were written under, they are indexed anew.
func LayoutDigest(s *pdpp.Stream) string {
	h := sha256.New()
	fmt.Fprintf(h, "1|%q|%q|%q|", s.PrimaryKey, s.CursorField, s.ConsentTimeField)
	for _, f := range s.Fields {
		fmt.Fprintf(h, "%q:%d:%d:%t:%t|", f.Name, f.Kind, SlotOf(s, f), HasValue(s, f), slices.Contains(s.LexicalFields, f.Name))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Binding is one (connection, stream) pair with the numbers the store knows it
// and its fields by.
type Binding struct {
	Subject    pdpp.SubjectID
	Connection pdpp.Connection
	Stream     *pdpp.Stream
	Layout     string // LayoutDigest(Stream)
	ID         int64
	FieldIDs   []int64 // by pdpp.Field.Index
	Owner      int64   // the subject's number
}
