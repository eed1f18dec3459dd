package manifest

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"pdpp"
)

// parser reads typed values and records their problems. Its methods return the zero
// value for an invalid value, so that one run reports as many problems as possible.
type parser struct {
	problems
	relations []pendingRelation
}

// object reads a required object.
func (p *parser) object(v value) (object, bool) {
	if v.absent() {
		p.add(v.at, "is required")
		return object{}, false
	}
	o, ok := v.object()
	if !ok {
		p.add(v.at, "must be an object")
	}
	return o, ok
}

// optionalObject reads an object that may be missing; ok is false when it is.
func (p *parser) optionalObject(v value) (object, bool) {
	if v.absent() {
		return object{}, false
	}
	return p.object(v)
}

// optionalList reads the items of a list that may be missing.
func (p *parser) optionalList(v value) []value {
	if !v.absent() && !v.isList() {
		p.add(v.at, "must be a list")
	}
	return v.items()
}

// text reads an optional string.
func (p *parser) text(v value) string {
	if !v.absent() && !v.isString() {
		p.add(v.at, "must be a string")
	}
	return v.text()
}

// requiredText reads a required string that must not be empty.
func (p *parser) requiredText(v value) string {
	if v.absent() || v.isString() && v.text() == "" {
		p.add(v.at, "is required")
		return ""
	}
	return p.text(v)
}

// oneOf reads a required string from a closed set.
func (p *parser) oneOf(v value, allowed ...string) string {
	s := p.requiredText(v)
	if s == "" {
		return ""
	}
	for _, a := range allowed {
		if s == a {
			return s
		}
	}
	p.add(v.at, "%s is not one of %s", quote(s), strings.Join(allowed, ", "))
	return ""
}

// boolean reads an optional boolean, false when missing.
func (p *parser) boolean(v value) bool {
	if !v.absent() && !v.isBool() {
		p.add(v.at, "must be true or false")
	}
	return v.isBool() && v.raw[0] == 't'
}

// positive reads an integer of at least 1 written in plain digits.
func (p *parser) positive(v value) (int, bool) {
	n, err := strconv.Atoi(string(v.raw))
	if err != nil || n < 1 {
		p.add(v.at, "must be a whole number of at least 1")
		return 0, false
	}
	return n, true
}

// name is a string in a list, with its place.
type name struct {
	at   *path
	text string
}

// names reads a list of distinct strings that must not be empty. It returns nil for a
// missing list.
func (p *parser) names(v value) []name {
	if v.absent() {
		return nil
	}
	if !v.isList() || len(v.items()) == 0 {
		p.add(v.at, "must be a list with at least one name")
		return nil
	}
	var out []name
	seen := map[string]bool{}
	for _, item := range v.items() {
		text := p.requiredText(item)
		if text == "" {
			continue
		}
		if seen[text] {
			p.add(item.at, "%s is listed twice", quote(text))
			continue
		}
		seen[text] = true
		out = append(out, name{at: item.at, text: text})
	}
	return out
}

func texts(names []name) []string {
	var out []string
	for _, n := range names {
		out = append(out, n.text)
	}
	return out
}

var streamNameForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)

// checkStreamName enforces M-3 for a stream.
func (p *parser) checkStreamName(at *path, s string) {
	if !streamNameForm.MatchString(s) || strings.Contains(s, "..") {
		p.add(at, "%s is not a stream name: 1 to 128 letters, digits, _ . - "+
			"that do not start with . or - and do not contain ..", quote(s))
	}
}

// maxName is the largest length of a property, view or relation name (M-3).
const maxName = 128

// checkName enforces M-3 for a property, view or relation.
func (p *parser) checkName(at *path, what, s string) {
	if s == "" || len(s) > maxName || strings.ContainsAny(s, "[],") || strings.ContainsFunc(s, unicode.IsControl) {
		p.add(at, "%s is not a %s name: 1 to %d bytes without control characters and without [ ] ,",
			quote(s), what, maxName)
	}
}

// fieldRule defines which fields a part of the manifest may name.
type fieldRule struct {
	want string
	ok   func(*pdpp.Field) bool
}

var (
	anyField = fieldRule{ok: func(*pdpp.Field) bool { return true }}

	orderedField = fieldRule{
		"an integer, a number, or a string with format date or date-time",
		func(f *pdpp.Field) bool { return f.Kind.IsOrdered() },
	}
	timeField = fieldRule{
		"a string with format date or date-time",
		func(f *pdpp.Field) bool { return f.Kind.IsTime() },
	}

	bucketField = fieldRule{timeField.want, timeField.ok}
	sumField    = fieldRule{
		"an integer or a number",
		func(f *pdpp.Field) bool { return f.Kind.IsNumeric() },
	}
	scalarField = fieldRule{
		"of exactly one scalar type",
		func(f *pdpp.Field) bool { return f.Kind != pdpp.KindNone },
	}

	searchField = fieldRule{
		"a string",
		func(f *pdpp.Field) bool { return f.Kind == pdpp.KindString || f.Kind.IsTime() },
	}
)
