package schemadoc

import (
	"bytes"
	"encoding/json"

	"pdpp"
	"pdpp/internal/grant"
)

// schema appends the JSON Schema of a stream: for an owner as declared, for a client a
// closed object of the granted properties (X-8, S-6).
func (b *buffer) schema(s *pdpp.Stream, o *offer) {
	b.Key("schema")
	if o.access.All {
		b.Writer = appendCompact(b.Writer, s.Schema)
		return
	}
	b.Literal(`{"type":"object","additionalProperties":false`)
	list(b, "required", o.granted(s.Required))
	b.OpenObject("properties")
	for _, f := range o.access.Fields {
		b.Member(f.Name, fieldSchema(f, o.access))
	}
	b.End("}}")
}

// appendCompact appends declared JSON without insignificant white space.
func appendCompact(dst []byte, value []byte) []byte {
	buf := bytes.NewBuffer(dst)
	if err := json.Compact(buf, value); err != nil {
		// Unreachable: the manifest parser has checked the schema.
		return append(dst, "{}"...)
	}
	return buf.Bytes()
}

// fieldSchema returns the JSON Schema of one property. A client does not get the whole
// schema of the stream: a reference would have no target, and its pointer may name a
// property that is not granted. Such a schema is replaced by the facts of the field.
func fieldSchema(f *pdpp.Field, a *grant.Access) []byte {
	if a.All || !hasReference(f.Schema) {
		return f.Schema
	}
	b := buffer{[]byte("{")}
	switch len(f.Types) {
	case 0:
	case 1:
		b.Text("type", f.Types[0])
	default:
		list(&b, "type", f.Types)
	}
	b.Optional("format", f.Format)
	b.Optional("x_pdpp_type", f.DisplayType)
	b.Optional("x_pdpp_role", string(f.Role))
	b.End("}")
	return b.Writer
}

// hasReference reports whether a schema contains a reference keyword of JSON Schema. The
// first test is sufficient for most schemas: such a keyword begins with a dollar sign or
// an escape.
func hasReference(schema []byte) bool {
	if !bytes.Contains(schema, []byte(`"$`)) && !bytes.Contains(schema, []byte(`"\u`)) {
		return false
	}
	var v any
	if json.Unmarshal(schema, &v) != nil {
		return true
	}
	return containsReference(v)
}

func containsReference(v any) bool {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if containsReference(e) {
				return true
			}
		}
	case map[string]any:
		for k, e := range v {
			if k == "$ref" || k == "$dynamicRef" || k == "$recursiveRef" || containsReference(e) {
				return true
			}
		}
	}
	return false
}
