package ingest

import (
	"bufio"
	"errors"
	"io"
	"time"

	"pdpp/internal/rawjson"
)

// decodeJSON converts a plain object to a record.
func (im *importer) decodeJSON(a *arena, u unit, now time.Time) item {
	obj, bad := a.object(u.text)
	if bad != nil {
		return im.refuse(bad)
	}
	row := object{out: make([]byte, 0, len(obj)+64)}
	for name, value := range rawjson.Members(obj) {
		if bad := im.member(&row, string(name), value); bad != nil {
			return im.refuse(bad)
		}
	}
	return im.item(row.bytes(), now)
}

// member adds a property of a row to the fields that are mapped to it, or to the field of
// its name unless another property is mapped to that field.
func (im *importer) member(row *object, name string, value []byte) *Rejection {
	mapped := false
	for _, f := range im.stream.Fields {
		if column, ok := im.opts.Map[f.Name]; !ok || column != name {
			continue
		}
		mapped = true
		if bad := im.put(row, f.Name, name, value); bad != nil {
			return bad
		}
	}
	if _, elsewhere := im.opts.Map[name]; mapped || elsewhere {
		return nil
	}
	return im.put(row, name, name, value)
}

func (im *importer) put(row *object, field, column string, value []byte) *Rejection {
	f := im.stream.Field(field)
	out, use, ok := fromJSON(f, value)
	if !ok {
		return unconverted(column, f)
	}
	if use {
		row.add(field, out)
	}
	return nil
}

// elements reads the elements of a JSON array, one at a time. It only finds where they
// end. Whether an element is valid JSON is checked when it is decoded, so that an invalid
// one does not affect the others. It does not keep an element longer than maxLine.
type elements struct {
	r     *bufio.Reader
	line  int64
	state arrayState
	buf   []byte
	over  bool
}

type arrayState uint8

const (
	beforeArray arrayState = iota
	inArray
	afterElement // a comma was read: another element must follow
	afterArray
)

func (e *elements) next() (unit, error) {
	if e.state == beforeArray {
		if u, err := e.enter(); u.bad != nil || err != nil {
			return u, err
		}
	}
	if e.state == afterArray {
		return unit{}, io.EOF
	}
	c, err := e.skip()
	if err != nil {
		return e.broken(err, "The JSON array is not closed.")
	}
	if c == ']' && e.state == inArray {
		return e.leave()
	}
	if err := e.r.UnreadByte(); err != nil {
		return unit{}, err
	}
	return e.element()
}

// enter reads the bracket before the first element. An empty file has none.
func (e *elements) enter() (unit, error) {
	c, err := e.skip()
	if err != nil {
		return unit{}, err
	}
	e.state = inArray
	if c != '[' {
		return e.broken(io.EOF, "The file is not a JSON array.")
	}
	return unit{}, nil
}

// leave checks that nothing follows the array.
func (e *elements) leave() (unit, error) {
	if _, err := e.skip(); err != nil {
		return unit{}, err
	}
	return e.broken(io.EOF, "There is text after the JSON array.")
}

// broken ends the file with a rejection, unless it could not be read.
func (e *elements) broken(err error, message string) (unit, error) {
	if !errors.Is(err, io.EOF) {
		return unit{}, err
	}
	e.state = afterArray
	return unit{line: e.line, bad: &Rejection{malformedNDJSON, message}}, nil
}

// skip reads the next character that is not white space.
func (e *elements) skip() (byte, error) {
	for {
		c, err := e.r.ReadByte()
		if err != nil {
			return 0, err
		}
		switch c {
		case '\n':
			e.line++
		case ' ', '\t', '\r':
		default:
			return c, nil
		}
	}
}

// element reads up to the comma or bracket that ends an element.
func (e *elements) element() (unit, error) {
	e.buf, e.over = e.buf[:0], false
	u := unit{line: e.line}
	for depth, quoted := 0, false; ; {
		c, err := e.r.ReadByte()
		if err != nil {
			return e.broken(err, "The JSON array is not closed.")
		}
		switch {
		case quoted && c == '\\':
			e.keep(c)
			if c, err = e.r.ReadByte(); err != nil {
				return e.broken(err, "The JSON array is not closed.")
			}
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case depth == 0 && c == ',':
			e.state = afterElement
			return e.finish(u), nil
		case depth == 0 && c == ']':
			e.state = inArray
			return e.finish(u), e.r.UnreadByte()
		case depth > 0 && (c == '}' || c == ']'):
			depth--
		}
		e.keep(c)
	}
}

func (e *elements) keep(c byte) {
	if c == '\n' {
		e.line++
	}
	if e.over = e.over || len(e.buf) >= maxLine; !e.over {
		e.buf = append(e.buf, c)
	}
}

func (e *elements) finish(u unit) unit {
	if e.over {
		u.bad = badRecord("The element is longer than 16 MiB.")
		return u
	}
	u.text = e.buf
	return u
}
