package mcp

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"pdpp"
	"pdpp/internal/mcp/limits"
	"pdpp/internal/mcp/quote"
	"pdpp/internal/mcp/recordtext"
	"pdpp/internal/rsclient"
)

// searchTool finds records by words (mcp-surface §10).
var searchTool = Tool{
	Name:  "search",
	title: "Search by words",
	description: "Finds records by words across streams; read-only (GET /v1/search). At most 100 merged hits; page with cursor. " +
		"Ids in the text are complete handles for fetch. Structured output has results (flat) and data (envelope). " +
		"Sources are told apart by connection_id and connector_key. See server instructions.",
	args: argTable{
		{name: "q", alias: "query", kind: argText, required: true, about: "Words to find; a hit contains all of them."},
		{name: "streams", kind: argStreams, about: "Search these streams only; default all."},
		{name: "mode", kind: argEnum, enum: []string{"lexical", "semantic", "hybrid"}, byServer: true, about: "lexical (the default), or another search mode that schema lists."},
		{name: "limit", kind: argInt, min: 1, max: pdpp.MaxPage, about: "Most hits of all sources together; default 25."},
		{name: "cursor", kind: argText, about: "next_cursor of the previous page, same arguments."},
		{name: "filter", kind: argFilter, about: filterAbout + " Needs exactly one stream in streams."},
		{name: "connection_id", kind: argID, about: "Search one source only."},
	},
	output: `{"type":"object","properties":{"data":{"type":["object","array"]},` +
		`"results":{"type":"array","items":{"type":"object","required":["id","title","url"],"properties":{` +
		`"id":{"type":"string"},"title":{"type":"string"},"url":{"type":"string"}}}},"read_tool":{"type":"string"},` +
		`"projected":{"type":"string"},"next":{"type":"object"},"provider_url":{"type":"string"},"request_id":{"type":["string","null"]},` +
		`"http_status":{"type":"integer"},"error":{"type":"object","required":["code","message"]}},` +
		`"anyOf":[{"required":["data","results"]},{"required":["error"]}]}`,
	limits:   fmt.Sprintf("Text: at most %d bytes. The whole result: at most %d.", limits.SearchTextMax, limits.ResultMax),
	call:     search,
	ranked:   true,
	recovery: recovery{hint: (*call).modeHint, notFound: (*call).searchWords},
}

// modeHint explains that a server has no search of the requested mode.
func (c *call) modeHint(e *rsclient.Error) string {
	mode := c.args.Text("mode")
	if mode == "" || mode == "lexical" || e.Status != http.StatusNotFound || e.Code == pdpp.CodeConnectionNotFound {
		return ""
	}
	return "This server has no " + mode + " search."
}

// searchWords returns the same call in the mode that every server has, or nil.
func (c *call) searchWords(*rsclient.Error) *nextCall {
	if !c.args.Has("mode") {
		return nil
	}
	return &nextCall{c.tool.Name, c.args.JSON(member{"mode", nil}, member{"cursor", nil})}
}

// maxUnavailable bounds the unavailable sources that the text of a page names (MS-222).
const maxUnavailable = 3

// search reads one page of hits (MS-122). A result that is too large loses hits from the end
// (MS-71).
func search(ctx context.Context, c *call) (*Result, error) {
	mode := c.args.Text("mode")
	if mode == "lexical" {
		mode = ""
	}
	want := rsclient.Prefer{HitPreview: limits.SearchPreview, PageBytes: limits.SearchPage}
	answer, err := c.RS.Search(ctx, mode, c.query("mode"), want)
	if err != nil {
		return nil, c.smaller(err)
	}
	page := fitPage(answer, want)
	for {
		res := c.hits(page)
		over := excess(res)
		if over <= 0 || len(page.rows) <= 1 {
			return res, nil
		}
		page.drop(over)
	}
}

// hits returns the result for a page.
func (c *call) hits(p *cutPage) *Result {
	found := rsclient.HitsOf(p.rows)
	list := c.flatten(p, found)
	body := p.body()
	w := begin("data", body, resultExtra)
	w.OpenArray("results")
	for i := range list {
		list[i].write(&w)
	}
	w.End("]")
	w.Text("read_tool", "read_record_field")
	var next *nextCall
	limit := rest(p, len(found)-len(list))
	if limit > 0 {
		next = c.rerun(limit)
	}
	text := c.searchText(p, list, limit)
	return &Result{Structured: c.appendTail(w, p, next), Content: []Block{{Text: text}}}
}

