package query

import (
	"pdpp"
	"pdpp/internal/sortkey"
)

// Source is one binding as a store reads it: the connection and stream, and which of
// the records the caller may see.
type Source struct {
	Connection pdpp.ConnectionID
	Stream     *pdpp.Stream
	Time       *pdpp.TimeConstraint // the grant's, REC-28
	Resources  []pdpp.RecordID      // the grant's, REC-29; nil for all
	Where      []Condition          // the request's
}

// Condition compares one field of a record. Key is the operand in the encoding
// of package sortkey.
type Condition struct {
	Field *pdpp.Field
	Op    pdpp.Op
	Key   []byte
}

// Conditions returns all conditions on a record's fields: those of the request and the
// grant's time constraint. A record without a value for a field does not meet a condition
// on it.
func (s Source) Conditions() []Condition {
	if s.Time == nil {
		return s.Where
	}
	out := append([]Condition(nil), s.Where...)
	f := s.Stream.Field(s.Time.Field)
	if f == nil || !f.Kind.IsTime() {
		// The manifest no longer declares the field as a time, so no record has a time.
		// No record meets a condition on this undeclared field.
		f = &pdpp.Field{Name: s.Time.Field, Index: -1, Kind: pdpp.KindDateTime}
	}
	if !s.Time.Since.IsZero() {
		out = append(out, Condition{Field: f, Op: pdpp.OpGte, Key: sortkey.FromTime(s.Time.Since)})
	}
	if !s.Time.Until.IsZero() {
		out = append(out, Condition{Field: f, Op: pdpp.OpLt, Key: sortkey.FromTime(s.Time.Until)})
	}
	return out
}

// OrderBy is the key that sorts a list (REC-7, REC-9).
type OrderBy uint8

// The orders. All break ties by record id, then by connection id.
const (
	ByID      OrderBy = iota // the canonical id alone
	ByCursor                 // the stream's cursor field, records without a value last
	ByEmitted                // emitted_at
)

// Order is an order and its direction.
type Order struct {
	By   OrderBy
	Desc bool
}

// Position is a position in an order: directly after the record with this order key on
// this connection. Only stores interpret Key.
type Position struct {
	Key        []byte
	Connection pdpp.ConnectionID
}

// List is a query for records of one or several bindings in one order.
type List struct {
	Subject pdpp.SubjectID
	Sources []Source
	Order   Order
	After   *Position // nil to begin at the start
	Limit   int       // the most records that the caller takes
}

// Get is a query for one record id in one or several bindings.
type Get struct {
	Subject pdpp.SubjectID
	Sources []Source
	ID      pdpp.RecordID
}
