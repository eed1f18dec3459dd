package mcp

import (
	"slices"
	"strconv"
	"strings"

	"pdpp"
	"pdpp/internal/mcp/limits"
	"pdpp/internal/mcp/quote"
	"pdpp/internal/mcp/recordtext"
	"pdpp/internal/rsclient"
)

// pageText returns what the texts of query_records and search have in common, for a page
// that shows count items.
func (c *call) pageText(p *cutPage, count int) recordtext.PageConfig {
	t := recordtext.PageConfig{
		Count: count, MaxShown: len(p.rows), Limit: c.limitBefore(p), Projected: p.cut, Facts: warningLines(p.Warnings),
	}
	if n, given := c.args.Int("limit"); given {
		t.MaxShown = n
	}
	t.Rerun = c.rerunLine(p, t.MaxShown, count)
	if more, known := p.hasMore(); known {
		t.HasMore = strconv.FormatBool(more)
	}
	t.Cursor, t.Bookmark = p.cursors()
	if n := p.Count.String(); n != "" {
		t.Attrs += " count=" + n
	}
	if id := c.args.Text("connection_id"); id != "" {
		t.Attrs += " connection_id=" + quote.ID(id)
	}
	if p.dropped() > 0 {
		t.Dropped = "cut to " + strconv.Itoa(len(p.rows)) + " of " + strconv.Itoa(len(p.Page.Rows))
	}
	return t
}

// rerunLine returns the function that makes the line for a page of which only some items
// are shown.
func (c *call) rerunLine(p *cutPage, maxShown, count int) func(shown int) string {
	if split := c.split(p); split != nil {
		return func(int) string { return strings.Join(c.splitLines(split), "\n") }
	}
	return func(shown int) string {
		if shown == maxShown && maxShown < count { // the server sent more than the limit
			return c.limitLine(min(pdpp.MaxPage, count), " shows all rows of this answer")
		}
		return c.limitLine(shown, " repeats what is shown; its result has a next: line that continues")
	}
}

// limitBefore returns the limit of a page that ended before it because of its size; 0 for
// any other page.
func (c *call) limitBefore(p *cutPage) int {
	limit, given := c.args.Int("limit")
	if !given {
		limit = pdpp.DefaultPage // the default for hits as well
	}
	isSized := func(w rsclient.Warning) bool { return w.Code == "page_bytes_limited" }
	if len(p.rows) < limit && (p.dropped() > 0 || slices.ContainsFunc(p.Warnings, isSized)) {
		return limit
	}
	return 0
}

// cursorLine returns the line with the call for the next page.
func (c *call) cursorLine(cursor string) string {
	return c.callLine("next", "", member{"cursor", []byte(quote.ID(cursor))})
}

// callLine returns a line with the same call, with some arguments changed. It has all
// arguments, so that it can be called unchanged. If they would take up most of the text, it
// has only the changed ones.
func (c *call) callLine(label, words string, changes ...member) string {
	const maxArgs = limits.QueryTextMax / 4
	args := c.args.JSON(changes...)
	if len(args) > maxArgs {
		if own := new(arguments).JSON(changes...); len(args)-len(own) > maxArgs {
			return label + " call: " + c.tool.Name + ", same arguments with " + quote.EscapeHidden(string(own)) + words
		}
	}
	return label + ": " + c.tool.Name + " " + quote.EscapeHidden(string(args)) + words
}
