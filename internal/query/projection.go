package query

import (
	"slices"

	"pdpp"
	"pdpp/internal/grant"
)

// MaxFields bounds an explicit projection (REC-15).
const MaxFields = 256

// Projection selects the fields of a record. If Ordered is true, fields are written in
// the order of Names, otherwise in the order of the record.
type Projection struct {
	All     bool // every property of the record, undeclared ones included
	Ordered bool
	Names   []string
}

// Selection has the parameters of a projection, not yet validated.
type Selection struct {
	Fields []string
	View   string
}

// Selection reads fields and view.
func (p *Params) Selection() (Selection, error) {
	var s Selection
	var err error
	if s.Fields, err = p.List("fields"); err != nil {
		return s, err
	}
	if s.View, err = p.One("view"); err != nil {
		return s, err
	}
	if s.View != "" && s.Fields != nil {
		return s, pdpp.BadParam("view", "Send either view or fields, not both.")
	}
	if len(s.Fields) > MaxFields {
		return s, pdpp.BadParam("fields", "At most %d fields can be named.", MaxFields)
	}
	return s, nil
}

// Project resolves a selection for a stream (REC-15 to REC-17).
func Project(s Selection, a *grant.Access) (Projection, error) {
	switch {
	case s.View != "":
		return projectView(s.View, a)
	case s.Fields != nil:
		if err := checkFields(s.Fields, a); err != nil {
			return Projection{}, err
		}
		return Projection{Ordered: true, Names: s.Fields}, nil
	case a.All:
		return Projection{All: true}, nil
	}
	names := make([]string, len(a.Fields))
	for i, f := range a.Fields {
		names[i] = f.Name
	}
	return Projection{Names: names}, nil
}

func projectView(id string, a *grant.Access) (Projection, error) {
	v, ok := a.Stream.View(id)
	if !ok {
		return Projection{}, pdpp.BadParam("view", "Stream %q has no view %q. The schema lists the views.", a.Stream.Name, id)
	}
	fields := a.ViewFields(v)
	if len(fields) == 0 {
		return Projection{}, &pdpp.Error{
			Code: pdpp.CodeFieldNotGranted, Param: "view", NeedsBroaderGrant: true,
			Message: "None of this view's fields is in this grant.",
		}
	}
	return Projection{Ordered: true, Names: fields}, nil
}

func checkFields(names []string, a *grant.Access) error {
	var denied error
	for _, name := range names {
		_, err := a.Field(name, "fields")
		if pdpp.CodeOf(err) == pdpp.CodeUnknownField {
			return err
		}
		if denied == nil {
			denied = err
		}
	}
	return denied
}

// Shows reports whether a declared field is in the projection.
func (p Projection) Shows(name string) bool { return p.All || slices.Contains(p.Names, name) }
