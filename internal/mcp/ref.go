package mcp

import (
	"net/url"
	"strings"

	"pdpp"
	"pdpp/internal/evidence"
	"pdpp/internal/mcp/quote"
	"pdpp/internal/rawjson"
)

// ref is a record as results refer to it (MS-52).
type ref struct {
	Handle
	id            string // the handle as shown; "" if none can name the record
	connectionArg string // the connection_id to pass with the id; "" if the id contains it
}

func refer(h Handle) ref { return referBy(h, nil) }

// referBy returns what refer returns, for one of many records whose strings share memory.
func referBy(h Handle, texts *rawjson.Texts) ref {
	var buf [256]byte
	id, embedded := h.append(buf[:0])
	r := ref{Handle: h, id: texts.Copy(id)}
	if len(id) > 0 && !embedded {
		r.connectionArg = h.Connection
	}
	return r
}

// AppendFields appends the call that shows some fields of the record, or all of it.
func (r *ref) AppendFields(b []byte, fields []string) []byte {
	w := r.openArgs(append(b, "fetch "...))
	if len(fields) > 0 {
		quote.WriteList(&w, "fields", fields)
	}
	return append(w, '}')
}

// AppendRest appends the call that reads a text field from a character on.
func (r *ref) AppendRest(b []byte, field string, offset int) []byte {
	w := r.from(field, offset)
	return w.AppendCall(b)
}

// AppendExpand appends the call that shows the records of relations.
func (r *ref) AppendExpand(b []byte, relations []string) []byte {
	return r.fetch(member{"expand", []byte(quote.List(relations))}).AppendCall(b)
}

// pageCalls are the calls for a record of a page that no handle names.
type pageCalls struct {
	*ref
	rerunWith func(fields []string) *nextCall
}

// AppendFields appends the call that reads the page again with these fields.
func (p pageCalls) AppendFields(b []byte, fields []string) []byte {
	return p.rerunWith(fields).AppendCall(b)
}

// fetch returns the call that reads the record, or some of its fields (MS-68).
func (r ref) fetch(members ...member) *nextCall {
	w := r.openArgs(make([]byte, 0, len(r.id)+128))
	for _, m := range members {
		w.Member(m.name, m.value)
	}
	return &nextCall{"fetch", append(w, '}')}
}

// openArgs appends the arguments that name the record, without the closing brace.
func (r ref) openArgs(b []byte) rawjson.Writer {
	w := rawjson.Writer(append(b, '{'))
	r.writeName(&w)
	return w
}

// writeName writes the members that name the record.
func (r ref) writeName(w *rawjson.Writer) {
	quote.WriteID(w, "id", r.id)
	if r.connectionArg != "" {
		quote.WriteID(w, "connection_id", r.connectionArg)
	}
}

// fetchFields returns the call that reads some fields of the record.
func (r ref) fetchFields(names ...string) *nextCall {
	return r.fetch(member{"fields", []byte(quote.List(names))})
}

// from returns the window of a field that starts at a character.
func (r ref) from(field string, offset int) window {
	return window{record: r, field: field, place: selector{offset: given{offset, true}}}
}

// around returns the window of a field around the first occurrence of a text (MS-68).
func (r ref) around(field, q string) window {
	return window{record: r, field: field, q: q, place: selector{before: given{512, true}, after: given{2048, true}}}
}

func (w window) next() *nextCall { return &nextCall{"read_record_field", w.args()} }

// url returns the absolute URL of a record (MS-61): the URL in the record, or else the
// route that the server names, or else its route in /v1.
func (r ref) url(provider, own, route string) string {
	if isWeb(own) {
		return own
	}
	switch {
	case isWeb(route):
		return route
	case strings.HasPrefix(route, "/"):
		return provider + route
	case r.Stream == "" || r.Record == "":
		return provider
	}
	rec := evidence.Record{Stream: r.Stream, ID: pdpp.RecordID(r.Record), ConnectionID: pdpp.ConnectionID(r.Connection)}
	var buf [256]byte
	return string(evidence.AppendRecordURL(append(buf[:0], provider...), &rec))
}

// isWeb reports whether a text is an absolute http or https URL.
func isWeb(s string) bool {
	if len(s) < len("http") || !strings.EqualFold(s[:len("http")], "http") { // most are empty or a path
		return false
	}
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != ""
}
