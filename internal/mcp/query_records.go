package mcp

import (
	"context"
	"fmt"

	"pdpp"
	"pdpp/internal/mcp/limits"
	"pdpp/internal/mcp/quote"
	"pdpp/internal/mcp/recordtext"
	"pdpp/internal/rawjson"
	"pdpp/internal/rsclient"
)

// filterAbout describes the argument filter.
const filterAbout = "Typed object filter. {field: value} = exact, {field: {gte,gt,lte,lt}} = range. Not a string. Legal fields: see schema."

// queryRecordsTool reads a page of records (mcp-surface §8).
var queryRecordsTool = Tool{
	Name:  "query_records",
	title: "Records of one stream",
	description: "Reads a page of records of one stream; read-only (GET /v1/streams/{stream}/records). Default 25 records, at most 100. " +
		"Text shows evidence cards with complete ids; structured output has the page under data (long fields as previews) and its handles under ids. " +
		"Narrow with fields, filter and limit, or use aggregate or search first. Legal fields and operators: see schema.",
	args: argTable{
		{name: "stream", kind: argStream, required: true, about: "Stream name, from schema."},
		{name: "connection_id", kind: argID, about: "Source to read; errors list the choices."},
		{name: "filter", kind: argFilter, about: filterAbout},
		{name: "fields", kind: argTexts, about: "Return only these fields; identity stays."},
		{name: "view", kind: argText, about: "Named view instead of fields."},
		{name: "sort", kind: argText, about: "Field that schema lists for sort; -field = descending."},
		{name: "order", kind: argEnum, enum: []string{"asc", "desc"}, about: "Direction of sort, or of the default order; desc = newest first."},
		{name: "limit", kind: argInt, min: 1, max: pdpp.MaxPage, about: "Most records of a page; default 25. Fewer show more of each."},
		{name: "cursor", kind: argText, about: "next_cursor of the previous page, same arguments."},
		{name: "count", kind: argEnum, enum: []string{"none", "estimated", "exact"}, about: "exact = also count all matches."},
		{name: "expand", kind: argExpand, about: "Relations to include, from schema."},
		{name: "expand_limit", kind: argExpandLimit, about: "{relation: n} = most children of each."},
		{name: "changes_since", kind: argText, about: `"beginning" or a next_changes_since; not a timestamp.`},
	},
	output: `{"type":"object","properties":{"data":{"type":["object","array"]},"ids":{"type":"array","items":{"type":["string","null"]}},` +
		`"content_ladder":{"type":"object"},"projected":{"type":"string"},"next":{"type":"object"},` +
		`"provider_url":{"type":"string"},"request_id":{"type":["string","null"]},"http_status":{"type":"integer"},` +
		`"error":{"type":"object","required":["code","message"]}},"anyOf":[{"required":["data","ids"]},{"required":["error"]}]}`,
	limits: fmt.Sprintf("Text: at most %d bytes. The whole result: at most %d. Long fields come as previews (of %d characters in a page of 25 records, longer ones with a smaller limit), with `truncated_fields` beside the record. "+
		"A page that reaches its size before its `limit` begins `returned=15 of limit=25 (page size reached)`, and its `next:` line continues the list. "+
		"With `fields`, a record still has the keys of its envelope, which are identity or operation: `object`, `id`, `stream`, `connection_id`, `connector_key`, `display_name`, "+
		"`emitted_at`, `expanded`, `truncated_fields`, `deleted`, `deleted_at`, `removed_reason`.", limits.QueryTextMax, limits.ResultMax, limits.PreviewField),
	call: queryRecords,
}

// queryRecords reads one page (MS-102). A result that is too large loses its ladder first,
// then records from the end (MS-71).
func queryRecords(ctx context.Context, c *call) (*Result, error) {
	if err := c.checkExpand(ctx); err != nil {
		return nil, err
	}
	want := c.pagePreference()
	answer, err := c.RS.Records(ctx, c.args.Text("stream"), c.query("stream"), want)
	if err != nil {
		return nil, c.smaller(err)
	}
	page := fitPage(answer, want)
	rungs := limits.LadderRecords
	for {
		res := c.records(page, rungs)
		switch over := excess(res); {
		case over <= 0 || rungs == 0 && len(page.rows) <= 1:
			return res, nil
		case rungs > 0:
			rungs = 0
		default:
			page.drop(over)
		}
	}
}