// flatten returns the hits of the results: no more than requested (MS-123).
func (c *call) flatten(p *cutPage, found []rsclient.Hit) []hit {
	limit, given := c.args.Int("limit")
	if !given {
		limit = pdpp.DefaultPage
	}
	list := make([]hit, min(limit, len(found)))
	for i := range list {
		list[i] = newHit(i+1, &found[i], p.Presentation, c.RS.Provider())
	}
	return list
}

// rest returns the limit with which the same call shows all hits of the answer, if some are
// not in the results: the server sent more than requested (MS-125), or some were dropped
// (MS-71); else 0.
func rest(p *cutPage, over int) (limit int) {
	switch {
	case over > 0:
		return min(pdpp.MaxPage, len(p.rows))
	case p.dropped() > 0:
		return len(p.rows)
	}
	return 0
}

// searchText returns the text (MS-126, MS-127, MS-128).
func (c *call) searchText(p *cutPage, list []hit, limit int) string {
	t := c.pageText(p, len(list))
	mode := c.args.Text("mode")
	if mode == "" {
		mode = "lexical"
	}
	t.Title = "search " + quote.Text(quote.Short(c.args.Text("q"), limits.LabelChars)) + " mode=" + mode
	t.Label, t.Noun, t.Ranked = "hits", "hits", true
	t.Budget, t.ItemMin = limits.SearchTextMax, limits.HitMin
	t.Empty = "no hits; "
	if mode == "lexical" {
		t.Empty += "all words must match; "
	}
	t.Empty += "try fewer words, the language of the data, other streams, or schema {} to see what is searchable\n"
	t.Narrow = "narrow with streams or connection_id"
	if mode == "hybrid" { // it does not page
		t.Rerun = func(int) string { return c.callLine("next", " pages through all of them", member{"mode", nil}) }
	}
	var from sources
	for i := range list {
		from.add(list[i].ref.Connection, list[i].Source)
	}
	from.describe(&t, c.connection())
	t.Facts = append(t.Facts, unavailableLines(maxUnavailable, p.Meta)...)
	if line := recallLine(p.Recall()); line != "" {
		t.Facts = append(t.Facts, line)
	}
	if limit > 0 { // the hits that are not shown come before the cursor
		t.HasMore, t.Cursor = "true", ""
	}
	t.Continue = c.continueSearch(p, &t, from, limit)
	text := recordtext.NewPage(t)
	var it recordtext.Item
	for i := 0; i < len(list) && text.IsOpen(); i++ {
		list[i].item(&it, i+1, from.named(list[i].ref.Connection))
		text.Add(&it)
	}
	return text.String()
}

// continueSearch returns the lines with the calls that continue when all hits are shown.
func (c *call) continueSearch(p *cutPage, t *recordtext.PageConfig, from sources, limit int) (lines []string) {
	switch split := c.split(p); {
	case split != nil:
		return c.splitLines(split)
	case limit > t.Count:
		lines = append(lines, c.limitLine(limit, " shows all rows of this answer"))
	case limit > 0:
		lines = append(lines, t.Rerun(limit))
	case t.Cursor != "":
		lines = append(lines, c.cursorLine(t.Cursor))
	}
	source := from.largest()
	for _, w := range p.Warnings {
		if w.Code == "cursor_unavailable" && source != "" && !c.args.Has("connection_id") { // MS-225
			return append(lines, c.callLine("next", "", member{"connection_id", []byte(quote.ID(source))}, member{"cursor", nil}))
		}
	}
	return lines
}

// recallLine returns the warning that a page is not exhaustive, or "" (MS-127).
func recallLine(r rsclient.Recall) string {
	if !r.Bounded {
		return ""
	}
	var facts []string
	for _, f := range []struct {
		name  string
		value int
	}{{"ranked", r.Ranked}, {"limit", r.Limit}, {"truncated_sources", r.TruncatedSources}} {
		if f.value >= 0 {
			facts = append(facts, f.name+"="+strconv.Itoa(f.value))
		}
	}
	line := "recall: only a part of the matches was ranked"
	if facts != nil {
		line += " (" + strings.Join(facts, " ") + ")"
	}
	return line + "; more matches may exist, do not treat this page as exhaustive"
}
