package schemadoc

import (
	"strconv"

	"pdpp/internal/rawjson"
)

// buffer appends JSON. Commas are placed by looking at the last byte written,
// which is an opening bracket or a colon exactly where none belongs.
type buffer []byte

// raw appends JSON text as it is; the caller answers for commas.
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

// optional leaves the member out when it has no value: scalars are omitted,
// never null (X-8, C-27).
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

// json appends a member whose value is JSON already.
func (b *buffer) json(name string, value []byte) {
	b.key(name)
	*b = append(*b, value...)
}

// list appends a list, [] when it is empty.
func list[S ~string](b *buffer, name string, values []S) {
	b.open(name, "[")
	for _, v := range values {
		b.next()
		*b = rawjson.AppendString(*b, string(v))
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
