package mcp

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"

	"pdpp"
	"pdpp/internal/rawjson"
)

// parse checks raw arguments in the order of MS-44, each by itself. Which arguments go
// together is checked by the tool.
func (t argTable) parse(raw []byte) (arguments, error) {
	var a arguments
	if err := a.read(raw); err != nil {
		return a, err
	}
	if err := t.rename(&a); err != nil {
		return a, err
	}
	if err := t.checkNames(&a); err != nil {
		return a, err
	}
	if err := t.each(&a, (*arguments).take); err != nil {
		return a, err
	}
	if err := t.checkRequired(&a); err != nil {
		return a, err
	}
	for _, phase := range []phase{(*arguments).checkName, (*arguments).takeFilter, (*arguments).takeExpand} {
		if err := t.each(&a, phase); err != nil {
			return a, err
		}
	}
	return a, nil
}

// phase is a part of the checks.
type phase func(a *arguments, decl *arg, in *argument) error

// each calls a phase for every argument that was given.
func (t argTable) each(a *arguments, check phase) error {
	for i := range t {
		in := a.get(t[i].name)
		if in == nil {
			continue
		}
		if err := check(a, &t[i], in); err != nil {
			return err
		}
	}
	return nil
}

// read splits the arguments. null counts as absent, except where the contract requires an
// object (MS-44).
func (a *arguments) read(raw []byte) error {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	compact, err := rawjson.Compact(nil, raw)
	if err != nil || rawjson.KindOf(compact) != rawjson.KindObject {
		return &adapterError{Code: pdpp.CodeInvalidArgument, Message: "Arguments must be one JSON object without duplicate names."}
	}
	a.given = make([]argument, 0, 4) // most calls have fewer
	for name, value := range rawjson.Members(compact) {
		n := string(name)
		if rawjson.KindOf(value) == rawjson.KindNull && n != "filter" && n != "expand_limit" {
			continue
		}
		a.given = append(a.given, argument{member: member{n, value}})
	}
	return nil
}

// checkNames refuses unknown names.
func (t argTable) checkNames(a *arguments) error {
	for i := range a.given {
		name := a.given[i].name
		if !slices.ContainsFunc(t, func(decl arg) bool { return decl.name == name }) {
			return badArg(name, "There is no argument %s. Accepted: %s.", strconv.Quote(cutName(name)), strings.Join(t.names(), ", "))
		}
	}
	return nil
}

// rename replaces an alias by the name of the argument. Both names with different values
// are an error, since one of them would be lost.
func (t argTable) rename(a *arguments) error {
	for _, decl := range t {
		if decl.alias == "" {
			continue
		}
		i := slices.IndexFunc(a.given, func(in argument) bool { return in.name == decl.alias })
		if i < 0 {
			continue
		}
		own := a.get(decl.name)
		switch {
		case own == nil:
			a.given[i].name = decl.name
		case bytes.Equal(own.value, a.given[i].value):
			a.given = slices.Delete(a.given, i, i+1)
		default:
			return badArg(decl.alias, "%s and %s are the same argument and have different values. Send one of them.", decl.name, decl.alias)
		}
	}
	return nil
}

func (t argTable) names() []string {
	var names []string
	for _, decl := range t {
		if names = append(names, decl.name); decl.alias != "" {
			names = append(names, decl.alias)
		}
	}
	return names
}

// checkRequired refuses a call without a required argument.
func (t argTable) checkRequired(a *arguments) error {
	for i := range t {
		if decl := &t[i]; decl.required && !a.Has(decl.name) {
			return badArg(decl.name, "%s is required.", decl.name)
		}
	}
	return nil
}

// take reads arguments of the plain kinds.
func (*arguments) take(decl *arg, in *argument) error {
	switch decl.kind {
	case argText, argStream, argID, argHandle, argEnum:
		s, ok := rawjson.String(in.value)
		switch {
		case !ok || s == "":
			return badArg(decl.name, "%s must be a non-empty string.", decl.name)
		case decl.kind == argEnum && !slices.Contains(decl.enum, s):
			return badArg(decl.name, "%s must be %s", decl.name, decl.choice())
		}
		in.text = s
	case argInt:
		n, ok := wholeNumber(in.value)
		if !ok || n < decl.min || decl.max > 0 && n > decl.max {
			return badArg(decl.name, "%s must be an integer %s.", decl.name, decl.bounds())
		}
		in.number = given{n, true}
	case argTexts, argStreams:
		list, ok := texts(in.value)
		if !ok {
			return badArg(decl.name, "%s must be a non-empty list of non-empty strings.", decl.name)
		}
		in.list = list
	}
	return nil
}

func (decl *arg) bounds() string {
	if decl.max > 0 {
		return "from " + strconv.Itoa(decl.min) + " to " + strconv.Itoa(decl.max)
	}
	return "of at least " + strconv.Itoa(decl.min)
}

// wholeNumber reads a JSON number that is an integer, however it is written.
func wholeNumber(value []byte) (int, bool) {
	if rawjson.KindOf(value) != rawjson.KindNumber {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(value), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1e15 {
		return 0, false
	}
	return int(f), true
}

func texts(value []byte) ([]string, bool) {
	if rawjson.KindOf(value) != rawjson.KindArray {
		return nil, false
	}
	var out []string
	for item := range rawjson.Elements(value) {
		s, ok := rawjson.String(item)
		if !ok || s == "" {
			return nil, false
		}
		out = append(out, s)
	}
	return out, len(out) > 0
}

// checkName refuses names that cannot be part of a request (MS-56).
func (a *arguments) checkName(decl *arg, in *argument) error {
	bad := func(what string) error {
		return &adapterError{Code: pdpp.CodeInvalidName, Param: decl.name, Message: what}
	}
	switch decl.kind {
	case argStream:
		if !isStreamName(in.text) {
			return bad(decl.name + notAStream)
		}
	case argStreams:
		for _, s := range in.list {
			if !isStreamName(s) {
				return bad(decl.name + notAStream)
			}
		}
	case argID:
		if s := in.text; strings.ContainsRune(s, 0) || decl.name == "record_id" && (s == "." || s == "..") {
			return bad(decl.name + " is not usable as an id. Use one that schema or a record shows.")
		}
	case argHandle:
		h, err := parseHandle(in.text)
		a.handle = h
		return err
	case argText:
		if decl.name == "field_path" && strings.ContainsRune(in.text, 0) {
			return bad("field_path is not usable as a field name. Use a name that schema or fetch shows.")
		}
	}
	return nil
}

const notAStream = " contains a name that is not usable: it must not be a dot, and must not contain a slash, a backslash, two dots or a control character. Use a name that the tool schema lists."

// isStreamName reports whether a name can be a stream argument (MS-56).
func isStreamName(s string) bool {
	return s != "" && s != "." && !strings.ContainsAny(s, `/\`) && !strings.Contains(s, "..") && !hasControl(s)
}

func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 })
}

// cutName shortens a name from outside for a message.
func cutName(s string) string {
	if r := []rune(s); len(r) > 64 {
		return string(r[:64]) + "…"
	}
	return s
}