// pagePreference returns how much of a page is requested (MS-39): the fewer records, the
// more of each.
func (c *call) pagePreference() rsclient.Prefer {
	limit, given := c.args.Int("limit")
	if !given {
		limit = pdpp.DefaultPage
	}
	return rsclient.Prefer{
		FieldPreview: min(max(limits.PreviewField, pdpp.DefaultPage*limits.PreviewField/limit), limits.PreviewFieldMax),
		PageBytes:    limits.PreviewPage * max(limit, pdpp.DefaultPage) / pdpp.DefaultPage,
	}
}

// records returns the result for a page, with a ladder of at most rungs records.
func (c *call) records(p *cutPage, rungs int) *Result {
	fields := c.args.List("fields")
	body := p.body()
	w := begin("data", body, resultExtra)
	w.OpenArray("ids")
	steps := ladder{provider: c.RS.Provider(), maxRungs: rungs}
	var r row
	r.Declared, r.Texts, r.rerunWith = p.Presentation, new(rawjson.Texts), c.rerunWith
	r.Asked = rsclient.Identity{Connection: c.args.Text("connection_id"), Stream: c.args.Text("stream")}
	from := r.sources(p.rows)
	text := recordtext.NewPage(c.recordsText(p, from))
	var it recordtext.Item
	expanded := false
	for i, raw := range p.rows {
		r.Row(raw)
		r.describe(fields)
		if r.ref.id == "" {
			w.Literal("null")
		} else {
			w.String(r.ref.id)
		}
		steps.add(&r)
		expanded = expanded || len(r.Expanded) > 0
		if text.IsOpen() {
			r.item(&it, i+1)
			from.named(r.Connection).label(&it, r.Source)
			text.Add(&it)
		}
	}
	if expanded {
		steps.addChildren(p.rows, &r)
	}
	w.End("]")
	steps.write(&w)
	var next *nextCall
	if p.dropped() > 0 {
		next = c.rerun(len(p.rows))
	}
	return &Result{Structured: c.appendTail(w, p, next), Content: []Block{{Text: text.String()}}}
}

// recordsText returns the text around the records of a page (MS-104, MS-105). Its first
// lines name the sources, which are therefore read before the records.
func (c *call) recordsText(p *cutPage, from sources) recordtext.PageConfig {
	t := c.pageText(p, len(p.rows))
	t.Title = "records stream=" + quote.ID(c.args.Text("stream"))
	t.Label, t.Noun = "returned", "records"
	t.Budget, t.ItemMin, t.Narrow = limits.QueryTextMax, limits.RowMin, "name fewer fields"
	from.describe(&t, c.connection())
	if t.IsLast() && !c.args.Has("cursor") && !c.args.Has("changes_since") {
		t.Empty = c.emptyAdvice()
	}
	switch split := c.split(p); {
	case split != nil:
		t.Continue = c.splitLines(split)
	case p.dropped() > 0:
		t.Continue = []string{t.Rerun(len(p.rows))}
	case t.Cursor != "":
		t.Continue = []string{c.cursorLine(t.Cursor)}
	case t.Bookmark != "" && t.IsLast():
		t.Continue = []string{c.laterLine(t.Bookmark)}
	}
	return t
}

// emptyAdvice returns what to try when a first page is empty.
func (c *call) emptyAdvice() string {
	if c.args.Has("filter") {
		return "no records; the whole filter must match: try a wider one, or search for words\nnext: schema " +
			quote.EscapeHidden(string(schemaArgs(c.stream(), c.connection()))) + " shows what a filter can be\n"
	}
	return "no records; other streams and connections may have some\nnext: schema {} shows them\n"
}

// laterLine returns the line with the call for later changes, which have their own order.
func (c *call) laterLine(bookmark string) string {
	changes := []member{{"changes_since", []byte(quote.ID(bookmark))}, {"cursor", nil}}
	if !c.args.Has("changes_since") {
		changes = append(changes, member{"sort", nil}, member{"order", nil})
	}
	return c.callLine("later", "", changes...)
}

// rerunWith returns the call for the same page with some fields, which shows a record without a
// handle (MS-68).
func (c *call) rerunWith(fields []string) *nextCall {
	if len(fields) == 0 {
		return &nextCall{c.tool.Name, c.args.JSON()}
	}
	return &nextCall{c.tool.Name, c.args.JSON(member{"fields", []byte(quote.List(fields))}, member{"view", nil})}
}
