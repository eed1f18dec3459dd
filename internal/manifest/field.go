package manifest

import (
	"encoding/json"
	"slices"

	"pdpp"
)

// field reads one property. It also returns a field for an invalid property, so that
// places that name it are not reported as well.
func (sp *streamParser) field(name string, v value) *pdpp.Field {
	f := &pdpp.Field{Name: name, Schema: v.raw}
	if v.isBool() {
		return f // the schemas true and false have no type
	}
	if !v.isObject() {
		sp.add(v.at, "must be a JSON Schema: an object, true or false")
		return f
	}
	resolved, problem := sp.schema.resolve(v)
	if problem != "" {
		sp.add(v.at, "%s", problem)
		return f
	}
	f.Schema = resolved.raw
	o := sp.schema.nullable(resolved)
	types, problem := typesOf(o)
	if problem != "" {
		sp.add(v.at.key("type"), "%s", problem)
		return f
	}
	f.Types = types
	f.Format = sp.text(o.get("format"))
	f.Role = pdpp.Role(sp.text(o.get("x_pdpp_role")))
	f.DisplayType = sp.text(o.get("x_pdpp_type"))
	f.Kind = kindOf(types, f.Format)
	f.Blob = sp.schema.blobShape(o, types)
	return f
}

var jsonTypes = []string{"string", "integer", "number", "boolean", "object", "array", "null"}

// typesOf reads the type keyword: a string, or a list, whose order it keeps. The problem
// is "" when the keyword is valid or missing.
func typesOf(o object) (types []string, problem string) {
	v := o.get("type")
	if v.absent() {
		return nil, ""
	}
	items := []value{v}
	if v.isList() {
		items = v.items()
	}
	for _, item := range items {
		t := item.text()
		if !slices.Contains(jsonTypes, t) {
			return nil, "must be a JSON type or a list of JSON types: string, integer, number, boolean, object, array, null"
		}
		if slices.Contains(types, t) {
			return nil, "lists " + quote(t) + " twice"
		}
		types = append(types, t)
	}
	if len(types) == 0 {
		return nil, "must list at least one JSON type"
	}
	return types, ""
}

// kindOf returns the comparison kind. A field has one only when it has exactly one
// scalar type besides null (REC-19).
func kindOf(types []string, format string) pdpp.Kind {
	switch {
	case isOnly(types, "string") && format == "date":
		return pdpp.KindDate
	case isOnly(types, "string") && format == "date-time":
		return pdpp.KindDateTime
	case isOnly(types, "string"):
		return pdpp.KindString
	case isOnly(types, "integer"):
		return pdpp.KindInteger
	case isOnly(types, "number"):
		return pdpp.KindNumber
	case isOnly(types, "boolean"):
		return pdpp.KindBoolean
	}
	return pdpp.KindNone
}

// isOnly reports whether t is the only type besides null.
func isOnly(types []string, t string) bool {
	found := false
	for _, have := range types {
		switch have {
		case t:
			found = true
		case "null":
		default:
			return false
		}
	}
	return found
}

// nullable replaces an anyOf or oneOf of null and one typed alternative by a schema with
// that type or null. It returns any other schema unchanged.
func (s *schema) nullable(v value) object {
	o, _ := v.object()
	if !o.get("type").absent() {
		return o
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if alt, ok := s.alternative(o.get(key).items()); ok {
			return alt.overlay(o, key)
		}
	}
	return o
}

// alternative returns the typed one of two alternatives of which the other is null. It
// adds null to its types, in the order of the alternatives.
func (s *schema) alternative(items []value) (object, bool) {
	if len(items) != 2 {
		return object{}, false
	}
	var typed object
	var types []string
	nulls := 0
	for _, item := range items {
		resolved, problem := s.resolve(item)
		o, isObject := resolved.object()
		alt, bad := typesOf(o)
		if problem != "" || bad != "" || !isObject || len(alt) != 1 {
			return object{}, false
		}
		types = append(types, alt[0])
		if alt[0] == "null" {
			nulls++
		} else {
			typed = o
		}
	}
	if nulls != 1 {
		return object{}, false
	}
	encoded, err := json.Marshal(types)
	if err != nil {
		return object{}, false
	}
	with := object{at: typed.at, members: map[string]json.RawMessage{}}
	with.set("type", encoded)
	return typed.overlay(with), true
}

// blobShape returns how a property refers to blobs (M-9). Its schema decides, never its
// name (D12).
func (s *schema) blobShape(o object, types []string) pdpp.BlobShape {
	switch {
	case isOnly(types, "object") && s.isBlobRef(o):
		return pdpp.BlobOne
	case isOnly(types, "array"):
		item, problem := s.resolve(o.get("items"))
		if problem != "" {
			return pdpp.BlobNone
		}
		element := s.nullable(item)
		if types, _ := typesOf(element); isOnly(types, "object") && s.isBlobRef(element) {
			return pdpp.BlobList
		}
	}
	return pdpp.BlobNone
}

// isBlobRef reports whether an object schema requires a string blob_id.
func (s *schema) isBlobRef(o object) bool {
	required := slices.ContainsFunc(o.get("required").items(), func(v value) bool { return v.text() == "blob_id" })
	props, _ := o.get("properties").object()
	id, problem := s.resolve(props.get("blob_id"))
	if !required || problem != "" {
		return false
	}
	schema, _ := id.object()
	types, _ := typesOf(schema)
	return slices.Equal(types, []string{"string"})
}
