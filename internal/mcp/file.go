package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"pdpp"
	"pdpp/internal/evidence"
	"pdpp/internal/mcp/limits"
	"pdpp/internal/mcp/quote"
	"pdpp/internal/rawjson"
	"pdpp/internal/rsclient"
)

// file is a blob that a field of a record refers to.
type file struct {
	path    string // the field or, in a list of references, field.n
	id      string
	facts   evidence.Binary
	charset string // as the reference declares it
	note    string // why its text is not shown; "" for a file that is not text
}

// filesOf returns the files that a field refers to, by one reference or a list of them
// (M-9); nil for any other value.
func filesOf(field string, value []byte) []file {
	if rawjson.KindOf(value) != rawjson.KindArray {
		return appendFile(nil, field, value)
	}
	var list []file
	n := 0
	for item := range rawjson.Elements(value) {
		if rawjson.KindOf(item) != rawjson.KindNull {
			before := len(list)
			if list = appendFile(list, field+"."+strconv.Itoa(n), item); len(list) == before {
				return nil
			}
		}
		n++
	}
	return list
}

func appendFile(list []file, path string, value []byte) []file {
	id := evidence.BlobIDOf(value)
	if id == "" {
		return list
	}
	facts, _ := evidence.DetectBinary(value, true)
	return append(list, file{path: path, id: id, facts: facts, charset: rsclient.Charset(rawjson.GetString(value, "mime_type"))})
}

// element returns the field of a path field.n, which names one of a list of references.
func (w window) element() (list string, ok bool) {
	dot := strings.LastIndexByte(w.field, '.')
	if dot < 1 {
		return "", false
	}
	_, err := strconv.ParseUint(w.field[dot+1:], 10, 31)
	return w.field[:dot], err == nil
}

// isUnknown reports whether the error means that the record has no such field.
func isUnknown(err error) bool {
	var e *rsclient.Error
	return errors.As(err, &e) && (e.Code == pdpp.CodeUnknownField || e.Code == pdpp.CodeFieldNotFound)
}

// readElement reads the file of one entry in a list of references; nil if the path does not
// name such an entry.
func (s *Surface) readElement(ctx context.Context, w window) (*piece, error) {
	list, ok := w.element()
	if !ok {
		return nil, nil
	}
	whole, err := s.readField(ctx, window{record: w.record, field: list, place: selector{limit: given{limits.WindowMax, true}}}, true)
	if err != nil {
		return nil, nil //nolint:nilerr // the error about the whole path is more useful
	}
	for _, f := range filesOf(list, []byte(whole.Text)) {
		if f.path == w.field && whole.Complete {
			return s.readFile(ctx, w.withIdentity(whole), f)
		}
	}
	return nil, nil
}

// withIdentity returns the window with the record identity of the answer p.
func (w window) withIdentity(p *piece) window {
	w.record = p.asked.record
	return w
}

// readFile reads a window of a text file. For any other file it returns the facts only.
func (s *Surface) readFile(ctx context.Context, w window, f file) (*piece, error) {
	var q rsclient.Query
	q.Set("connection_id", w.record.Connection)
	read := func(part rsclient.Part) (*rsclient.Blob, error) { return s.RS.Blob(ctx, f.id, q, part) }
	head, err := read(rsclient.Part{Most: limits.BlobHead})
	if err != nil {
		return nil, err
	}
	f.setFacts(head)
	p := &piece{Answer: new(rsclient.Answer), asked: w, limit: w.limit()}
	if evidence.IsTextType(f.facts.MimeType) {
		charset := cmp.Or(head.Charset, f.charset)
		decode, known := decoding(charset, head.Content)
		if known {
			err = p.cut(&textFile{read: read, head: head, decode: decode})
		} else {
			f.note = "its charset " + quote.Text(quote.First(charset, limits.LabelChars)) + " is not known here"
		}
	}
	if errors.Is(err, errScanEnd) {
		return nil, s.scanEnded(w, f)
	}
	p.files = []file{f}
	return p, err
}

