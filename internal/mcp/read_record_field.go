package mcp

import (
	"context"
	"fmt"
	"strconv"

	"pdpp"
	"pdpp/internal/mcp/limits"
	"pdpp/internal/mcp/quote"
	"pdpp/internal/rawjson"
	"pdpp/internal/rsclient"
)

// readRecordFieldTool reads a window of one text field (mcp-surface §12).
var readRecordFieldTool = Tool{
	Name:  "read_record_field",
	title: "A window of one text field",
	description: "Reads a bounded window of one text field, or of the text file (attachment) that a field refers to; read-only (GET /v1/streams/{stream}/records/{record_id}/field-window). " +
		"Continues cut text shown by search, query_records or fetch, and accepts the same ids as fetch, also pdpp://record/…. " +
		"One selector: cursor, offset_chars or q. Text and structured output both have the whole window. See server instructions.",
	args: argTable{
		{name: "id", kind: argHandle, about: "Handle as shown, also pdpp://record/…; not with stream and record_id."},
		{name: "connection_id", kind: argID, about: "Source of the record, for an id without one."},
		{name: "stream", kind: argStream, about: "With record_id, in place of id."},
		{name: "record_id", kind: argID, about: "With stream and connection_id, in place of id."},
		{name: "field_path", kind: argText, required: true, about: "Field to read, as a more: line names it."},
		{name: "cursor", kind: argText, about: "next_cursor or previous_cursor; not with offset_chars or q."},
		{name: "offset_chars", kind: argInt, min: 0, about: "First character, from 0; not with cursor."},
		{name: "limit_chars", kind: argInt, min: 1, max: limits.WindowMax, about: "Most characters; default 4096."},
		{name: "q", kind: argText, about: "Window around the first match; with offset_chars the first from there."},
		{name: "before_chars", kind: argInt, min: 0, max: limits.ContextMax, about: "Characters before the match of q."},
		{name: "after_chars", kind: argInt, min: 0, max: limits.ContextMax, about: "Characters after the match of q."},
	},
	output: `{"type":"object","properties":{` +
		`"record":{"type":"object","required":["id","stream","record_id"],"properties":{"id":{"type":"string"},"connection_id":{"type":["string","null"]},"stream":{"type":"string"},"record_id":{"type":"string"}}},` +
		`"field":{"type":"object","required":["path"],"properties":{"path":{"type":"string"},"type":{"type":"string"},"text_like":{"type":"boolean"}}},` +
		`"window":{"type":"object","required":["text","start_chars","end_chars","complete"],"properties":{"text":{"type":"string"},"start_chars":{"type":"integer"},"end_chars":{"type":"integer"},` +
		`"total_chars":{"type":["integer","null"]},"complete":{"type":"boolean"},"next_cursor":{"type":["string","null"]},"previous_cursor":{"type":["string","null"]}}},` +
		`"resource":{"type":"object"},"files":{"type":"array","items":{"type":"object"}},"provider_url":{"type":"string"},"request_id":{"type":["string","null"]},"http_status":{"type":"integer"},` +
		`"error":{"type":"object","required":["code","message"]}},` +
		`"anyOf":[{"required":["record","field","window"]},{"required":["record","field","files"]},{"required":["error"]}]}`,
	limits: fmt.Sprintf("A window has %d characters unless `limit_chars` says otherwise, at most %d; at most %d on each side of a match.", limits.WindowDefault, limits.WindowMax, limits.ContextMax),
	call:   readRecordField,
	recovery: recovery{
		params:   map[string]string{"field": "field_path", "offset_chars": "cursor"},
		notFound: (*call).windowNotFound,
	},
}

// windowNotFound returns the call after a window that was not found. If the record does not
// exist, the call lists its stream, because fetch would fail as well. Otherwise the server
// may not support field windows (MS-172), and the call fetches the field.
func (c *call) windowNotFound(e *rsclient.Error) *nextCall {
	if e.Code == pdpp.CodeNotFound {
		return c.firstRecords()
	}
	return c.fetchField()
}

// readRecordField reads one window and returns it whole, as text and as structured output.
func readRecordField(ctx context.Context, c *call) (*Result, error) {
	w, err := c.args.window()
	if err != nil {
		return nil, err
	}
	p, err := c.readWindow(ctx, w)
	if err != nil {
		return nil, err
	}
	if !p.isWindow() {
		return &Result{Structured: c.window(p, "", neighbours{}), Content: append([]Block{{Text: p.renderFiles(c.RS.Provider())}}, p.fileLinks()...)}, nil
	}
	near := p.neighbours()
	link := &Link{URI: p.uri(), Name: quote.Visible(w.field), MimeType: "text/plain"}
	structured := c.window(p, link.URI, near)
	if near.next.ok {
		link.URI = near.next.URI()
	}
	return &Result{Structured: structured, Content: []Block{{Text: p.render(near)}, {Link: link}}}, nil
}

