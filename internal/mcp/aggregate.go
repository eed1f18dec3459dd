package mcp

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pdpp"
	"pdpp/internal/mcp/limits"
	"pdpp/internal/mcp/quote"
	"pdpp/internal/rawjson"
	"pdpp/internal/rsclient"
	"pdpp/internal/timebucket"
)

// aggregateTool computes numbers without records (mcp-surface §9).
var aggregateTool = Tool{
	Name:  "aggregate",
	title: "Numbers without records",
	description: "Computes one metric over the records of a stream, optionally grouped; read-only (GET /v1/streams/{stream}/aggregate). " +
		"At most one of group_by and group_by_time. Never returns record bodies; for those use query_records. " +
		"Text shows the numbers, structured output has all groups. Grouped answers have other_count, the number of records in groups beyond limit; " +
		"a positive value means that groups were cut off (top-N truncation). See schema for legal fields.",
	args: argTable{
		{name: "stream", kind: argStream, required: true, about: "Stream name, from schema."},
		{name: "metric", kind: argEnum, required: true, enum: []string{"count", "sum", "min", "max", "count_distinct"}, about: "All except count need field."},
		{name: "field", kind: argText, about: "Field to compute; not with count."},
		{name: "group_by", kind: argText, about: "Field to group by; not with group_by_time."},
		{name: "group_by_time", kind: argText, about: "Time field to group by; needs granularity."},
		{name: "granularity", kind: argEnum, enum: granularities, about: "Size of the time buckets; requires group_by_time."},
		{name: "time_zone", kind: argText, about: "IANA zone of the buckets, such as Europe/Zurich; default UTC."},
		{name: "order", kind: argEnum, enum: []string{"asc", "desc"}, about: "Time buckets: which end limit keeps."},
		{name: "limit", kind: argInt, min: 1, max: pdpp.MaxGroups, about: "Most groups; default 10, of time buckets 100."},
		{name: "filter", kind: argFilter, about: filterAbout},
		{name: "connection_id", kind: argID, about: "Count one source only."},
	},
	output: `{"type":"object","properties":{"data":{"type":"object"},"next":{"type":"object"},` +
		`"provider_url":{"type":"string"},"request_id":{"type":["string","null"]},"http_status":{"type":"integer"},` +
		`"error":{"type":"object","required":["code","message"]}},"anyOf":[{"required":["data"]},{"required":["error"]}]}`,
	limits:   fmt.Sprintf("Text: at most %d bytes; groups that do not fit are in structured output. `other_count` is the number of records in groups beyond `limit`.", limits.AggTextMax),
	call:     callAggregate,
	recovery: recovery{unfiltered: (*call).listRecords},
}

// listRecords returns the call that lists the records of the stream, or nil if the stream
// cannot be named. It is offered if the server accepts no filter: an aggregate without the
// filter would be another number.
func (c *call) listRecords() *nextCall {
	if !isStreamName(c.stream()) {
		return nil
	}
	return &nextCall{"query_records", schemaArgs(c.stream(), c.connection())}
}

// callAggregate makes one request and returns its answer as structured output (MS-111).
func callAggregate(ctx context.Context, c *call) (*Result, error) {
	answer, err := c.RS.Aggregate(ctx, c.args.Text("stream"), c.query("stream"))
	if err != nil {
		return nil, err
	}
	var more rawjson.Writer
	if hasOthers(answer.Body) {
		c.moreGroups(false).write(&more, "next")
	}
	return &Result{
		Structured: c.structured(answer.Body, answer.RequestID, more...),
		Content:    []Block{{Text: c.aggregateText(answer.Body)}},
	}, nil
}

// Characters of a group's key, and of a single value, in the text.
const (
	keyChars   = 40
	valueChars = limits.PreviewChars
)

// aggregateText returns the text with the numbers (MS-112).
func (c *call) aggregateText(body []byte) string {
	head := c.aggregateHead(body)
	notes := warningLines(rsclient.PageOf(body).Warnings)
	groups, grouped := rawjson.Get(body, "groups")
	if !grouped {
		return strings.Join(append([]string{head + " = " + aggregateValue(body)}, notes...), "\n")
	}
	dimension, tail, left := c.aggregateDimension(body), groupsTail(body), limits.AggTextMax-groupsReserve
	for _, text := range append(notes, head, dimension, tail) {
		left -= len(text) + 1
	}
	all, shown := c.fitGroups(groups, left, hasOthers(body))
	list := "none"
	if len(shown) > 0 {
		list = strings.Join(shown, " ")
	}
	lines := []string{head + " by " + dimension + ": " + list + "; groups=" + strconv.Itoa(all) + " shown=" + strconv.Itoa(len(shown)) + tail}
	lines = append(lines, notes...)
	cut := all - len(shown)
	if cut > 0 {
		advice := "; narrow with filter"
		if c.args.Has("group_by_time") {
			advice += " or a coarser granularity"
		}
		lines = append(lines, "not shown: "+strconv.Itoa(cut)+" groups (all in structured output)"+advice)
	}
	text := strings.Join(lines, "\n")
	if cut > 0 || hasOthers(body) {
		text += c.moreGroupsLine(cut > 0)
	}
	return text
}

