package mcp

import (
	"strconv"
	"strings"

	"pdpp"
	"pdpp/internal/rawjson"
)

// condition is one comparison of a filter. Value is the operand as
// in the query string: numbers keep their digits.
type condition struct {
	Field string
	Op    pdpp.Op
	Value string
}

const filterForms = `A filter is an object: {"status":"paid"} for exact values, {"created_at":{"gte":"2026-01-01"}} for ranges.`

// takeFilter reads a typed filter (FILTER-1 …).
func (a *arguments) takeFilter(decl *arg, in *argument) error {
	if decl.kind != argFilter {
		return nil
	}
	value := in.value
	bad := func(field, what string) error {
		param := "filter"
		if field != "" {
			param += "." + field
		}
		return &adapterError{Code: pdpp.CodeInvalidFilter, Param: param, Message: what + " " + filterForms}
	}
	if rawjson.KindOf(value) != rawjson.KindObject {
		return bad("", "filter is not an object.")
	}
	for name, v := range rawjson.Members(value) {
		field := string(name)
		if field == "" || strings.ContainsAny(field, "[]") {
			return bad(field, "The key "+strconv.Quote(cutName(field))+" is not a plain field name.")
		}
		if text, ok := operand(v, true); ok {
			a.filter = append(a.filter, condition{field, pdpp.OpEq, text})
			continue
		}
		if rawjson.KindOf(v) != rawjson.KindObject || string(v) == "{}" {
			return bad(field, "The value of "+strconv.Quote(cutName(field))+" must be a string, a number, a boolean, or an object with "+string(pdpp.RangeOpList)+".")
		}
		for op, v := range rawjson.Members(v) {
			text, ok := operand(v, false)
			if !ok || !pdpp.Op(op).IsRange() {
				return bad(field, "The range of "+strconv.Quote(cutName(field))+" has the operators "+string(pdpp.RangeOpList)+", each with a string or a number.")
			}
			a.filter = append(a.filter, condition{field, pdpp.Op(op), text})
		}
	}
	if a.filter == nil {
		return bad("", "filter is empty; leave it out.")
	}
	return nil
}

// operand returns a scalar as in the query string.
func operand(v []byte, booleans bool) (string, bool) {
	switch rawjson.KindOf(v) {
	case rawjson.KindString:
		return rawjson.String(v)
	case rawjson.KindNumber:
		return string(v), true
	case rawjson.KindBool:
		return string(v), booleans
	}
	return "", false
}
