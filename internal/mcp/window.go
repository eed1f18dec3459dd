package mcp

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"

	"pdpp"
	"pdpp/internal/mcp/limits"
	"pdpp/internal/mcp/quote"
	"pdpp/internal/rawjson"
	"pdpp/internal/rsclient"
)

const windowURI = "pdpp://field-window/"

// window is a request for a piece of one field (MS-170).
type window struct {
	record     ref
	field      string
	q          string
	place      selector
	byteOffset given // in a file, the byte at offset_chars
}

// selector has the numbers that select a window, in the order of MS-54.
type selector struct{ offset, limit, before, after given }

// selectorOf picks the numbers of a selector.
func selectorOf(number func(name string) given) selector {
	return selector{number("offset_chars"), number("limit_chars"), number("before_chars"), number("after_chars")}
}

func badSelector(param, message string) error {
	return &adapterError{Code: pdpp.CodeInvalidWindowSelector, Param: param, Message: message}
}

// window returns the requested window. It checks which arguments go together (MS-171).
func (a *arguments) window() (window, error) {
	w := window{field: a.Text("field_path"), q: a.Text("q"), place: selectorOf(a.number)}
	byParts := a.Has("connection_id") && a.Has("stream") && a.Has("record_id")
	switch {
	case a.Has("id") && (a.Has("stream") || a.Has("record_id")):
		return w, badSelector("id", "Send either `id` or `stream` and `record_id`, not both.")
	case a.Has("id"):
		h, err := a.located()
		if err != nil {
			return w, err
		}
		w.record = refer(h)
	case !byParts:
		return w, badSelector("id", "This tool requires `id` + `field_path` or `connection_id` + `stream` + `record_id` + `field_path`.")
	default:
		w.record = refer(Handle{a.Text("connection_id"), a.Text("stream"), a.Text("record_id")})
	}
	switch {
	case a.Has("cursor") && (a.Has("offset_chars") || a.Has("q")):
		return w, badSelector("cursor", "`cursor` continues a window and is exclusive with `offset_chars` and `q`.")
	case !a.Has("q") && a.Has("before_chars"):
		return w, badSelector("before_chars", "`before_chars` and `after_chars` require `q`.")
	case !a.Has("q") && a.Has("after_chars"):
		return w, badSelector("after_chars", "`before_chars` and `after_chars` require `q`.")
	case !a.Has("cursor"):
		return w, nil
	}
	var ok bool
	if w.place.offset, w.byteOffset, ok = cursorPlace(a.Text("cursor")); !ok {
		return w, badSelector("cursor", "cursor must be a value returned by this tool.")
	}
	return w, nil
}

// located returns the record that the argument id names, with the connection of the
// argument connection_id if id has none.
func (a *arguments) located() (Handle, error) {
	h, connection := a.handle, a.Text("connection_id")
	if connection != "" && h.Connection != "" && connection != h.Connection {
		return h, &adapterError{
			Code: pdpp.CodeConflictingConnection, Param: "connection_id",
			Message: "The id names the connection " + quote.ID(h.Connection) + ", the argument " + quote.ID(connection) + ". Leave connection_id out.",
		}
	}
	h.Connection = cmp.Or(h.Connection, connection)
	return h, nil
}

// cursorPlace reads a cursor (MS-172): the offset in decimal digits and, in a file, a dot
// and the byte of that offset.
func cursorPlace(cursor string) (char, byteOffset given, ok bool) {
	chars, bytes, inFile := strings.Cut(cursor, ".")
	char, ok = cursorNumber(chars)
	if inFile && ok {
		byteOffset, ok = cursorNumber(bytes)
	}
	return char, byteOffset, ok
}

func cursorNumber(digits string) (given, bool) {
	const maxDigits = 15
	n, err := strconv.ParseUint(digits, 10, 63) // no sign is accepted
	return given{int(n), true}, err == nil && len(digits) <= maxDigits
}

// cursor returns the start of the window as cursorPlace reads it.
func (w *window) cursor() string {
	s := strconv.Itoa(w.place.offset.n)
	if w.byteOffset.ok {
		s += "." + strconv.Itoa(w.byteOffset.n)
	}
	return s
}

