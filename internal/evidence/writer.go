package evidence

import (
	"strconv"

	"pdpp"
	"pdpp/internal/rawjson"
)

// writer appends JSON and counts the bytes that count towards the size of a card: all
// except identifiers, including names of streams and fields, and hrefs (EX-2). A copy of
// a writer can be restored to undo later writes.
type writer struct {
	rawjson.Writer
	free int // bytes that do not count
}

func (w *writer) counted() int { return len(w.Writer) - w.free }

// Key, Text, Number and Flag replace those of rawjson.Writer: they write the name as it
// is. Names here are constants, and each hit of a search has many of them.
func (w *writer) Key(name string) {
	w.Literal(`"`)
	w.Writer = append(append(w.Writer, name...), `":`...)
}

func (w *writer) Text(name, value string) {
	w.Key(name)
	w.Writer = rawjson.AppendString(w.Writer, value)
}

func (w *writer) Number(name string, n int) {
	w.Key(name)
	w.Writer = strconv.AppendInt(w.Writer, int64(n), 10)
}

func (w *writer) Flag(name string, v bool) { w.Key(name); w.Writer = strconv.AppendBool(w.Writer, v) }

// id writes a member that is an identifier, which does not count.
func (w *writer) id(name, value string) {
	w.Key(name)
	before := len(w.Writer)
	w.Writer = rawjson.AppendString(w.Writer, value)
	w.free += len(w.Writer) - before
}

// url writes a member that is the URL that add appends. The URL does not count.
func (w *writer) url(name string, add func(dst []byte) []byte) {
	w.Key(name)
	before := len(w.Writer)
	w.Writer = append(add(append(w.Writer, '"')), '"')
	w.free += len(w.Writer) - before
}

// optionalID writes a member that is an identifier, unless it is empty.
func (w *writer) optionalID(name, value string) {
	if value != "" {
		w.id(name, value)
	}
}

func (w *writer) connection(id pdpp.ConnectionID) { w.optionalID("connection_id", string(id)) }

// join appends the output of another writer.
func (w *writer) join(part *writer) {
	w.Writer = append(w.Writer, part.Writer...)
	w.free += part.free
}
