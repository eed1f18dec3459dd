package query

import (
	"errors"
	"slices"

	"pdpp"
	"pdpp/internal/grant"
	"pdpp/internal/sortkey"
)

// Filter is one condition, not yet validated.
type Filter struct {
	Field   string
	Op      pdpp.Op
	Operand string
}

// Filters reads filter[field]=v and filter[field][op]=v. It checks only the form. Where
// validates them against a stream.
func (p *Params) Filters() ([]Filter, error) {
	q := p.find("filter")
	if q == nil {
		return nil, nil
	}
	if len(q.values) > 0 {
		return nil, badFilter("", "A filter names a field: filter[field]=value or filter[field][gte]=value.")
	}
	var out []Filter
	fields := map[string][]pdpp.Op{}
	for _, m := range q.members {
		f := Filter{Field: m.key, Op: pdpp.OpEq, Operand: m.value}
		if m.sub != "" {
			f.Op = pdpp.Op(m.sub)
			if !f.Op.IsRange() {
				return nil, badFilter(m.key, "A filter operator is one of "+string(pdpp.RangeOpList)+".")
			}
		}
		if len(f.Operand) > pdpp.MaxOperand {
			return nil, badFilter(m.key, "A filter value is at most 1,024 bytes long.")
		}
		seen := fields[f.Field]
		if slices.Contains(seen, f.Op) || len(seen) > 0 && (f.Op == pdpp.OpEq || slices.Contains(seen, pdpp.OpEq)) {
			return nil, badFilter(m.key, "A field can have either one equality or several different range operators.")
		}
		fields[f.Field] = append(seen, f.Op)
		out = append(out, f)
	}
	if len(fields) > pdpp.MaxFilterFields {
		return nil, badFilter(out[len(out)-1].Field, "At most 16 fields can be filtered at once.")
	}
	return out, nil
}

// Where resolves filters for a stream. Unknown names fail first, then names outside the
// grant, then undeclared operators (C-20).
func Where(filters []Filter, a *grant.Access) ([]Condition, error) {
	if err := checkNames(filters, a); err != nil {
		return nil, err
	}
	var out []Condition
	for _, f := range filters {
		field := a.Stream.Field(f.Field)
		if field.Kind == pdpp.KindNone {
			return nil, badFilter(f.Field, "This field cannot be filtered: it has no single scalar type.")
		}
		if f.Op != pdpp.OpEq && !slices.Contains(a.Stream.RangeOps(f.Field), f.Op) {
			return nil, badFilter(f.Field, "Operator "+string(f.Op)+" is not declared for this field. The schema lists the operators.")
		}
		key, ok := sortkey.FromText(field.Kind, f.Operand)
		if !ok {
			return nil, badFilter(f.Field, "The value is not "+kindNames[field.Kind]+".")
		}
		out = append(out, Condition{Field: field, Op: f.Op, Key: key})
	}
	return out, nil
}

func checkNames(filters []Filter, a *grant.Access) error {
	var denied error
	for _, f := range filters {
		_, err := a.Field(f.Field, "filter")
		if pdpp.CodeOf(err) == pdpp.CodeUnknownField {
			return err
		}
		if denied == nil {
			denied = err
		}
	}
	return denied
}

const dateOrTime = "a date or time, such as 2026-05-01 or 2026-05-01T08:00:00Z"

var kindNames = map[pdpp.Kind]string{
	pdpp.KindString: "a string", pdpp.KindInteger: "an integer", pdpp.KindNumber: "a number",
	pdpp.KindBoolean: "true or false", pdpp.KindDate: dateOrTime, pdpp.KindDateTime: dateOrTime,
}

func badFilter(field, message string) error {
	return &pdpp.Error{Code: pdpp.CodeInvalidRequest, Param: "filter", Field: field, Message: message}
}

// Undeclared reports whether an error means that a stream does not declare what the
// request uses, so that a read over several connectors can leave that stream out (C-25).
func Undeclared(err error) bool {
	var e *pdpp.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code {
	case pdpp.CodeUnknownField, pdpp.CodeInvalidSort, pdpp.CodeInvalidExpand:
		return true
	case pdpp.CodeInvalidRequest:
		return e.Field != "" || e.Param == "view" || e.Param == "metric"
	}
	return false
}

// First returns the error to report when a request has several: unknown names before
// names outside the grant before others (C-20). Among errors of one kind it returns the
// first. It returns nil if there is none.
func First(errs ...error) error {
	var first error
	for _, err := range errs {
		if err != nil && (first == nil || rank(err) < rank(first)) {
			first = err
		}
	}
	return first
}

func rank(err error) int {
	var e *pdpp.Error
	if !errors.As(err, &e) {
		return 0
	}
	switch {
	case e.Code == pdpp.CodeUnknownField, e.Code == pdpp.CodeInvalidExpand && e.Param == "expand",
		e.Code == pdpp.CodeInvalidRequest && e.Param == "view":
		return 1
	case e.Code == pdpp.CodeFieldNotGranted, e.Code == pdpp.CodeInsufficientScope:
		return 2
	}
	return 3
}
