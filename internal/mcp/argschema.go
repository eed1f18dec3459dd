package mcp

import (
	"strconv"

	"pdpp"
	"pdpp/internal/rawjson"
)

// schema returns the input schema of the arguments (MS-10): without references and unions of
// types, which some hosts fail to convert.
func (t argTable) schema() []byte {
	b := []byte(`{"type":"object","additionalProperties":false`)
	first := true
	for _, decl := range t {
		if !decl.required || decl.alias != "" { // either name is accepted
			continue
		}
		if first {
			b = append(b, `,"required":[`...)
		} else {
			b = append(b, ',')
		}
		first = false
		b = rawjson.AppendString(b, decl.name)
	}
	if !first {
		b = append(b, ']')
	}
	b = append(b, `,"properties":{`...)
	for i, decl := range t {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(rawjson.AppendString(b, decl.name), ':')
		b = decl.append(b)
		if decl.alias != "" {
			b = append(rawjson.AppendString(append(b, ','), decl.alias), ':')
			b = arg{kind: decl.kind, about: "The same as " + decl.name + "; send one of the two."}.append(b)
		}
	}
	return append(b, "}}"...)
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
func (decl arg) append(b []byte) []byte {
	b = append(b, '{')
	switch decl.kind {
	case argEnum:
		b = append(b, `"type":"string"`...)
		if decl.byServer {
			break
		}
		b = append(b, `,"enum":`...)
		b = append(b, '[')
		for i, word := range decl.enum {
			if i > 0 {
				b = append(b, ',')
			}
			b = rawjson.AppendString(b, word)
		}
		b = append(b, ']')
	case argInt:
		b = append(b, `"type":"integer","minimum":`...)
		b = strconv.AppendInt(b, int64(decl.min), 10)
		if decl.max > 0 {
			b = append(b, `,"maximum":`...)
			b = strconv.AppendInt(b, int64(decl.max), 10)
		}
	default:
		b = append(b, kindSchemas[decl.kind]...)
	}
	if decl.about != "" {
		b = append(b, `,"description":`...)
		b = rawjson.AppendString(b, decl.about)
	}
	return append(b, '}')
}
