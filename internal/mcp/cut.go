package mcp

import (
	"strconv"

	"pdpp/internal/mcp/limits"
	"pdpp/internal/mcp/quote"
	"pdpp/internal/rawjson"
	"pdpp/internal/rsclient"
)

// cutPage is a page for the client (MS-71): as received, or cut because the server ignored
// the preferences or the result would be too large.
type cutPage struct {
	rsclient.Page
	answer *rsclient.Answer
	rows   [][]byte // those that are kept of Page.Rows
	cut    bool     // something differs from the answer
}

// fitPage applies the preferences that a server ignored. Its size limit is larger than the
// requested one, because rows that are dropped here have to be read again.
func fitPage(answer *rsclient.Answer, want rsclient.Prefer) *cutPage {
	p := &cutPage{Page: rsclient.PageOf(answer.Body), answer: answer}
	p.rows = p.Page.Rows
	if want.FieldPreview > 0 && answer.Applied.FieldPreview == 0 {
		p.preview(want)
	}
	if answer.Applied.PageBytes == 0 {
		for len(p.rows) > 1 && p.bytes() > limits.LocalPage {
			p.drop(p.bytes() - limits.LocalPage)
		}
	}
	return p
}

// preview shortens long values. The first record is shortened further while it alone is
// too large (REC-40).
func (p *cutPage) preview(want rsclient.Prefer) {
	const minChars = 64
	rows := make([][]byte, len(p.rows))
	for i, raw := range p.rows {
		row, cut := rsclient.PreviewRow(raw, want.FieldPreview)
		for n := want.FieldPreview / 2; i == 0 && len(row) > limits.LocalPage && n >= minChars; n /= 2 {
			row, cut = rsclient.PreviewRow(raw, n)
		}
		rows[i] = row
		p.cut = p.cut || cut
	}
	p.rows = rows
}

// bytes returns the size of the list of rows.
func (p *cutPage) bytes() int {
	n := len(`[]`) + max(0, len(p.rows)-1)
	for _, row := range p.rows {
		n += len(row)
	}
	return n
}

// drop removes rows from the end, at least the given number of bytes together. It never
// removes the first row.
func (p *cutPage) drop(bytes int) {
	for len(p.rows) > 1 && bytes > 0 {
		last := len(p.rows) - 1
		bytes -= len(p.rows[last]) + 1
		p.rows = p.rows[:last]
		p.cut = true
	}
}

// dropped counts the rows that were removed.
func (p *cutPage) dropped() int { return len(p.Page.Rows) - len(p.rows) }

// body returns the page for structured output: the received bytes if nothing was cut
// (MS-36).
func (p *cutPage) body() []byte {
	if !p.cut {
		return p.answer.Body
	}
	return p.Body(p.rows)
}

// cursors returns the cursor and the bookmark that continue after the page. A page with
// dropped rows has none.
func (p *cutPage) cursors() (cursor, bookmark string) {
	if p.dropped() > 0 {
		return "", ""
	}
	return p.NextCursor, p.NextChangesSince
}

// hasMore reports whether there are more rows; known is false when that is not stated.
func (p *cutPage) hasMore() (more, known bool) {
	if p.dropped() > 0 {
		return true, true
	}
	if p.HasMore == nil {
		return false, false
	}
	return *p.HasMore, true
}

// limitTo returns a change of the limit.
func limitTo(n int) member { return member{"limit", strconv.AppendInt(nil, int64(n), 10)} }

// rerun returns the same call with another limit. If the call already has that limit, the
// server ignored it, and rerun returns the schema call, which shows how to narrow the
// request.
func (c *call) rerun(limit int) *nextCall {
	if c.hasLimit(limit) {
		return c.narrow()
	}
	return &nextCall{c.tool.Name, c.args.JSON(limitTo(limit))}
}

// limitLine returns the rerun as a line.
func (c *call) limitLine(limit int, words string) string {
	if c.hasLimit(limit) {
		n := c.narrow()
		return "next: " + n.Tool + " " + quote.EscapeHidden(string(n.Args)) + " shows what to narrow this call with"
	}
	return c.callLine("next", words, limitTo(limit))
}

func (c *call) hasLimit(limit int) bool {
	n, given := c.args.Int("limit")
	return given && n == limit
}

// narrow returns the call that shows the schema of the stream.
func (c *call) narrow() *nextCall {
	if !isStreamName(c.stream()) {
		return &nextCall{"schema", []byte("{}")}
	}
	return &nextCall{"schema", schemaArgs(c.stream(), c.connection())}
}

// appendTail appends the members that end structured output (MS-40).
func (c *call) appendTail(w rawjson.Writer, p *cutPage, next *nextCall) []byte {
	if p.cut {
		w.Text("projected", "adapter")
	}
	switch ids := c.split(p); {
	case len(ids) > 0:
		c.writeSplit(&w, ids)
	case next != nil:
		next.write(&w, "next")
	}
	return c.appendEnd(w, p.answer.RequestID)
}

// excess returns by how many bytes a result exceeds limits.ResultMax, as it is sent: with
// its text as a JSON string.
func excess(r *Result) int {
	const frame = len(`{"content":[{"type":"text","text":}],"structuredContent":,"resultType":"complete"}`)
	const longest = len(`\u0000`) // one byte, escaped
	n, worst := frame+len(r.Structured), 0
	for _, b := range r.Content {
		worst += longest*len(b.Text) + len(`""`)
	}
	if n+worst <= limits.ResultMax {
		return n + worst - limits.ResultMax
	}
	for _, b := range r.Content {
		n += rawjson.StringLen(b.Text)
	}
	return n - limits.ResultMax
}
