package demo

import (
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"
)

// object writes a JSON object with its members in the order of the calls, so
// that records read naturally (C-33 keeps the order).
type object struct {
	buf []byte
}

func (o *object) name(name string) {
	if len(o.buf) == 0 {
		o.buf = append(o.buf, '{')
	} else {
		o.buf = append(o.buf, ',')
	}
	o.buf = append(appendQuoted(o.buf, name), ':')
}

// raw adds a member whose value is already JSON, so that numbers keep their digits.
func (o *object) raw(name, value string) {
	o.name(name)
	o.buf = append(o.buf, value...)
}

func (o *object) str(name, value string) {
	o.name(name)
	o.buf = appendQuoted(o.buf, value)
}

// strOrNull writes null for "".
func (o *object) strOrNull(name, value string) {
	if value == "" {
		o.raw(name, "null")
		return
	}
	o.str(name, value)
}

func (o *object) integer(name string, value int64) { o.raw(name, strconv.FormatInt(value, 10)) }

func (o *object) boolean(name string, value bool) { o.raw(name, strconv.FormatBool(value)) }

func (o *object) list(name string, values []string) {
	o.name(name)
	o.buf = append(o.buf, '[')
	for i, v := range values {
		if i > 0 {
			o.buf = append(o.buf, ',')
		}
		o.buf = appendQuoted(o.buf, v)
	}
	o.buf = append(o.buf, ']')
}

func (o *object) bytes() []byte {
	if len(o.buf) == 0 {
		return []byte("{}")
	}
	return append(o.buf, '}')
}

func quoted(s string) string { return string(appendQuoted(nil, s)) }

// appendQuoted appends s as a JSON string and escapes only what JSON requires, so that
// text such as "<mark>" stays readable in the line.
func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, '\\', 'n')
		case r == '\t':
			b = append(b, '\\', 't')
		case r < 0x20:
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}

// record is one RECORD message.
type record struct {
	stream  string
	key     string // JSON: a string, a number, or an array of strings (REC-2)
	data    []byte
	emitted time.Time
}

func (r record) line() []byte {
	var o object
	o.str("type", "RECORD")
	o.str("stream", r.stream)
	o.raw("key", r.key)
	o.raw("data", string(r.data))
	o.str("emitted_at", utc(r.emitted))
	return o.bytes()
}
