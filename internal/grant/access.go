package grant

import (
	"slices"

	"pdpp"
)

// Access is the part of one stream that a caller may read: its fields, and the bounds
// on its records. It is immutable and shared by all connections of the stream.
type Access struct {
	Stream    *pdpp.Stream
	All       bool // owner: every property, undeclared ones included
	Fields    []*pdpp.Field
	Time      *pdpp.TimeConstraint
	Resources []pdpp.RecordID // nil: all; else ascending

	granted []bool // by Field.Index
}

// ownerAccess returns access to everything of a stream.
func ownerAccess(s *pdpp.Stream) *Access {
	return &Access{Stream: s, All: true, Fields: s.Fields}
}

// clientAccess returns access to the granted fields that the stream still declares.
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
		// The copy of an empty list must not be nil, which would mean all.
		a.Resources = append([]pdpp.RecordID{}, g.Resources...)
		slices.Sort(a.Resources)
	}
	return a
}

// Granted reports whether the stream declares the field and the caller may read it.
func (a *Access) Granted(name string) bool {
	f := a.Stream.Field(name)
	return f != nil && (a.All || a.granted[f.Index])
}

// Field returns a field that a request names (C-23). The error is unknown_field for an
// undeclared field and field_not_granted for one outside the grant.
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

// CursorField returns the cursor field of the stream when the caller may read it, else "".
func (a *Access) CursorField() string {
	if c := a.Stream.CursorField; c != "" && a.Granted(c) {
		return c
	}
	return ""
}

// ViewFields returns the granted fields of a view, in the order of the view (S-6).
func (a *Access) ViewFields(v pdpp.View) []string {
	var out []string
	for _, n := range v.Fields {
		if a.Granted(n) {
			out = append(out, n)
		}
	}
	return out
}

func quote(s string) string { return `"` + s + `"` }