// scanEnded returns the error for a position that is too far from the start of a file.
func (s *Surface) scanEnded(w window, f file) *adapterError {
	h := blobHandle{w.record.Connection, f.id}
	failure := s.blobTooLarge(h, f.facts.SizeBytes, f.facts.MimeType, "The file is too large to look for this place in it: at most "+
		strconv.Itoa(limits.BlobScanMax)+" bytes are read for that. Read it from its start with the cursors, or download it from "+h.URL(s.RS.Provider()))
	failure.Param = "offset_chars"
	if w.q != "" {
		failure.Param = "q"
	}
	return failure
}

// setFacts sets the facts of the file from the answer of the server, which take precedence
// over those in the record.
func (f *file) setFacts(b *rsclient.Blob) {
	const unstated = "application/octet-stream"
	if b.MimeType != unstated || f.facts.MimeType == "" {
		f.facts.MimeType = b.MimeType
	}
	if b.Size >= 0 {
		f.facts.SizeBytes = b.Size
	}
	f.facts.SHA256 = cmp.Or(b.SHA256, f.facts.SHA256)
}

// cut reads the requested window of a file, with the members of a window of a field (FW-2 to
// FW-5).
func (p *piece) cut(f *textFile) error {
	start, limit := place{p.asked.place.offset.n, p.asked.byteOffset.n}, min(p.limit, limits.WindowMax)
	match, nextMatch := -1, -1
	if p.asked.q != "" {
		var err error
		if match, nextMatch, err = f.find(p.asked.q, start); err != nil {
			return err
		}
		if match < 0 {
			return notMatched(p.asked.field)
		}
		start = place{char: max(0, match-p.asked.place.before.n)}
		limit = p.asked.matchLimit()
	}
	e, err := f.excerpt(start, limit)
	if err != nil {
		return err
	}
	p.limit, p.nextByte, p.broken = limit, e.end.byte, e.broken
	matchEnd := -1
	if match >= 0 {
		matchEnd = match + quote.Count(p.asked.q)
	}
	w := rawjson.Writer(`{"window":{`)
	e.write(&w, limit)
	w.NumberOrNull("match_start_chars", match)
	w.NumberOrNull("match_end_chars", matchEnd)
	w.NumberOrNull("next_match_start_chars", nextMatch)
	w.End("}}")
	p.Window, _ = rsclient.WindowOf(w, rsclient.Identity(p.asked.record.Handle), p.asked.field)
	p.Field.Type = "blob"
	return nil
}

// matchLimit returns the length of a window around a match (FW-2).
func (w window) matchLimit() int {
	limit := w.limit()
	if !w.place.limit.ok && (w.place.before.ok || w.place.after.ok) {
		limit = w.place.before.n + quote.Count(w.q) + w.place.after.n
	}
	return min(limit, limits.WindowMax)
}

func notMatched(field string) error {
	const message = "The file does not contain this text."
	w := rawjson.Writer(`{"type":"not_found_error"`)
	w.Text("code", string(pdpp.CodeQueryNotFound))
	w.Text("message", message)
	w.Text("param", "q")
	w.Optional("field", field)
	w.End("}")
	return &rsclient.Error{Status: 404, Code: pdpp.CodeQueryNotFound, Message: message, Object: json.RawMessage(w)}
}

// write writes the members of a window (FW-4), without those about matches.
func (e *excerpt) write(w *rawjson.Writer, limit int) {
	next, previous := -1, -1
	hasMore := e.total < 0 || e.end.char < e.total
	if hasMore {
		next = e.end.char
	}
	if e.start.char > 0 {
		previous = max(0, e.start.char-limit)
	}
	w.Text("text", e.text)
	w.NumberOrNull("start_chars", e.start.char)
	w.NumberOrNull("end_chars", e.end.char)
	w.NumberOrNull("total_chars", e.total)
	w.NumberOrNull("limit_chars", limit)
	w.Flag("complete", e.start.char == 0 && !hasMore)
	w.Flag("has_more", hasMore)
	w.NumberOrNull("next_offset_chars", next)
	w.NumberOrNull("previous_offset_chars", previous)
}