// fitGroups returns the number of all groups, and the first groups that fit into space
// bytes together with the line about the others.
func (c *call) fitGroups(groups []byte, space int, hasOthers bool) (all int, shown []string) {
	size := 0
	for g := range rawjson.Elements(groups) {
		shown = append(shown, groupItem(g))
		size += len(shown[all]) + 1
		all++
	}
	switch {
	case hasOthers:
		space -= max(len(c.moreGroupsLine(false)), len(c.moreGroupsLine(true)))
	case size > space:
		space -= len(c.moreGroupsLine(true))
	}
	for ; size > space && len(shown) > 0; shown = shown[:len(shown)-1] {
		size -= len(shown[len(shown)-1]) + 1
	}
	return all, shown
}

// granularities are the values of the argument granularity, shortest first.
var granularities = granularityNames()

func granularityNames() (names []string) {
	for _, g := range timebucket.Granularities {
		names = append(names, string(g))
	}
	return names
}

// moreGroups returns the call that shows further groups (MS-113): with a larger limit; or,
// if there are too many groups for an answer or for its text (cut), with larger time
// buckets; or else the schema call, which lists the filters.
func (c *call) moreGroups(cut bool) *nextCall {
	limit, given := c.args.Int("limit")
	timed := c.args.Has("group_by_time")
	if !given && timed || limit == pdpp.MaxGroups {
		cut = true // the limit is the largest already
	}
	if !cut {
		return c.rerun(pdpp.MaxGroups)
	}
	if at := slices.Index(granularities, c.args.Text("granularity")); timed && at >= 0 && at+1 < len(granularities) {
		return &nextCall{c.tool.Name, c.args.JSON(member{"granularity", rawjson.AppendString(nil, granularities[at+1])}, member{"limit", nil})}
	}
	return c.narrow()
}

// moreGroupsLine returns that call as the last line, or "" if it would fill most of the
// text.
func (c *call) moreGroupsLine(cut bool) string {
	next := c.moreGroups(cut)
	line := "\nnext: " + next.Tool + " " + quote.EscapeHidden(string(next.Args))
	if next.Tool == "schema" {
		line += " shows what to filter by"
	}
	if len(line) > limits.AggTextMax/2 {
		return ""
	}
	return line
}

// hasOthers reports whether there are records in groups beyond the limit.
func hasOthers(body []byte) bool {
	other, _ := rawjson.Get(body, "other_count")
	return rawjson.KindOf(other) == rawjson.KindNumber && string(other) != "0" && other[0] != '-'
}

// groupsReserve is the space for the constant words around the groups, with their counts.
const groupsReserve = 177

// aggregateHead returns metric(stream.field).
func (c *call) aggregateHead(body []byte) string {
	head := quote.Code(c.args.Text("metric")) + "(" + quote.Name(cutName(c.args.Text("stream")))
	if f := c.args.Text("field"); f != "" {
		head += "." + quote.Name(cutName(f))
	}
	head += ")"
	if v, _ := rawjson.Get(body, "approximate"); string(v) == "true" {
		head += " approximate"
	}
	return head
}

// aggregateDimension returns the field of the groups, with the granularity and the time
// zone that the server used.
func (c *call) aggregateDimension(body []byte) string {
	if f := c.args.Text("group_by"); f != "" {
		return quote.Name(cutName(f))
	}
	dimension := quote.Name(cutName(c.args.Text("group_by_time")))
	if s := rawjson.GetString(body, "granularity"); s != "" {
		dimension += "/" + quote.Code(s)
	}
	if s := rawjson.GetString(body, "time_zone"); s != "" {
		dimension += " tz=" + quote.Text(quote.First(s, limits.LabelChars))
	}
	return dimension
}

// aggregateValue returns the one number of an answer without groups. A count without a value
// is the number of records.
func aggregateValue(body []byte) string {
	records, counted := rawjson.Get(body, "filtered_record_count")
	isCount := rawjson.GetString(body, "metric") == "count"
	value, ok := rawjson.Get(body, "value")
	switch {
	case !ok && isCount && counted:
		value = records
	case !ok:
		return "unstated"
	}
	text := quote.Scalar(value, valueChars)
	if !isCount && counted {
		text += " over " + quote.Scalar(records, keyChars) + " records"
	}
	return text
}

// groupItem returns the key of a group with its value and, if that is another number, its
// count.
func groupItem(g []byte) string {
	key, _ := rawjson.Get(g, "key")
	item := quote.Scalar(key, keyChars) + "="
	count, counted := rawjson.Get(g, "count")
	value, ok := rawjson.Get(g, "value")
	switch {
	case !ok:
		return item + quote.Scalar(count, keyChars)
	case !counted:
		return item + quote.Scalar(value, keyChars)
	}
	return item + quote.Scalar(value, keyChars) + "(count:" + quote.Scalar(count, keyChars) + ")"
}

// groupsTail returns the count of the groups that limit cut off (AGG-4).
func groupsTail(body []byte) string {
	other, ok := rawjson.Get(body, "other_count")
	if !ok {
		return ""
	}
	tail := " other_count=" + quote.Scalar(other, keyChars)
	if hasOthers(body) {
		tail += " (records in groups beyond limit)"
	}
	return tail
}
