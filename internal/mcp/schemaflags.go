package mcp

import (
	"slices"
	"strings"

	"pdpp"
	"pdpp/internal/rawjson"
	"pdpp/internal/schemadoc"
)

// schemaField is a field of a row: its flags as received, or in the grammar of X-15
// made from its description (MS-90).
type schemaField struct {
	name   string
	flags  string
	enum   []string // the values it may have, as JSON; full documents only
	sorted bool     // the sort line says it by reference to the brackets of the fields
}

// fields are the fields of a row, in its order. A row without capabilities has those
// of its JSON Schema.
func (r *schemaRow) fields() []schemaField {
	schema, _ := rawjson.Get(r.Raw, "schema")
	properties, _ := rawjson.Get(schema, "properties")
	byName := map[string][]byte{}
	for name, property := range rawjson.Members(properties) {
		byName[string(name)] = property
	}
	var out []schemaField
	for _, f := range r.Fields {
		property := byName[f.Name]
		if f.Object == nil {
			out = append(out, schemaField{name: f.Name, flags: f.Flags, enum: enumOf(property)})
			continue
		}
		if own, ok := rawjson.Get(f.Object, "schema"); ok {
			property = own
		}
		out = append(out, schemaField{name: f.Name, flags: schemadoc.Flags(capsOf(f.Object, property)), enum: enumOf(property)})
	}
	if out != nil {
		return out
	}
	for name, property := range rawjson.Members(properties) {
		out = append(out, schemaField{name: string(name), flags: schemadoc.Flags(capsOf(nil, property)), enum: enumOf(property)})
	}
	return out
}

// fieldCount is the number of fields of a row.
func (r *schemaRow) fieldCount() int {
	if len(r.Fields) > 0 {
		return len(r.Fields)
	}
	schema, _ := rawjson.Get(r.Raw, "schema")
	properties, _ := rawjson.Get(schema, "properties")
	n := 0
	for range rawjson.Members(properties) {
		n++
	}
	return n
}

// capabilities of X-9 by the tokens of X-15.
var fieldCapabilities = []struct{ token, name string }{
	{"eq", "exact_filter"}, {"r", "range_filter"}, {"lex", "lexical_search"}, {"sem", "semantic_search"},
}

// capsOf reads the description of a field and its JSON Schema.
func capsOf(object, property []byte) schemadoc.FieldCaps {
	c := schemadoc.FieldCaps{
		Type: textMember(object, "type"), Role: pdpp.Role(textMember(object, "role")),
		JSONTypes: namesOf(property, "type"), Format: textMember(property, "format"), Unusable: map[string]string{},
	}
	if c.Type == "" {
		c.Type = textMember(property, "x_pdpp_type")
	}
	if c.Role == "" {
		c.Role = pdpp.Role(textMember(property, "x_pdpp_role"))
	}
	granted, _ := rawjson.Get(object, "granted")
	c.NotGranted = string(granted) == "false"
	parts, _ := rawjson.Get(property, "properties")
	_, c.Blob = rawjson.Get(parts, "blob_id")
	usable := map[string]bool{}
	for _, f := range fieldCapabilities {
		v, _ := rawjson.Get(object, f.name)
		on, why := capability(v)
		usable[f.token] = on
		if why != "" {
			c.Unusable[f.token] = why
		}
	}
	c.Exact, c.Lexical, c.Semantic = usable["eq"], usable["lex"], usable["sem"]
	if usable["r"] {
		ranges, _ := rawjson.Get(object, "range_filter")
		for _, op := range namesOf(ranges, "operators") {
			c.Range = append(c.Range, pdpp.Op(op))
		}
	}
	aggregation, _ := rawjson.Get(object, "aggregation")
	c.Aggregations = aggregationsIn(aggregation, c.Unusable)
	return c
}

// aggregationsIn are the usable aggregations of a field, in the order of X-15. Only
// when none is, the reason of one that is declared is noted.
func aggregationsIn(object []byte, unusable map[string]string) []string {
	var out []string
	first := ""
	for _, name := range []string{"count_distinct", "group_by", "group_by_time", "max", "min", "sum"} {
		v, _ := rawjson.Get(object, name)
		on, why := capability(v)
		if on {
			out = append(out, name)
		} else if first == "" {
			first = why
		}
	}
	if out == nil && first != "" {
		unusable["a"] = first
	}
	return out
}

// capability reads {declared, usable}: whether it can be used, and if it is only
// declared, why not.
func capability(v []byte) (usable bool, why string) {
	if string(v) == "true" || isTrue(v, "usable") {
		return true, ""
	}
	if !isTrue(v, "declared") {
		return false, ""
	}
	if why = textMember(v, "reason"); why == "" {
		why = "unstated"
	}
	return false, why
}

// namesOf is a member that is a string or a list of strings.
func namesOf(obj []byte, name string) []string {
	v, _ := rawjson.Get(obj, name)
	if s, ok := rawjson.String(v); ok {
		return []string{s}
	}
	var out []string
	for item := range rawjson.Elements(v) {
		if s, ok := rawjson.String(item); ok {
			out = append(out, s)
		}
	}
	return out
}

// Most values of an enum that a text shows (MS-91).
const maxEnum = 10

func enumOf(property []byte) []string {
	v, _ := rawjson.Get(property, "enum")
	var out []string
	for item := range rawjson.Elements(v) {
		out = append(out, scalar(item, keyChars))
	}
	return out
}

// isPlainFlags reports flags that can stand in brackets as they are (MS-90).
func isPlainFlags(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.:|=,/-", r))
	}) < 0
}

// text is a field as scoped text shows it. Short flags say only what can be asked.
func (f schemaField) text(layout schemaLayout) string {
	flags := f.flags
	if layout.short {
		flags = shortFlags(flags)
	}
	if !isPlainFlags(flags) {
		flags = quoteCut(flags, PreviewChars)
	}
	if f.sorted && layout.terse {
		flags += ",sort"
	}
	if n := len(f.enum); n > 0 && !layout.short {
		flags += ",enum=" + strings.Join(f.enum[:min(n, maxEnum)], "|")
		if n > maxEnum {
			flags += "|…"
		}
	}
	return bareName(f.name) + "[" + flags + "]"
}

// shortFlags drops what only describes: type, role, JSON type, format (MS-89).
func shortFlags(flags string) string {
	tokens := slices.DeleteFunc(strings.Split(flags, ","), func(token string) bool {
		name, _, _ := strings.Cut(token, "=")
		return name == "t" || name == "role" || name == "j" || name == "fmt"
	})
	if len(tokens) == 0 {
		return "declared"
	}
	return strings.Join(tokens, ",")
}

// flagged are the fields whose flags have a token, or a value of it.
func flagged(fields []schemaField, token, value string) []string {
	var out []string
	for _, f := range fields {
		if hasFlag(f.flags, token, value) {
			out = append(out, f.name)
		}
	}
	return out
}

func hasFlag(flags, token, value string) bool {
	for t := range strings.SplitSeq(flags, ",") {
		name, values, _ := strings.Cut(t, "=")
		if name != token {
			continue
		}
		if value == "" && values == "" || value != "" && slices.Contains(strings.Split(values, "|"), value) {
			return true
		}
	}
	return false
}
