package schematext

import (
	"slices"
	"strings"

	"pdpp"
	"pdpp/internal/mcp/limits"
	"pdpp/internal/mcp/quote"
	"pdpp/internal/rawjson"
	"pdpp/internal/schemadoc"
)

// field is a field of a row. Its flags are as received, or derived from its description
// in the grammar of X-15 (MS-90).
type field struct {
	name   string
	flags  string
	enum   []string // its possible values, as JSON; full documents only
	sorted bool     // terse texts list "sort" among its flags, in place of the sort line
}

// fields returns the fields of a row in its order. A row without capabilities has the
// fields of its JSON Schema.
func (r *row) fields() []field {
	schema, _ := rawjson.Get(r.Raw, "schema")
	properties, _ := rawjson.Get(schema, "properties")
	byName := map[string][]byte{}
	for name, property := range rawjson.Members(properties) {
		byName[string(name)] = property
	}
	var out []field
	for _, f := range r.Fields {
		property := byName[f.Name]
		if f.Object == nil {
			out = append(out, field{name: f.Name, flags: f.Flags, enum: enumOf(property)})
			continue
		}
		if own, ok := rawjson.Get(f.Object, "schema"); ok {
			property = own
		}
		out = append(out, field{name: f.Name, flags: schemadoc.Flags(capsOf(f.Object, property)), enum: enumOf(property)})
	}
	if out != nil {
		return out
	}
	for name, property := range rawjson.Members(properties) {
		out = append(out, field{name: string(name), flags: schemadoc.Flags(capsOf(nil, property)), enum: enumOf(property)})
	}
	return out
}

// fieldCount counts the fields of a row.
func (r *row) fieldCount() int {
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

// fieldCapabilities are the capabilities of X-9 by the tokens of X-15.
var fieldCapabilities = []struct{ token, name string }{
	{"eq", "exact_filter"}, {"r", "range_filter"}, {"lex", "lexical_search"}, {"sem", "semantic_search"},
}

// capsOf reads the description of a field and its JSON Schema.
func capsOf(object, property []byte) schemadoc.FieldCaps {
	c := schemadoc.FieldCaps{
		Type: rawjson.GetString(object, "type"), Role: pdpp.Role(rawjson.GetString(object, "role")),
		JSONTypes: namesOf(property, "type"), Format: rawjson.GetString(property, "format"), Unusable: map[string]string{},
	}
	if c.Type == "" {
		c.Type = rawjson.GetString(property, "x_pdpp_type")
	}
	if c.Role == "" {
		c.Role = pdpp.Role(rawjson.GetString(property, "x_pdpp_role"))
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

// aggregationsIn returns the usable aggregations of a field, in the order of X-15. If there
// are none, it stores in unusable why the first declared one is not usable.
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

// capability reads {declared, usable}. For a capability that is only declared it returns
// the reason.
func capability(v []byte) (usable bool, why string) {
	if string(v) == "true" || isTrue(v, "usable") {
		return true, ""
	}
	if !isTrue(v, "declared") {
		return false, ""
	}
	if why = rawjson.GetString(v, "reason"); why == "" {
		why = "unstated"
	}
	return false, why
}

// namesOf reads a member that is a string or a list of strings.
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

const (
	maxEnum   = 10 // values of an enum in a text (MS-91)
	enumChars = 40 // characters of one value
)

func enumOf(property []byte) []string {
	v, _ := rawjson.Get(property, "enum")
	var out []string
	for item := range rawjson.Elements(v) {
		out = append(out, quote.Scalar(item, enumChars))
	}
	return out
}

// isPlainFlags reports whether flags need no quotes inside brackets (MS-90).
func isPlainFlags(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.:|=,/-", r))
	}) < 0
}

// text returns a field as scoped text shows it.
func (f field) text(layout layout) string {
	flags := f.flags
	if layout.short {
		flags = shortFlags(flags)
	}
	if !isPlainFlags(flags) {
		flags = quote.Cut(flags, limits.PreviewChars)
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
	return quote.Name(f.name) + "[" + flags + "]"
}

// shortFlags drops the flags that only describe: type, role, JSON type, format (MS-89).
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

// flagged returns the fields whose flags have a token, or a value of it.
func flagged(fields []field, token, value string) []string {
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

func isTrue(obj []byte, name string) bool {
	v, _ := rawjson.Get(obj, name)
	return string(v) == "true"
}
