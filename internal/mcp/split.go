package mcp

import (
	"slices"
	"strconv"
	"strings"

	"pdpp"
	"pdpp/internal/mcp/limits"
	"pdpp/internal/mcp/quote"
	"pdpp/internal/rawjson"
	"pdpp/internal/rsclient"
)

// split returns the connections to read one by one; nil for most pages. Some servers apply
// the limit to each connection, merge the rows and send no cursor (IO-5). The rest of such
// a list can only be read one connection at a time.
func (c *call) split(p *cutPage) []string {
	if p.NextCursor != "" || c.connection() != "" || !c.isCutShort(p) {
		return nil
	}
	var all []string
	for _, row := range p.Page.Rows {
		id := rsclient.ConnectionOf(row)
		if id == "" || len(id) > maxConnection || strings.ContainsRune(id, 0) {
			return nil // an argument cannot name it
		}
		if !slices.Contains(all, id) {
			all = append(all, id)
		}
	}
	return all
}

const (
	maxConnection = 256                     // bytes of a connection id in such a call
	maxSplitLines = limits.QueryTextMax / 4 // bytes of all such calls in a text, except the first
)

// isCutShort reports whether a page has more rows than its limit or, for a list, whether
// the server says that there are more rows or that the results are partial.
func (c *call) isCutShort(p *cutPage) bool {
	limit, given := c.args.Int("limit")
	if !given {
		limit = pdpp.DefaultPage
	}
	if len(p.Page.Rows) > limit || c.tool.ranked {
		return len(p.Page.Rows) > limit
	}
	isPartial := func(w rsclient.Warning) bool { return w.Code == "partial_results" }
	return p.HasMore != nil && *p.HasMore || slices.ContainsFunc(p.Warnings, isPartial)
}

// onOne returns the changes that make a call read one connection from its start.
func onOne(connection string) []member {
	return []member{{"connection_id", []byte(quote.ID(connection))}, {"cursor", nil}}
}

// splitLines returns the lines with the calls that read a page by connection.
func (c *call) splitLines(ids []string) []string {
	lines := []string{"this list is incomplete, because the server has no cursor over several connections: read each connection separately"}
	bytes := 0
	for i, id := range ids {
		line := c.callLine("next", "", onOne(id)...)
		if bytes += len(line); i > 0 && bytes > maxSplitLines {
			return append(lines, "more_connections="+strconv.Itoa(len(ids)-i)+"; schema {} lists them")
		}
		lines = append(lines, line)
	}
	return lines
}

// writeSplit writes the call on the first connection of a page that is read by
// connection, and the list of all connections.
func (c *call) writeSplit(w *rawjson.Writer, ids []string) {
	next := nextCall{c.tool.Name, c.args.JSON(onOne(ids[0])...)}
	next.write(w, "next")
	quote.WriteList(w, "next_connections", ids)
}
