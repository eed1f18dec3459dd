package store

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"pdpp"
)

// Slot is where a store finds the records with a given value in a field.
type Slot uint8

// The slots.
const (
	SlotNone   Slot = iota // the field has no comparable kind
	SlotCursor             // in the record's order key
	SlotKey                // the record's id
	SlotIndex              // index entries, and the value by record: declared fields
	SlotToken              // a term of the search text: equality alone
	SlotBlob               // terms of the search text: the blobs it refers to
)

// SlotOf returns where the values of a field are found. Every comparable field has a
// slot, because equality is available on all of them (REC-19). Fields with a declared
// range or aggregation, foreign keys, and all times have index entries; times because
// a grant may be narrowed by one (REC-28). The others have one term in the search
// text, which costs little to write and leads to the few records that share a value.
func SlotOf(s *pdpp.Stream, f *pdpp.Field) Slot {
	switch {
	case f.Blob != pdpp.BlobNone:
		return SlotBlob
	case f.Kind == pdpp.KindNone:
		return SlotNone
	case f.Name == s.CursorField:
		return SlotCursor
	case len(s.PrimaryKey) == 1 && s.PrimaryKey[0] == f.Name && f.Kind == pdpp.KindString:
		return SlotKey
	case f.Kind.IsTime() || f.ForeignKey || s.RangeOps(f.Name) != nil || s.Aggregations.Uses(f.Name):
		return SlotIndex
	}
	return SlotToken
}

// Indexed reports whether the values of a field have index entries. Aggregated fields
// have them even when single records are found by order key or id: the entries are
// much smaller to read than the records.
func Indexed(s *pdpp.Stream, f *pdpp.Field) bool {
	slot := SlotOf(s, f)
	return slot == SlotIndex || slot != SlotNone && s.Aggregations.Uses(f.Name)
}

// LayoutDigest identifies how the records of a stream are indexed. Records that were
// written under another digest are re-indexed: when a manifest is put, and when a
// store is migrated. A program that indexes differently therefore needs a migration.
func LayoutDigest(s *pdpp.Stream) string {
	h := sha256.New()
	fmt.Fprintf(h, "2|%q|%q|%q|", s.PrimaryKey, s.CursorField, s.ConsentTimeField)
	for _, f := range s.Fields {
		fmt.Fprintf(h, "%q:%d:%d:%t|", f.Name, f.Kind, SlotOf(s, f), slices.Contains(s.LexicalFields, f.Name))
		if Indexed(s, f) && SlotOf(s, f) != SlotIndex {
			fmt.Fprint(h, "indexed|")
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Binding is one (connection, stream) pair with its number and those of its fields in
// the store.
type Binding struct {
	Subject    pdpp.SubjectID
	Connection pdpp.Connection
	Stream     *pdpp.Stream
	Layout     string // LayoutDigest(Stream)
	ID         int64
	FieldIDs   []int64 // by pdpp.Field.Index
	Owner      int64   // the subject's number
}
