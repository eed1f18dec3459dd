package mcp

import (
	"pdpp"
	"pdpp/internal/rawjson"
)

// schema returns the input schema of the arguments (MS-10): without references and unions of
// types, which some hosts fail to convert.
func (t argTable) schema() []byte {
	w := rawjson.Writer(`{"type":"object","additionalProperties":false`)
	var required []string
	for _, decl := range t {
		if decl.required && decl.alias == "" { // otherwise either name is accepted
			required = append(required, decl.name)
		}
	}
	if required != nil {
		rawjson.List(&w, "required", required)
	}
	w.OpenObject("properties")
	for _, decl := range t {
		w.Key(decl.name)
		decl.write(&w)
		if decl.alias != "" {
			w.Key(decl.alias)
			arg{kind: decl.kind, about: "The same as " + decl.name + "; send one of the two."}.write(&w)
		}
	}
	w.End("}}")
	return w
}

// filterSchema returns the schema of a filter: an exact value of each field, or a range.
func filterSchema() string {
	ranges := ""
	for _, op := range pdpp.RangeOps {
		ranges += `,"` + string(op) + `":{"anyOf":[{"type":"string"},{"type":"number"}]}`
	}
	return `"type":"object","minProperties":1,"additionalProperties":{"anyOf":[{"type":"string"},{"type":"number"},{"type":"boolean"},` +
		`{"type":"object","minProperties":1,"additionalProperties":false,"properties":{` + ranges[1:] + `}}]}`
}

var kindSchemas = map[argKind]string{
	argText:        `"type":"string","minLength":1`,
	argStream:      `"type":"string","minLength":1`,
	argID:          `"type":"string","minLength":1`,
	argHandle:      `"type":"string","minLength":1`,
	argTexts:       `"type":"array","minItems":1,"items":{"type":"string","minLength":1}`,
	argStreams:     `"type":"array","minItems":1,"items":{"type":"string","minLength":1}`,
	argExpand:      `"type":"array","minItems":1,"items":{"type":"string","minLength":1}`,
	argFilter:      filterSchema(),
	argExpandLimit: `"type":"object","minProperties":1,"additionalProperties":{"type":"integer","minimum":1}`,
}

// append appends the JSON Schema of the argument.
func (decl arg) write(w *rawjson.Writer) {
	w.Object()
	switch decl.kind {
	case argEnum:
		w.Text("type", "string")
		if !decl.byServer {
			rawjson.List(w, "enum", decl.enum)
		}
	case argInt:
		w.Text("type", "integer")
		w.Number("minimum", decl.min)
		if decl.max > 0 {
			w.Number("maximum", decl.max)
		}
	default:
		w.Literal(kindSchemas[decl.kind])
	}
	w.Optional("description", decl.about)
	w.End("}")
}