// window returns the structured output (MS-174).
func (c *call) window(p *piece, uri string, near neighbours) []byte {
	w := rawjson.Writer(append(make([]byte, 0, len(p.Raw)+2048), '{'))
	p.writeSource(&w)
	if p.isWindow() {
		p.writeWindow(&w, near, true)
		w.OpenObject("resource")
		w.Text("uri", uri)
		near.write(&w)
		w.End("}")
	}
	if p.files != nil {
		p.writeFiles(&w, c.RS.Provider())
	}
	return c.appendEnd(w, p.RequestID)
}

// writeSource writes the members record and field.
func (p *piece) writeSource(w *rawjson.Writer) {
	h := p.asked.record
	w.OpenObject("record")
	quote.WriteID(w, "id", h.id)
	w.TextOrNull("connection_id", h.Connection)
	w.Optional("stream", h.Stream)
	w.Optional("record_id", h.Record)
	w.End("}")
	w.OpenObject("field")
	quote.WriteID(w, "path", p.asked.field)
	w.Optional("type", p.Field.Type)
	w.Flag("text_like", p.isWindow() && !p.asJSON)
	w.End("}")
}

// writeWindow writes the member window: its members as received, with the cursors. The
// text is optional, for results that have it elsewhere.
func (p *piece) writeWindow(w *rawjson.Writer, near neighbours, withText bool) {
	w.OpenObject("window")
	s := rawjson.Scan(p.Raw)
	for name := range s.Members() {
		switch string(name) {
		case "next_cursor", "previous_cursor":
		case "text":
			if withText { // exact, with invisible characters escaped
				w.Literal(quote.EscapeHidden(string(s.Member())))
			}
		default:
			w.Raw(s.Member())
		}
	}
	w.TextOrNull("next_cursor", near.next.cursor())
	w.TextOrNull("previous_cursor", near.previous.cursor())
	if near.match.ok {
		near.match.writeCall(w, "next_match")
	}
	w.End("}")
}

// cursor returns the cursor of a neighbour; "" if there is none.
func (n neighbour) cursor() string {
	if !n.ok {
		return ""
	}
	return n.window.cursor()
}

// isLast reports whether the window ends at the end of the text.
func (p *piece) isLast() bool { return p.Next < 0 && p.End == p.Total }

// render returns the text: facts and calls first, the window last (MS-175).
func (p *piece) render(near neighbours) string {
	b := p.appendRecord(append(make([]byte, 0, len(p.Text)+1024), "field window "...))
	if p.asJSON {
		b = append(b, " as=json"...)
	}
	if len(p.files) == 1 {
		b = appendFileFacts(b, &p.files[0])
	}
	b = appendSpan(append(b, " chars="...), p.Start, p.End)
	if p.Total >= 0 {
		b = strconv.AppendInt(append(b, " total="...), int64(p.Total), 10)
	}
	switch {
	case p.Complete:
		b = append(b, " complete=true"...)
	case p.isLast():
		b = append(b, " end=true"...)
	default:
		b = append(b, " complete=false"...)
	}
	if near.next.ok {
		b = quote.AppendID(append(b, " next_cursor="...), near.next.cursor())
	}
	if offset := p.asked.place.offset; p.isLast() && p.Start == p.End && offset.n >= p.End && p.End > 0 {
		b = strconv.AppendInt(append(b, "\nnothing here: offset "...), int64(offset.n), 10)
		b = append(b, " is past the end"...)
	}
	if near.next.ok {
		b = near.next.appendArgs(append(b, "\nnext: read_record_field "...))
	}
	if near.previous.ok {
		b = near.previous.appendArgs(append(b, "\nprevious: read_record_field "...))
	}
	if p.MatchStart >= 0 && p.MatchEnd >= 0 {
		b = appendSpan(append(b, "\nmatch chars="...), p.MatchStart, p.MatchEnd)
	}
	if near.match.ok {
		b = append(near.match.appendArgs(append(b, "\nnext: read_record_field "...)), " is the next match"...)
	}
	if p.broken {
		b = append(b, "\nnote: bytes that are not UTF-8 are shown as U+FFFD"...)
	}
	return string(quote.AppendText(append(b, "\ntext="...), p.Text))
}

// appendRecord appends the record and the field of the text.
func (p *piece) appendRecord(b []byte) []byte {
	b = quote.AppendID(append(b, "record="...), p.asked.record.id)
	if p.asked.record.connectionArg != "" {
		b = quote.AppendID(append(b, " connection_id="...), p.asked.record.Connection)
	}
	return quote.AppendID(append(b, " field="...), p.asked.field)
}

// appendSpan appends start..end.
func appendSpan(b []byte, start, end int) []byte {
	b = strconv.AppendInt(b, int64(start), 10)
	return strconv.AppendInt(append(b, ".."...), int64(end), 10)
}
