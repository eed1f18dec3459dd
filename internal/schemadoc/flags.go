package schemadoc

import (
	"strings"
	"unicode"

	"pdpp"
)

// FieldCaps holds the capabilities of one granted field, in the terms of.
type FieldCaps struct {
	Type         string   // presentation type (x_pdpp_type); "" when none
	JSONTypes    []string // in schema order, "null" included
	Format       string   // JSON Schema format; "" when none
	Role         pdpp.Role
	Exact        bool
	Range        []pdpp.Op // declared order
	Lexical      bool
	Semantic     bool
	Aggregations []string // wire names in the order of X-15
	Blob         bool

	// For documents of other servers only: a listed field may not be granted, and a
	// declared capability (by its token) may be unusable for a reason.
	NotGranted bool
	Unusable   map[string]string
}

// Flags returns the flag string of one field.
func Flags(c FieldCaps) string {
	var tokens []string
	add := func(name string, values ...string) {
		if joined := strings.Join(values, "|"); joined != "" {
			tokens = append(tokens, name+"="+flagValue(joined))
		}
	}
	mark := func(name string, on bool) {
		if on {
			tokens = append(tokens, name)
		}
	}
	if c.Type != "" {
		add("t", c.Type)
	} else {
		add("t", c.JSONTypes...)
	}
	unusable := func(name string) {
		if why, ok := c.Unusable[name]; ok {
			tokens = append(tokens, name+"=unusable:"+flagValue(why))
		}
	}
	add("role", string(c.Role))
	if c.NotGranted {
		tokens = append(tokens, "g=false")
	}
	mark("eq", c.Exact)
	unusable("eq")
	add("r", opNames(c.Range)...)
	unusable("r")
	mark("lex", c.Lexical)
	unusable("lex")
	mark("sem", c.Semantic)
	unusable("sem")
	add("a", c.Aggregations...)
	unusable("a")
	if c.Type != "" {
		add("j", c.JSONTypes...)
	}
	add("fmt", c.Format)
	mark("blob", c.Blob)
	if len(tokens) == 0 {
		return "declared"
	}
	return strings.Join(tokens, ",")
}

// flagValue replaces characters that would break the grammar, or the brackets around a
// flag string in a text, by an underscore.
func flagValue(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || strings.ContainsRune(";,[]{}=", r) {
			return '_'
		}
		return r
	}, s)
}

func opNames(ops []pdpp.Op) []string {
	names := make([]string, len(ops))
	for i, op := range ops {
		names[i] = string(op)
	}
	return names
}