// at returns another window of the same field.
func (w window) at(offset, limit int) window {
	return window{record: w.record, field: w.field, place: selector{offset: given{offset, true}, limit: given{limit, true}}}
}

// appendSelector appends the members of the selector that were given.
func (w *window) appendSelector(b []byte) []byte {
	b = w.place.offset.append(b, `,"offset_chars":`)
	b = w.place.limit.append(b, `,"limit_chars":`)
	b = appendMember(b, "q", w.q)
	b = w.place.before.append(b, `,"before_chars":`)
	return w.place.after.append(b, `,"after_chars":`)
}

// append appends the number after its name; nothing when it was not given.
func (g given) append(b []byte, name string) []byte {
	if !g.ok {
		return b
	}
	return strconv.AppendInt(append(b, name...), int64(g.n), 10)
}

// URI returns the resource of the window (MS-54).
func (w window) URI() string {
	var buf [512]byte
	return string(w.appendURI(buf[:0]))
}

func (w *window) appendURI(b []byte) []byte {
	var buf [512]byte
	payload := appendIdentity(append(buf[:0], `{"v":1,"kind":"field-window"`...), w.record.Handle)
	payload = appendMember(payload, "field_path", w.field)
	return appendURI(b, windowURI, append(w.appendSelector(payload), '}'))
}

// writeURI writes the resource of the window as a member.
func (w *window) writeURI(to *rawjson.Writer, name string) {
	to.Key(name)
	*to = append(w.appendURI(append(*to, '"')), '"')
}

// args returns the arguments of read_record_field for the window. When the handle cannot
// contain the connection, they name the record by its parts (MS-68).
func (w window) args() []byte { return w.appendArgs(nil) }

func (w *window) appendArgs(b []byte) []byte {
	args := rawjson.Writer(append(b, '{'))
	if w.record.id != "" && w.record.connectionArg == "" {
		quote.WriteID(&args, "id", w.record.id)
	} else {
		quote.WriteID(&args, "connection_id", w.record.Connection)
		quote.WriteID(&args, "stream", w.record.Stream)
		quote.WriteID(&args, "record_id", w.record.Record)
	}
	quote.WriteID(&args, "field_path", w.field)
	if w.byteOffset.ok { // a cursor finds the place in a file without reading it from the start
		args.Text("cursor", w.cursor())
		return append(w.place.limit.append(args, `,"limit_chars":`), '}')
	}
	return append(w.appendSelector(args), '}')
}

// writeCall writes the call that reads the window as a member.
func (w *window) writeCall(to *rawjson.Writer, name string) {
	to.OpenObject(name)
	to.Text("tool", "read_record_field")
	to.Key("args")
	*to = append(w.appendArgs(*to), '}')
}

// AppendCall appends the call that reads the window.
func (w *window) AppendCall(b []byte) []byte { return w.appendArgs(append(b, "read_record_field "...)) }

// writeRest writes the arguments without those that name the record, as an object.
func (w *window) writeRest(to *rawjson.Writer) {
	to.Object()
	quote.WriteID(to, "field_path", w.field)
	*to = append(w.appendSelector(*to), '}')
}

// query returns the query string for the window (MS-172).
func (w window) query() rsclient.Query {
	var q rsclient.Query
	q.Set("field", w.field)
	set := func(name string, g given) {
		if g.ok {
			q.Set(name, strconv.Itoa(g.n))
		}
	}
	set("offset_chars", w.place.offset)
	set("limit_chars", w.place.limit)
	q.Set("q", w.q)
	set("before_chars", w.place.before)
	set("after_chars", w.place.after)
	q.Set("connection_id", w.record.Connection)
	return q
}

// piece is a window as the resource server cut it.
type piece struct {
	*rsclient.Answer
	rsclient.Window
	asked  window // the request, with the identity of the answer
	limit  int
	asJSON bool // a window of the field's JSON text

	files    []file // the file of the window; without a window, all files of the field
	nextByte int    // in a file, the byte at Next; 0 if unknown
	broken   bool   // the file has bytes that are not UTF-8
}

// isWindow reports whether there is text to show.
func (p *piece) isWindow() bool { return p.Raw != nil }

