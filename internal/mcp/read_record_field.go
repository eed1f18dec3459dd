package mcp

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"pdpp/internal/rawjson"
)

// readRecordFieldTool reads a window of one text field (mcp-surface §12).
var readRecordFieldTool = Tool{
	Name:  "read_record_field",
	Title: "A window of one text field",
	Description: "Reads a bounded window of one text field; read-only (GET /v1/streams/{stream}/records/{record_id}/field-window). " +
		"Continues cut text shown by search, query_records or fetch, and accepts the same ids as fetch, also pdpp://record/…. " +
		"One selector: cursor, offset_chars or q. Text and structured output both have the whole window. See server instructions.",
	args: argTable{
		{name: "id", kind: argHandle, about: "Handle as shown, also pdpp://record/…; not with stream and record_id."},
		{name: "connection_id", kind: argID},
		{name: "stream", kind: argStream},
		{name: "record_id", kind: argID},
		{name: "field_path", kind: argText, required: true},
		{name: "cursor", kind: argText, about: "next_cursor or previous_cursor; not with offset_chars or q."},
		{name: "offset_chars", kind: argInt, min: 0},
		{name: "limit_chars", kind: argInt, min: 1, max: WindowMax, about: "Default 4096."},
		{name: "q", kind: argText, about: "Window around the first match."},
		{name: "before_chars", kind: argInt, min: 0, max: ContextMax},
		{name: "after_chars", kind: argInt, min: 0, max: ContextMax},
	},
	output: `{"type":"object","properties":{` +
		`"record":{"type":"object","required":["id","stream","record_id"],"properties":{"id":{"type":"string"},"connection_id":{"type":["string","null"]},"stream":{"type":"string"},"record_id":{"type":"string"}}},` +
		`"field":{"type":"object","required":["path"],"properties":{"path":{"type":"string"},"type":{"type":"string"},"text_like":{"type":"boolean"}}},` +
		`"window":{"type":"object","required":["text","start_chars","end_chars","complete"],"properties":{"text":{"type":"string"},"start_chars":{"type":"integer"},"end_chars":{"type":"integer"},` +
		`"total_chars":{"type":["integer","null"]},"complete":{"type":"boolean"},"next_cursor":{"type":["string","null"]},"previous_cursor":{"type":["string","null"]}}},` +
		`"resource":{"type":"object"},"provider_url":{"type":"string"},"request_id":{"type":["string","null"]},"http_status":{"type":"integer"},` +
		`"error":{"type":"object","required":["code","message"]}},` +
		`"anyOf":[{"required":["record","field","window"]},{"required":["error"]}]}`,
	call: readRecordField,
}

// readRecordField reads one window and shows it whole, in text and structured.
func readRecordField(ctx context.Context, c *call) (*Result, error) {
	w, err := c.args.window()
	if err != nil {
		return nil, err
	}
	p, err := c.readWindow(ctx, w)
	if err != nil {
		return nil, err
	}
	next, _ := p.neighbours()
	link := &Link{URI: p.uri(), Name: visible(w.field), MimeType: "text/plain"}
	if next != nil {
		link.URI = next.URI()
	}
	return &Result{Structured: p.structured(c.RS.Provider()), Content: []Block{{Text: p.render()}, {Link: link}}}, nil
}

// structured is the structured output (MS-174).
func (p *piece) structured(provider string) []byte {
	b := p.appendSource([]byte{'{'})
	b = append(b, `,"window":`...)
	b = p.appendWindow(b, true)
	b = append(b, `,"resource":{"uri":`...)
	b = rawjson.AppendString(b, p.uri())
	b = p.appendNeighbours(b)
	b = append(b, `},"provider_url":`...)
	b = rawjson.AppendString(b, provider)
	b = append(b, `,"request_id":`...)
	return append(appendOrNull(b, p.requestID), '}')
}

// appendSource appends the members record and field.
func (p *piece) appendSource(b []byte) []byte {
	h := p.asked.record
	id, _ := h.String()
	b = append(b, `"record":{"id":`...)
	b = rawjson.AppendString(b, id)
	b = append(b, `,"connection_id":`...)
	b = appendOrNull(b, h.Connection)
	b = appendMember(b, "stream", h.Stream)
	b = appendMember(b, "record_id", h.Record)
	b = append(b, `},"field":{"path":`...)
	b = rawjson.AppendString(b, p.asked.field)
	b = appendMember(b, "type", p.Field.Type)
	b = append(b, `,"text_like":`...)
	return append(strconv.AppendBool(b, !p.asJSON), '}')
}

// appendWindow appends the window: its members as received, with the cursors. The
// text is left out where it stands elsewhere.
func (p *piece) appendWindow(b []byte, withText bool) []byte {
	b = append(b, '{')
	for name, at := range rawjson.Places(p.Raw) {
		switch string(name) {
		case "next_cursor", "previous_cursor":
			continue
		case "text":
			if !withText {
				continue
			}
		}
		b = append(append(b, p.Raw[at.Start:at.End]...), ',')
	}
	b = append(b, `"next_cursor":`...)
	b = appendCursor(b, p.Next)
	b = append(b, `,"previous_cursor":`...)
	return append(appendCursor(b, p.Previous), '}')
}

func appendCursor(b []byte, offset int) []byte {
	if offset < 0 {
		return append(b, "null"...)
	}
	return append(strconv.AppendInt(append(b, '"'), int64(offset), 10), '"')
}

func (p *piece) appendNeighbours(b []byte) []byte {
	next, prev := p.neighbours()
	if next != nil {
		b = appendMember(b, "next_uri", next.URI())
	}
	if prev != nil {
		b = appendMember(b, "previous_uri", prev.URI())
	}
	return b
}

// isLast reports a window that ends with the text.
func (p *piece) isLast() bool { return p.Next < 0 && p.End == p.Total }

// render is the text: facts and ways on first, the window last (MS-175).
func (p *piece) render() string {
	id, embedded := p.asked.record.id, p.asked.record.beside == ""
	var b strings.Builder
	b.WriteString("field window record=" + quoteID(id))
	if !embedded {
		b.WriteString(" connection_id=" + quoteID(p.asked.record.Connection))
	}
	b.WriteString(" field=" + quoteID(p.asked.field))
	if p.asJSON {
		b.WriteString(" as=json")
	}
	fmt.Fprintf(&b, " chars=%d..%d", p.Start, p.End)
	if p.Total >= 0 {
		fmt.Fprintf(&b, " total=%d", p.Total)
	}
	switch {
	case p.Complete:
		b.WriteString(" complete=true")
	case p.isLast():
		b.WriteString(" end=true")
	default:
		b.WriteString(" complete=false")
	}
	if p.Next >= 0 {
		fmt.Fprintf(&b, ` next_cursor="%d"`, p.Next)
	}
	if offset := p.asked.place.offset; p.isLast() && p.Start == p.End && offset.n >= p.End && p.End > 0 {
		fmt.Fprintf(&b, "\nnothing here: offset %d is past the end", offset.n)
	}
	next, prev := p.neighbours()
	if next != nil {
		fmt.Fprintf(&b, "\nnext: read_record_field %s", next.args())
	}
	if prev != nil {
		fmt.Fprintf(&b, "\nprevious: read_record_field %s", prev.args())
	}
	if p.MatchStart >= 0 && p.MatchEnd >= 0 {
		fmt.Fprintf(&b, "\nmatch chars=%d..%d", p.MatchStart, p.MatchEnd)
	}
	b.WriteString("\ntext=" + quote(p.Text))
	return b.String()
}
