package rs

import (
	"iter"
	"unicode/utf8"

	"pdpp"
	"pdpp/internal/evidence"
	"pdpp/internal/query"
	"pdpp/internal/rawjson"
	"pdpp/internal/store"
)

// fieldWindow answers GET …/records/{id}/field-window (rs-contract §7): a bounded part of
// one field, cut from the stored pieces.
func fieldWindow(q *request) error {
	rows, err := q.streamRows(q.vars.get("stream"))
	if err != nil {
		return err
	}
	w, err := q.params.Window()
	if err != nil {
		return err
	}
	for _, row := range rows {
		if _, err := row.Access.Field(w.Field, "field"); err != nil && !row.Access.All {
			return err
		}
	}
	plan, err := q.planOne(rows, readParams{})
	if err != nil {
		return err
	}
	if w.Limit.Requested != 0 {
		q.warnings.windowClamped(w.Limit)
	}
	err = q.findOne(plan, func(s *shape, r *store.Record) error { return q.window(w, s, r) })
	if err != nil {
		return err
	}
	q.closeObject(nil)
	return nil
}

// windowClamped warns that limit_chars was reduced (FW-1).
func (w *warnings) windowClamped(l query.Limit) {
	w.clamped("limit_chars", l.Requested, pdpp.MaxWindow)
}

// window writes the window of one record. The object stays open for links and meta.
func (q *request) window(w query.Window, s *shape, r *store.Record) error {
	value, ok := rawjson.Get(r.Body, w.Field)
	if !ok {
		return &pdpp.Error{Code: pdpp.CodeFieldNotFound, Field: w.Field, Message: "The record has no such field."}
	}
	if f := s.row.Stream.Field(w.Field); f != nil && f.Blob != pdpp.BlobNone {
		whole, err := q.blobValue(s, r, value) // as a record shows it (REC-4)
		if err != nil {
			return err
		}
		value = whole
	}
	text, err := q.windowText(w, r, value)
	if err != nil {
		return err
	}
	start, match, next := min(w.Offset, text.chars), -1, -1
	if w.Query != "" {
		if match, next, err = text.find(w.Query, start); err != nil {
			return err
		}
		if match < 0 {
			return &pdpp.Error{Code: pdpp.CodeQueryNotFound, Field: w.Field, Param: "q", Message: "The field does not contain this text."}
		}
		start = max(0, match-w.Before)
	}
	b := &q.body
	b.Literal(`{"object":"field_window"`)
	b.Text("stream", s.row.Stream.Name)
	b.Text("record_id", string(r.ID))
	b.Raw(s.tail)
	b.OpenObject("field")
	b.Text("path", w.Field)
	b.Text("type", text.kind)
	b.Text("as", text.as())
	b.End("}")
	b.Text("url", q.path())
	b.Literal(`"window":{"text":"`)
	var end int
	if *b, end, err = text.appendRange(*b, start, w.Limit.N); err != nil {
		return err
	}
	*b = append(*b, '"')
	positions{
		start: start, end: end, total: text.chars, limit: w.Limit.N,
		match: match, matched: utf8.RuneCountInString(w.Query), nextMatch: next,
	}.write(b)
	b.End("}")
	return nil
}

// positions are the positions of a window, in characters (FW-4).
type positions struct {
	start     int
	end       int
	total     int // of the field
	limit     int
	match     int // where q was found; -1 if there is no q
	matched   int // the length of q
	nextMatch int // where q is found again; -1 if it is not
}

// write writes the members of a window after its text. A missing position is null.
func (p positions) write(w *rawjson.Writer) {
	w.Number("start_chars", p.start)
	w.Number("end_chars", p.end)
	w.Number("total_chars", p.total)
	w.Number("limit_chars", p.limit)
	w.Flag("complete", p.start == 0 && p.end == p.total)
	w.Flag("has_more", p.end < p.total)
	next, previous, matchEnd := -1, -1, -1
	if p.end < p.total {
		next = p.end
	}
	if p.start > 0 {
		previous = max(0, p.start-p.limit)
	}
	if p.match >= 0 {
		matchEnd = p.match + p.matched
	}
	w.NumberOrNull("next_offset_chars", next)
	w.NumberOrNull("previous_offset_chars", previous)
	w.NumberOrNull("match_start_chars", p.match)
	w.NumberOrNull("match_end_chars", matchEnd)
	w.NumberOrNull("next_match_start_chars", p.nextMatch)
}

// fieldText is the text from which a window is cut: the stored content of a JSON string,
// still escaped, or the JSON text of another value. pieces begins with the piece that
// contains character from.
type fieldText struct {
	kind   string // JSON type of the field
	json   bool
	chars  int
	step   int // characters in every piece except the last
	pieces func(from int) iter.Seq2[[]byte, error]
}

func (t *fieldText) as() string {
	if t.json {
		return "json"
	}
	return "text"
}