// readWindow reads a piece of a field. The resource server cuts it: the adapter never reads
// a whole record for it (BOUND-1). For a field that refers to files it reads the file; any
// other field that is not text it reads as JSON.
func (s *Surface) readWindow(ctx context.Context, w window) (*piece, error) {
	p, err := s.readField(ctx, w, false)
	if isUnknown(err) {
		if p, failed := s.readElement(ctx, w); p != nil || failed != nil {
			return p, failed
		}
	}
	if !wantsJSON(err) {
		return p, err
	}
	start := w
	if w.q != "" || w.place.offset.n > 0 || w.limit() < limits.WindowDefault {
		start = window{record: w.record, field: w.field, place: selector{limit: given{limits.WindowMax, true}}}
	}
	if p, err = s.readField(ctx, start, true); err != nil {
		return nil, err
	}
	switch list := filesOf(w.field, p.whole()); {
	case len(list) == 1:
		return s.readFile(ctx, w.withIdentity(p), list[0])
	case len(list) > 1:
		return &piece{Answer: p.Answer, asked: w.withIdentity(p), files: list}, nil
	case start == w:
		return p, nil
	}
	return s.readField(ctx, w, true)
}

// whole returns the JSON text of a field if the piece contains all of it, else nil.
func (p *piece) whole() []byte {
	if !p.Complete {
		return nil
	}
	value, err := rawjson.Compact(nil, []byte(p.Text))
	if err != nil {
		return nil
	}
	return value
}

// readField reads a piece of a field, or of its JSON text.
func (s *Surface) readField(ctx context.Context, w window, asJSON bool) (*piece, error) {
	q := w.query()
	if asJSON {
		q.Set("as", "json")
	}
	answer, err := s.RS.FieldWindow(ctx, w.record.Stream, w.record.Record, q)
	if err != nil {
		return nil, err
	}
	p := &piece{Answer: answer, asked: w, limit: w.limit()}
	var ok bool
	p.Window, ok = rsclient.WindowOf(answer.Body, rsclient.Identity(w.record.Handle), w.field)
	if !ok {
		return nil, rsclient.Refused(pdpp.CodeUpstreamInvalid, "The answer of the server at "+s.RS.Provider()+" is not a field window.", tellOwner)
	}
	p.asJSON = asJSON || p.Field.AsJSON
	if h := Handle(p.Identity); h.isNamed() {
		p.asked.record = refer(h)
	}
	if p.Limit >= 1 && p.Limit <= limits.WindowMax {
		p.limit = p.Limit
	}
	return p, nil
}

// wantsJSON reports whether the server refused a field that can be read with as=json
// (FW-8).
func wantsJSON(err error) bool {
	var e *rsclient.Error
	return errors.As(err, &e) && e.Code == pdpp.CodeFieldNotText && rsclient.RetryWith(e.Object) == "as"
}

// limit returns the requested length of the window.
func (w window) limit() int {
	if w.place.limit.ok {
		return w.place.limit.n
	}
	return limits.WindowDefault
}

// uri returns the resource of this piece: by its offset, or by the words that found it.
func (p *piece) uri() string {
	if p.asked.q != "" {
		return p.asked.URI()
	}
	return p.asked.at(p.Start, p.limit).URI()
}

// neighbours are the windows after and before a piece, and that of the next match.
type neighbours struct{ next, previous, match neighbour }

// neighbour is a window, if there is one.
type neighbour struct {
	window
	ok bool
}

func (p *piece) neighbours() neighbours {
	at := func(offset int) neighbour { return neighbour{p.asked.at(offset, p.limit), offset >= 0} }
	n := neighbours{next: at(p.Next), previous: at(p.Previous)}
	if p.nextByte > 0 {
		n.next.byteOffset = given{p.nextByte, true}
	}
	if p.asked.q != "" && p.NextMatch >= 0 {
		n.match = neighbour{p.asked, true}
		n.match.place.offset = given{p.NextMatch, true}
	}
	return n
}

// write writes the members of a resource that link to the neighbours.
func (n neighbours) write(w *rawjson.Writer) {
	if n.next.ok {
		n.next.writeURI(w, "next_uri")
	}
	if n.previous.ok {
		n.previous.writeURI(w, "previous_uri")
	}
}
