package schemadoc

import (
	"strconv"

	"pdpp/internal/rawjson"
)

// buffer appends JSON. It writes a comma before a value unless the last byte is an
// opening bracket or a colon.
type buffer []byte

// raw appends JSON text unchanged, without a comma.
func (b *buffer) raw(s string) { *b = append(*b, s...) }

// next starts an array element or an object member.
func (b *buffer) next() {
	switch (*b)[len(*b)-1] {
	case '{', '[', ':':
	default:
		*b = append(*b, ',')
	}
}

// key starts an object member.
func (b *buffer) key(name string) {
	b.next()
	*b = append(rawjson.AppendString(*b, name), ':')
}

// open starts an object member that is itself an object or array.
func (b *buffer) open(name, bracket string) {
	b.key(name)
	b.raw(bracket)
}

func (b *buffer) str(name, value string) {
	b.key(name)
	*b = rawjson.AppendString(*b, value)
}

// optional appends a member unless it is empty: scalars are omitted, never null
// (X-8, C-27).
func (b *buffer) optional(name, value string) {
	if value != "" {
		b.str(name, value)
	}
}

func (b *buffer) int(name string, value int) {
	b.key(name)
	*b = strconv.AppendInt(*b, int64(value), 10)
}

func (b *buffer) bool(name string, value bool) {
	b.key(name)
	*b = strconv.AppendBool(*b, value)
}

// json appends a member with a JSON value.
func (b *buffer) json(name string, value []byte) {
	b.key(name)
	*b = append(*b, value...)
}

// list appends a list, which may be empty.
func list[S ~string](b *buffer, name string, values []S) {
	b.open(name, "[")
	for _, v := range values {
		b.element(string(v))
	}
	b.raw("]")
}

// listIfAny appends a list unless it is empty.
func listIfAny[S ~string](b *buffer, name string, values []S) {
	if len(values) > 0 {
		list(b, name, values)
	}
}

// element appends a string to the open array.
func (b *buffer) element(s string) {
	b.next()
	*b = rawjson.AppendString(*b, s)
}
