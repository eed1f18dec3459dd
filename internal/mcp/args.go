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

// argKind is the type of an argument, with the check that goes with it.
type argKind uint8

const (
	argText        argKind = iota // a non-empty string
	argStream                     // the name of a stream (MS-56)
	argID                         // a connection or record id (MS-56)
	argHandle                     // the handle of a record (MS-50)
	argEnum                       // one of several words
	argInt                        // an integer within bounds
	argTexts                      // a non-empty list of non-empty strings
	argStreams                    // a non-empty list of stream names
	argFilter                     // a typed filter (MS-100)
	argExpand                     // a list of relations
	argExpandLimit                // limits by relation
)

// arg is one argument of a tool. It defines the schema and the checks of the argument.
type arg struct {
	name     string
	kind     argKind
	required bool
	enum     []string
	min, max int
	about    string // the description in the schema
	alias    string // another name that is accepted; "" for none

	// byServer: which words of enum work depends on the server, whose schema lists them.
	// The schema of the tool is the same for all servers and does not.
	byServer bool
}

// choice returns the words that an argument may be.
func (decl arg) choice() string {
	if decl.byServer {
		return decl.about
	}
	return "one of: " + strings.Join(decl.enum, ", ") + "."
}

// argTable are the arguments of a tool, in the order of its schema.
type argTable []arg

// arguments are the checked arguments of one call. Absent ones are zero.
type arguments struct {
	given  []argument // as received, without nulls
	filter []condition
	limits []relationLimit
	handle Handle
}

// argument is an argument that was given, with its value by kind.
type argument struct {
	member
	text   string
	list   []string
	number given
}

type member struct {
	name  string
	value []byte // compact JSON
}

// given is an optional number.
type given struct {
	n  int
	ok bool
}

// condition is one comparison of a filter. Value is the operand as
// in the query string: numbers keep their digits.
type condition struct {
	Field string
	Op    pdpp.Op
	Value string
}

// relationLimit is one entry of expand_limit.
type relationLimit struct {
	Relation string
	Limit    int
}

// get returns an argument, or nil.
func (a *arguments) get(name string) *argument {
	for i := range a.given {
		if a.given[i].name == name {
			return &a.given[i]
		}
	}
	return nil
}

// Text returns a string argument, or "".
func (a *arguments) Text(name string) string {
	if arg := a.get(name); arg != nil {
		return arg.text
	}
	return ""
}

// List returns a list argument, or nil.
func (a *arguments) List(name string) []string {
	if arg := a.get(name); arg != nil {
		return arg.list
	}
	return nil
}

// number returns an integer argument, if it was given.
func (a *arguments) number(name string) given {
	if arg := a.get(name); arg != nil {
		return arg.number
	}
	return given{}
}

// Int returns an integer argument.
func (a *arguments) Int(name string) (n int, given bool) {
	number := a.number(name)
	return number.n, number.ok
}

// Has reports whether an argument was given.
func (a *arguments) Has(name string) bool { return a.get(name) != nil }

// JSON returns the arguments as received, as compact JSON, with some of them replaced or,
// for a nil value, left out. New ones come last.
func (a *arguments) JSON(changes ...member) []byte {
	out := []byte{'{'}
	add := func(m member) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = rawjson.AppendString(out, m.name)
		out = append(append(out, ':'), m.value...)
	}
	for _, arg := range a.given {
		i := slices.IndexFunc(changes, func(c member) bool { return c.name == arg.name })
		if i < 0 {
			add(arg.member)
		} else if changes[i].value != nil {
			add(changes[i])
		}
	}
	for _, c := range changes {
		if c.value != nil && !a.Has(c.name) {
			add(c)
		}
	}
	return append(out, '}')
}

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
	if err := t.knows(&a); err != nil {
		return a, err
	}
	if err := t.each(&a, (*arguments).take); err != nil {
		return a, err
	}
	if err := t.complete(&a); err != nil {
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

// read splits the arguments. A null means absent, except where the contract requires an
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

// knows refuses unknown names.
func (t argTable) knows(a *arguments) error {
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

func (t argTable) complete(a *arguments) error {
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

const notAStream = " has a name that is a dot, or has a slash, a backslash, two dots or a control character. Use a name that the tool schema lists."

// isStreamName reports whether a name can be a stream argument (MS-56).
func isStreamName(s string) bool {
	return s != "" && s != "." && !strings.ContainsAny(s, `/\`) && !strings.Contains(s, "..") && !hasControl(s)
}

func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 })
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

// takeExpand reads expand and expand_limit.
func (a *arguments) takeExpand(decl *arg, in *argument) error {
	bad := func(what string) error {
		return &adapterError{Code: pdpp.CodeInvalidExpand, Param: decl.name, Message: what + " The tool schema lists the relations: GET /v1/schema (expand_capabilities)."}
	}
	if decl.kind == argExpand {
		list, ok := texts(in.value)
		if !ok || slices.ContainsFunc(list, func(s string) bool { return strings.ContainsAny(s, "[]") }) {
			return bad("expand must be a non-empty list of relation names.")
		}
		in.list = list
	}
	if decl.kind != argExpandLimit {
		return nil
	}
	value := in.value
	if rawjson.KindOf(value) != rawjson.KindObject || string(value) == "{}" {
		return bad("expand_limit must be a non-empty object {relation: n}.")
	}
	for name, v := range rawjson.Members(value) {
		key := strconv.Quote(cutName(string(name)))
		if len(name) == 0 || strings.ContainsAny(string(name), "[]") {
			return bad("The key " + key + " of expand_limit is not a plain relation name, as in {\"messages\":3}.")
		}
		n, ok := wholeNumber(v)
		if !ok || n < 1 {
			return bad("The limit of " + key + " in expand_limit must be an integer of at least 1.")
		}
		a.limits = append(a.limits, relationLimit{string(name), n})
	}
	return nil
}

// cutName shortens a name from outside for a message.
func cutName(s string) string {
	if r := []rune(s); len(r) > 64 {
		return string(r[:64]) + "…"
	}
	return s
}
