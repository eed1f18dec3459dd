package mcp

import (
	"slices"
	"strings"

	"pdpp/internal/rawjson"
)

// argKind is the type of an argument, which also determines its check.
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
	alias    string // another name that is accepted; "" if there is none

	// byServer means that each server supports only some of the values of enum and lists
	// them in its schema. The tool's own schema is the same for all servers, so it does not
	// list the values.
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
	out := rawjson.Writer("{")
	for _, arg := range a.given {
		i := slices.IndexFunc(changes, func(c member) bool { return c.name == arg.name })
		if i < 0 {
			out.Member(arg.name, arg.value)
		} else if changes[i].value != nil {
			out.Member(arg.name, changes[i].value)
		}
	}
	for _, c := range changes {
		if c.value != nil && !a.Has(c.name) {
			out.Member(c.name, c.value)
		}
	}
	return append(out, '}')
}
