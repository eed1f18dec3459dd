package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"

	"pdpp"
	"pdpp/internal/timebucket"
)

// maxRow is the largest size of a full schema row (M-10). The rest of the 200,000 bytes
// of X-18 is for the envelope and one connection, which detail=full adds.
const maxRow = 195_000

// The frames below are the parts of a full row without names, labels and schemas. They
// contain every optional key and the longer value of every flag, so that a frame is
// never smaller than the real output. Only their sizes count: %q writes a list with spaces
// in place of its commas.
var (
	// rowFrame is X-8 with X-11, and a connector key of the largest length.
	rowFrame = fmt.Sprintf(`{"object":"stream_metadata","name":,`+
		`"connector_key":"0123456789012345678901234567890123456789012345678901234567890123",`+
		`"label":,"description":,"semantics":"mutable_state","schema":,"primary_key":[],"cursor_field":,"consent_time_field":,`+
		`"selection":{"fields":false,"resources":false},"views":[],"relationships":[],`+
		`"query":{"range_filters":{},"expand":[],"search":{"lexical_fields":[],"semantic_fields":[]},`+
		`"aggregations":{"count":true,"sum":[],"min":[],"max":[],"group_by":[],"group_by_time":[],"count_distinct":[]}},`+
		`"query_capabilities":{"sort":{"fields":[],"default":"-","order":["asc","desc"]},"count":["none","estimated","exact"],`+
		`"pagination":{"cursor":true,"default_limit":%d,"max_limit":%d},"changes_since":true,`+
		`"projection":{"fields":true,"views":[]},"search_modes":["lexical","semantic","hybrid"],"expand":[],`+
		`"aggregate":{"metrics":["count","count_distinct","max","min","sum"],"group_by":[],"group_by_time":[],`+
		`"granularities":%q,"max_limit":%d}},"field_capabilities":{},"expand_capabilities":[]}`,
		pdpp.DefaultPage, pdpp.MaxPage, timebucket.Granularities, pdpp.MaxGroups)

	// fieldFrame is one entry of X-9.
	fieldFrame = fmt.Sprintf(`:{"type":,"role":,"schema":,"granted":true,"exact_filter":{"declared":false,"usable":false},`+
		`"range_filter":{"declared":false,"usable":false,"operators":%q},`+
		`"lexical_search":{"declared":false,"usable":false},"semantic_search":{"declared":false,"usable":false},`+
		`"aggregation":{"count_distinct":{"declared":false,"usable":false},"group_by":{"declared":false,"usable":false},`+
		`"group_by_time":{"declared":false,"usable":false},"max":{"declared":false,"usable":false},`+
		`"min":{"declared":false,"usable":false},"sum":{"declared":false,"usable":false}}},`, pdpp.RangeOps)

	viewFrame  = `{"id":,"label":,"fields":[]},` + `,`
	rangeFrame = fmt.Sprintf(`:%q,`, pdpp.RangeOps)

	// relationFrame is one entry each of relationships, query.expand,
	// expand_capabilities and query_capabilities.expand.
	relationFrame = fmt.Sprintf(`{"name":,"stream":,"foreign_key":,"cardinality":"has_many"},`+
		`{"name":,"default_limit":%[1]d,"max_limit":%[1]d},`+
		`{"name":,"stream":,"target_stream":,"cardinality":"has_many","foreign_key":,"child_parent_key_field":,`+
		`"default_limit":%[1]d,"max_limit":%[1]d,"granted":false,"usable":false},,`, pdpp.MaxExpand)
)

// checkSize checks M-10.
func (sp *streamParser) checkSize() {
	if n := rowBytes(sp.out); n > maxRow {
		sp.add(sp.decl.at, "the full schema row of this stream would have %d bytes; at most %d are allowed. "+
			"Shorten its schema or split the stream", n, maxRow)
	}
}

// rowBytes returns an upper bound for the size of the full row of a stream as its owner
// gets it, without granted_connections. The row contains the schema as declared
// and again field by field.
func rowBytes(s *pdpp.Stream) int {
	n := len(rowFrame) + quoted(s.Name) + quoted(s.Label) + quoted(s.Description) + encoded(s.Schema) +
		list(s.PrimaryKey) + 3*quoted(s.CursorField) + quoted(s.ConsentTimeField)
	for _, f := range s.Fields {
		n += len(fieldFrame) + quoted(f.Name) + quoted(f.DisplayType) + quoted(string(f.Role)) + encoded(f.Schema)
	}
	for _, v := range s.Views {
		n += len(viewFrame) + 2*quoted(v.ID) + quoted(v.Label) + list(v.Fields)
	}
	for _, r := range s.Relations {
		n += len(relationFrame) + 4*quoted(r.Name) + 3*quoted(r.Stream) + 3*quoted(r.ForeignKey)
	}
	for _, r := range s.RangeFilters {
		n += len(rangeFrame) + quoted(r.Field)
	}
	a := s.Aggregations
	n += list(s.LexicalFields) + list(s.SemanticFields) + list(a.Sum) + list(a.Min) + list(a.Max) + list(a.CountDistinct)
	return n + 2*list(a.GroupBy) + 2*list(a.GroupByTime)
}

// quoted returns the size of s as a JSON string with every escape that a writer may use.
func quoted(s string) int { return len(encodeString(s)) }

// list returns the size of the items of a list of strings, including commas.
func list(items []string) int {
	n := 0
	for _, s := range items {
		n += quoted(s) + 1
	}
	return n
}

// encoded returns the size of a JSON value, escaped like quoted.
func encoded(raw json.RawMessage) int {
	var b bytes.Buffer
	json.HTMLEscape(&b, raw)
	return b.Len()
}