// windowText returns the text of a value. A long text is read piece by piece.
func (q *request) windowText(w query.Window, r *store.Record, value []byte) (*fieldText, error) {
	kind := rawjson.KindOf(value)
	if kind == rawjson.KindStub {
		stub := store.ParseStub(value)
		switch {
		case stub.Text != w.JSON:
			return q.longText(r, stub)
		case !w.JSON:
			return nil, notText(w.Field)
		}
		d := dataWriter{request: q, record: r}
		whole, err := d.appendLong(nil, stub)
		if err != nil {
			return nil, err
		}
		value, kind = whole, rawjson.KindOf(whole)
	}
	t := &fieldText{kind: typeNames[kind], json: w.JSON}
	if !w.JSON {
		if kind != rawjson.KindString {
			return nil, notText(w.Field)
		}
		value = value[1 : len(value)-1]
		t.chars = rawjson.CharCount(value)
	} else {
		t.chars = utf8.RuneCount(value)
	}
	t.step = max(1, t.chars)
	t.pieces = func(int) iter.Seq2[[]byte, error] {
		return func(yield func([]byte, error) bool) { yield(value, nil) }
	}
	return t, nil
}

func notText(field string) error {
	return &pdpp.Error{
		Code: pdpp.CodeFieldNotText, Field: field, RetryWith: "as",
		Message: "The field is not a string. Send as=json to read its JSON text.",
	}
}

// longText returns the text of a value that is stored in pieces.
func (q *request) longText(r *store.Record, stub store.Stub) (*fieldText, error) {
	t := &fieldText{kind: "string", json: !stub.Text, chars: stub.Chars, step: store.PieceChars}
	if t.json {
		t.kind = "object"
		err := q.view.Long(r.Ref, stub, 0, func(piece []byte) bool {
			t.kind = typeNames[rawjson.KindOf(piece)]
			return false
		})
		if err != nil {
			return nil, err
		}
	}
	ref := r.Ref
	t.pieces = func(from int) iter.Seq2[[]byte, error] {
		return func(yield func([]byte, error) bool) {
			err := q.view.Long(ref, stub, from, func(piece []byte) bool { return yield(piece, nil) })
			if err != nil {
				yield(nil, err)
			}
		}
	}
	return t, nil
}

var typeNames = map[rawjson.Kind]string{
	rawjson.KindNull: "null", rawjson.KindBool: "boolean", rawjson.KindNumber: "number",
	rawjson.KindString: "string", rawjson.KindArray: "array", rawjson.KindObject: "object",
}

// appendRange appends up to limit characters from start, escaped for a JSON string, and
// returns where they end. Text is copied as it is stored.
func (t *fieldText) appendRange(dst []byte, start, limit int) (_ []byte, end int, err error) {
	skip, left := t.skipped(start), min(limit, t.chars-start)
	end = start + max(0, left)
	for piece, err := range t.pieces(start) {
		if err != nil {
			return dst, end, err
		}
		if left <= 0 {
			break
		}
		piece = piece[len(t.prefix(piece, skip)):]
		skip = 0
		part := t.prefix(piece, left)
		left -= t.count(part)
		if t.json {
			quoted := rawjson.AppendString(nil, string(part))
			part = quoted[1 : len(quoted)-1]
		}
		dst = append(dst, part...)
	}
	return dst, end, nil
}

// skipped returns the number of characters before from in the piece that contains it.
func (t *fieldText) skipped(from int) int {
	if t.step == t.chars { // the text is one piece, and from may be its end
		return from
	}
	return from % t.step
}

// prefix returns the first n characters of a piece.
func (t *fieldText) prefix(piece []byte, n int) []byte {
	if !t.json {
		return rawjson.Prefix(piece, n)
	}
	i := 0
	for ; n > 0 && i < len(piece); n-- {
		_, size := utf8.DecodeRune(piece[i:])
		i += size
	}
	return piece[:i]
}

func (t *fieldText) count(piece []byte) int {
	if t.json {
		return utf8.RuneCount(piece)
	}
	return rawjson.CharCount(piece)
}

// find returns the positions of the first two matches of a text from a character on;
// negative for a match that does not exist. It reads the pieces once.
func (t *fieldText) find(text string, from int) (match, next int, err error) {
	search := evidence.NewTextSearch(text)
	at, match := from-t.skipped(from), -1
	for piece, err := range t.pieces(from) {
		if err != nil {
			return -1, -1, err
		}
		decoded := piece
		if !t.json {
			decoded = rawjson.AppendText(nil, piece)
		}
		for _, r := range string(decoded) {
			at++
			switch {
			case at <= from || !search.Next(r):
			case match >= 0:
				return match, at - search.Chars(), nil
			default:
				match = at - search.Chars()
			}
		}
	}
	return match, -1, nil
}
