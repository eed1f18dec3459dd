package mcp

import (
	"context"
	"strconv"
	"strings"

	"pdpp/internal/rsclient"
)

// searchTool finds records by words (mcp-surface §10).
var searchTool = Tool{
	Name:  "search",
	Title: "Search by words",
	Description: "Finds records by words across streams; read-only (GET /v1/search, or /semantic and /hybrid by mode). At most 100 merged hits; page with cursor. " +
		"Ids in the text are complete handles for fetch. Structured output has results (flat) and data (envelope). " +
		"Sources are told apart by connection_id and connector_key. See server instructions.",
	args: argTable{
		{name: "q", kind: argText, required: true},
		{name: "streams", kind: argStreams},
		{name: "mode", kind: argEnum, enum: []string{"lexical", "semantic", "hybrid"}, about: "Default lexical."},
		{name: "limit", kind: argInt, min: 1, max: 100},
		{name: "cursor", kind: argText},
		{name: "filter", kind: argFilter, about: filterAbout},
		{name: "connection_id", kind: argID, about: "Search one source only."},
	},
	output: `{"type":"object","properties":{"data":{"type":["object","array"]},` +
		`"results":{"type":"array","items":{"type":"object","required":["id","title","url"],"properties":{` +
		`"id":{"type":"string"},"title":{"type":"string"},"url":{"type":"string"}}}},` +
		`"projected":{"type":"string"},"next":{"type":"object"},"provider_url":{"type":"string"},"request_id":{"type":["string","null"]},` +
		`"http_status":{"type":"integer"},"error":{"type":"object","required":["code","message"]}},` +
		`"anyOf":[{"required":["data","results"]},{"required":["error"]}]}`,
	call: search,
}

// The limits of a page of hits, and of the unavailable sources that its text names
// (MS-222).
const (
	defaultHits    = 25
	maxHits        = 100
	maxUnavailable = 3
)

// search reads one page of hits (MS-122). What is too much for one result gives way
// from the end (MS-71).
func search(ctx context.Context, c *call) (*Result, error) {
	mode := c.args.Text("mode")
	if mode == "lexical" {
		mode = ""
	}
	want := rsclient.Prefer{PageBytes: SearchPage}
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

// hits is the result for a page.
func (c *call) hits(p *cutPage) *Result {
	found := rsclient.HitsOf(p.rows)
	list := c.flatten(p, found)
	body := p.body()
	b := append(make([]byte, 0, 2*len(body)+1024), `{"data":`...)
	b = append(append(b, body...), `,"results":[`...)
	for i, h := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = h.append(b)
	}
	next := c.rest(p, len(found)-len(list))
	text := c.searchText(p, list, next)
	return &Result{Structured: c.appendTail(append(b, ']'), p, next), Content: []Block{{Text: text}}}
}

// flatten are the hits that are shown: no more than were asked for (MS-123).
func (c *call) flatten(p *cutPage, found []rsclient.Hit) []*hit {
	most, given := c.args.Int("limit")
	if !given {
		most = defaultHits
	}
	list := make([]*hit, min(most, len(found)))
	for i := range list {
		list[i] = newHit(i+1, found[i], p.Presentation, c.RS.Provider())
	}
	return list
}

// rest is the call for hits that came and are not in the results: more than were
// asked for (MS-125), or dropped (MS-71). nil when there are none.
func (c *call) rest(p *cutPage, over int) *Next {
	switch {
	case over > 0:
		return c.rerun(min(maxHits, len(p.rows)))
	case p.dropped() > 0:
		return c.rerun(len(p.rows))
	}
	return nil
}

// searchText is the text (MS-126, MS-127, MS-128).
func (c *call) searchText(p *cutPage, list []*hit, next *Next) string {
	t := c.pageText(p)
	mode := c.args.Text("mode")
	if mode == "" {
		mode = "lexical"
	}
	t.title = "search " + quote(shortText(c.args.Text("q"), LabelChars)) + " mode=" + mode
	t.label, t.noun, t.count = "hits", "hits", len(list)
	t.budget, t.share = SearchTextMax, HitMin
	t.none = "no hits; try fewer words, other streams, or schema {} to see what is searchable\n"
	if t.narrow = "narrow with streams or connection_id"; mode == "hybrid" {
		t.narrow += ", or mode lexical, which pages"
	}
	if line := sourcesLine(list); line != "" {
		t.facts = append([]string{line}, t.facts...)
	}
	t.facts = append(t.facts, unavailableLines(maxUnavailable, p.Meta)...)
	if line := recallLine(p.Recall()); line != "" {
		t.facts = append(t.facts, line)
	}
	if next != nil { // what came behind the shown hits is not behind a cursor
		t.hasMore, t.cursor = "true", ""
	}
	t.ways = c.searchWays(p, t, list, next)
	return t.render(func(it *item, n int) { list[n].item(it, n+1) })
}

// searchWays are the lines that say how to go on.
func (c *call) searchWays(p *cutPage, t *pageText, list []*hit, next *Next) (lines []string) {
	switch {
	case p.dropped() > 0 && next != nil:
		lines = append(lines, c.cutLine(p))
	case next != nil:
		lines = append(lines, "next: "+next.Tool+" "+string(next.Args))
	case t.cursor != "":
		lines = append(lines, `next page: search, same arguments, "cursor": next_cursor above`)
	}
	for _, w := range p.Warnings {
		source := largestSource(list)
		if w.Code == "cursor_unavailable" && source != "" && !c.args.Has("connection_id") { // MS-225
			args := c.args.JSON(member{"connection_id", []byte(quoteID(source))}, member{"cursor", nil})
			return append(lines, "next: search "+string(args))
		}
	}
	return lines
}

// source is where some of the hits are from.
type source struct {
	connection, key, name string
	hits                  int
}

func sourcesOf(list []*hit) []source {
	var all []source
	at := map[string]int{}
	for _, h := range list {
		id := h.ref.Connection
		if id == "" {
			continue
		}
		i, known := at[id]
		if !known {
			i = len(all)
			at[id] = i
			all = append(all, source{connection: id, key: rsclient.ShortKey(h.ConnectorKey), name: h.Label()})
		}
		all[i].hits++
	}
	return all
}

// sourcesLine tells the mix of sources; "" when there is but one (FANIN-1).
func sourcesLine(list []*hit) string {
	const most = 8
	all := sourcesOf(list)
	if len(all) < 2 {
		return ""
	}
	var entries []string
	for i, s := range all {
		if i == most {
			entries = append(entries, "more_sources="+strconv.Itoa(len(all)-most))
			break
		}
		entry := quoteID(s.connection)
		if s.key != "" {
			entry += " connector_key=" + quote(firstChars(s.key, LabelChars))
		}
		if s.name != "" {
			entry += " " + quote(firstChars(s.name, LabelChars))
		}
		entries = append(entries, entry+" hits="+strconv.Itoa(s.hits))
	}
	return "sources: " + strings.Join(entries, "; ")
}

// largestSource is the connection with most hits.
func largestSource(list []*hit) (connection string) {
	most := 0
	for _, s := range sourcesOf(list) {
		if s.hits > most {
			most, connection = s.hits, s.connection
		}
	}
	return connection
}

// recallLine warns that a page is not exhaustive; "" when nothing says so (MS-127).
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
	line := "recall: bounded candidate window"
	if facts != nil {
		line += " (" + strings.Join(facts, " ") + ")"
	}
	return line + "; more matches may exist, do not treat this page as exhaustive"
}
