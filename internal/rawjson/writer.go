package rawjson

import "strconv"

// Writer appends compact JSON to a buffer, and stored JSON as it is. It writes a comma
// before each member and element except the first. It recognizes the first one by the
// last byte of the buffer. So the initial buffer must be empty, or end where a value, a
// member or an element may follow.
type Writer []byte

// Reopen returns a writer of more members of an object. It copies the object.
func Reopen(object []byte) Writer {
	end := len(object) - len("}")
	return Writer(object[:end:end])
}

// appendComma appends a comma unless the next value or key is the first one.
func appendComma(b []byte) []byte {
	if n := len(b); n > 0 {
		switch b[n-1] {
		case '{', '[', ':', ',', '\n':
		default:
			return append(b, ',')
		}
	}
	return b
}

// appendKey appends the beginning of a member.
func appendKey(b []byte, name string) []byte {
	return append(AppendString(appendComma(b), name), ':')
}

// Comma writes a comma unless the next value or key is the first one. It is for those that
// another function appends.
func (w *Writer) Comma() { *w = appendComma(*w) }

// Object begins an object.
func (w *Writer) Object() { *w = append(appendComma(*w), '{') }

// Array begins an array.
func (w *Writer) Array() { *w = append(appendComma(*w), '[') }

// End ends objects and arrays, innermost first: End("]}") ends an array in an object.
func (w *Writer) End(brackets string) { *w = append(*w, brackets...) }

// Key begins a member; its value follows.
func (w *Writer) Key(name string) { *w = appendKey(*w, name) }

// String writes a string.
func (w *Writer) String(s string) { *w = AppendString(appendComma(*w), s) }

// Int writes an integer.
func (w *Writer) Int(n int64) { *w = strconv.AppendInt(appendComma(*w), n, 10) }

// Bool writes true or false.
func (w *Writer) Bool(v bool) { *w = strconv.AppendBool(appendComma(*w), v) }

// Raw writes JSON as it is: a value, or members or elements with their commas. For no
// members it writes nothing.
func (w *Writer) Raw(json []byte) {
	if len(json) > 0 {
		*w = append(appendComma(*w), json...)
	}
}

// Literal writes constant JSON, like Raw.
func (w *Writer) Literal(json string) {
	if json != "" {
		*w = append(appendComma(*w), json...)
	}
}

// Text writes a member that is a string.
func (w *Writer) Text(name, value string) { *w = AppendString(appendKey(*w, name), value) }

// Optional writes a member that is a string, unless it is empty.
func (w *Writer) Optional(name, value string) {
	if value != "" {
		w.Text(name, value)
	}
}

// TextOrNull writes a member that is a string, or null for an empty one.
func (w *Writer) TextOrNull(name, value string) {
	if value == "" {
		w.Null(name)
		return
	}
	w.Text(name, value)
}

// Number writes a member that is an integer.
func (w *Writer) Number(name string, n int) {
	*w = strconv.AppendInt(appendKey(*w, name), int64(n), 10)
}

// NumberOrNull writes a member that is an integer, or null for a negative one.
func (w *Writer) NumberOrNull(name string, n int) {
	if n < 0 {
		w.Null(name)
		return
	}
	w.Number(name, n)
}

// Flag writes a member that is true or false.
func (w *Writer) Flag(name string, v bool) { *w = strconv.AppendBool(appendKey(*w, name), v) }

// Null writes a member that is null.
func (w *Writer) Null(name string) { *w = append(appendKey(*w, name), "null"...) }

// Member writes a member whose value is JSON already.
func (w *Writer) Member(name string, value []byte) { *w = append(appendKey(*w, name), value...) }

// OpenObject begins a member that is an object.
func (w *Writer) OpenObject(name string) { *w = append(appendKey(*w, name), '{') }

// OpenArray begins a member that is an array.
func (w *Writer) OpenArray(name string) { *w = append(appendKey(*w, name), '[') }

// Values writes a member that is an array of values, each JSON already.
func (w *Writer) Values(name string, values [][]byte) {
	w.OpenArray(name)
	for _, v := range values {
		w.Raw(v)
	}
	w.End("]")
}

// List writes a member that is an array of strings.
func List[S ~string](w *Writer, name string, values []S) {
	w.OpenArray(name)
	for _, v := range values {
		w.String(string(v))
	}
	w.End("]")
}
