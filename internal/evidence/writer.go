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
	buf  []byte
	free int // bytes that do not count
}

func (w *writer) counted() int { return len(w.buf) - w.free }

func (w *writer) raw(s string) { w.buf = append(w.buf, s...) }

// str writes a value.
func (w *writer) str(s string) { w.buf = rawjson.AppendString(w.buf, s) }

// id writes an identifier, which does not count.
func (w *writer) id(s string) {
	before := len(w.buf)
	w.str(s)
	w.free += len(w.buf) - before
}

// url writes the URL that add appends, which does not count.
func (w *writer) url(add func(dst []byte) []byte) {
	before := len(w.buf)
	w.buf = append(w.buf, '"')
	w.buf = add(w.buf)
	w.buf = append(w.buf, '"')
	w.free += len(w.buf) - before
}

func (w *writer) int(n int) { w.buf = strconv.AppendInt(w.buf, int64(n), 10) }

func (w *writer) bool(b bool) { w.buf = strconv.AppendBool(w.buf, b) }

// connection writes the member connection_id unless it is empty.
func (w *writer) connection(id pdpp.ConnectionID) {
	if id != "" {
		w.raw(`,"connection_id":`)
		w.id(string(id))
	}
}

// field writes the member field unless it is empty.
func (w *writer) field(name string) {
	if name != "" {
		w.raw(`,"field":`)
		w.id(name)
	}
}

// join appends the output of another writer.
func (w *writer) join(part *writer) {
	w.buf = append(w.buf, part.buf...)
	w.free += part.free
}
