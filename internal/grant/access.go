package grant

import (
	"slices"

	"pdpp"
)

// Access is what a caller may see of one stream: its fields, and the bounds on
// its records. It is immutable and shared by all connections of the stream.
type Access struct {
	Stream    *pdpp.Stream
	All       bool // owner: every property, undeclared ones included
	Fields    []*pdpp.Field
	Time      *pdpp.TimeConstraint
	Resources []pdpp.RecordID // nil: all; else ascending

	granted []bool // by Field.Index
}

// ownerAccess sees everything of a stream.
func ownerAccess(s *pdpp.Stream) *Access {
	return &Access{Stream: s, All: true, Fields: s.Fields}
}

// clientAccess sees the granted fields that the stream still declares.
func clientAccess(s *pdpp.Stream, g *pdpp.GrantStream) *Access {
	a := &Access{Stream: s, Time: g.Time, granted: make([]bool, len(s.Fields))}
	for _, name := range g.Fields {
		if f := s.Field(name); f != nil {
			a.granted[f.Index] = true
		}
	}
	for _, f := range s.Fields {
		if a.granted[f.Index] {
			a.Fields = append(a.Fields, f)
		}
	}
	if g.Resources != nil {
		// Sorting a copy keeps an empty list from turning into nil, which
		// would mean all.
		a.Resources = append([]pdpp.RecordID{}, g.Resources...)
		slices.Sort(a.Resources)
	}
	return a
}

// Granted reports whether the caller may see the declared field name.
func (a *Access) Granted(name string) bool {
	f := a.Stream.Field(name)
	return f != nil && (a.All || a.granted[f.Index])
}

// Field resolves a field that a request names (C-23): undeclared is
// unknown_field, declared but not granted is field_not_granted.
func (a *Access) Field(name, param string) (*pdpp.Field, error) {
	f := a.Stream.Field(name)
	if f == nil {
		return nil, &pdpp.Error{
			Code: pdpp.CodeUnknownField, Param: param, Field: name,
			Message: "Stream " + quote(a.Stream.Name) + " declares no field " + quote(name) + ". The schema lists the fields.",
		}
	}
	if !a.Granted(name) {
		return nil, &pdpp.Error{
			Code: pdpp.CodeFieldNotGranted, Param: param, Field: name, NeedsBroaderGrant: true,
			Message:  "Field " + quote(name) + " is not in this grant.",
			NextStep: "Ask the owner to approve this field.",
		}
	}
	return f, nil
}

// CursorField is the stream's cursor field when the caller may see it, else "".
func (a *Access) CursorField() string {
	if c := a.Stream.CursorField; c != "" && a.Granted(c) {
		return c
	}
	return ""
}

// Unbounded reports that every record of a binding is visible.
func (a *Access) Unbounded() bool { return a.Time == nil && a.Resources == nil }

// ViewFields gives the granted fields of a view, in the view's order (S-6).
func (a *Access) ViewFields(v pdpp.View) []string { return a.only(v.Fields) }

// only keeps the granted names, in order.
func (a *Access) only(names []string) []string {
	var out []string
	for _, n := range names {
		if a.Granted(n) {
			out = append(out, n)
		}
	}
	return out
}

func quote(s string) string { return `"` + s + `"` }
