package mcp

import (
	"net/http"
	"slices"

	"pdpp/internal/rawjson"
	"pdpp/internal/rsclient"
)

// wayOn is the call that helps after an error of the resource server (MS-49); nil
// when there is none.
func (c *call) wayOn(e *rsclient.Error) *Next {
	stream := c.stream()
	switch e.Code {
	case "grant_stream_not_allowed", "stream_not_declared", "connection_not_found":
		return &Next{"schema", []byte("{}")}
	case "unknown_field", "field_not_granted", "invalid_sort", "invalid_expand", "insufficient_scope", "invalid_request", "invalid_argument":
		if c.refusesFilters(e) {
			return c.unfiltered()
		}
		if stream == "" && c.args.Has("filter") { // of a search in more than one stream
			return &Next{"schema", []byte("{}")}
		}
		if !isStreamName(stream) || e.Code == "invalid_request" && c.isOfArgument(e) {
			return nil
		}
		return &Next{"schema", schemaArgs(stream, c.connection())}
	case "invalid_cursor", "cursor_expired":
		return c.restart(e)
	case "field_not_text":
		return c.fetchField()
	case "field_not_found", "blob_not_found", "invalid_field_path":
		return c.fetchRecord()
	case "invalid_window", "range_not_satisfiable":
		return c.firstWindow(e)
	case "query_not_found":
		return &Next{c.tool.Name, c.args.JSON(member{"q", nil}, member{"before_chars", nil}, member{"after_chars", nil})}
	}
	if e.Status == http.StatusNotFound {
		return c.elsewhere(e)
	}
	return nil
}

// firstWindow is the same window without the numbers that place it, and without q when
// that is what is wrong.
func (c *call) firstWindow(e *rsclient.Error) *Next {
	drop := []member{{"cursor", nil}, {"offset_chars", nil}, {"limit_chars", nil}, {"before_chars", nil}, {"after_chars", nil}}
	if errorObject(e.Object).text("param") == "q" {
		drop = append(drop, member{"q", nil})
	}
	return &Next{c.tool.Name, c.args.JSON(drop...)}
}

// isOfArgument reports an error about an argument whose values do not depend on the
// stream: its schema would not help.
func (c *call) isOfArgument(e *rsclient.Error) bool {
	return slices.Contains([]string{"granularity", "time_zone", "limit", "order", "count", "offset_chars", "limit_chars"}, errorObject(e.Object).text("param"))
}

// refusesFilters reports a server that takes no filter with this credential (IO-1): an
// error about a filter otherwise names a field.
func (c *call) refusesFilters(e *rsclient.Error) bool {
	object := errorObject(e.Object)
	return e.Code == "invalid_request" && object.text("param") == "filter" && object.text("field") == "" && c.args.Has("filter")
}

// unfiltered is the call that goes on without a filter. A number over other records
// would be another number: there, the records themselves are read.
func (c *call) unfiltered() *Next {
	if c.tool.Name == "aggregate" && isStreamName(c.stream()) {
		return &Next{"query_records", schemaArgs(c.stream(), c.connection())}
	}
	return &Next{c.tool.Name, c.args.JSON(member{"filter", nil}, member{"cursor", nil})}
}

// hint says what an error means where the server cannot know it; "" for the rest.
func (c *call) hint(e *rsclient.Error) string {
	if c.refusesFilters(e) {
		return "This server does not filter here. The next call reads without the filter: compare its records with it."
	}
	mode := c.args.Text("mode")
	if c.tool.Name != "search" || mode == "" || mode == "lexical" || e.Status != http.StatusNotFound || e.Code == "connection_not_found" {
		return ""
	}
	return "This server has no " + mode + " search."
}

// named is an error of the resource server whose param is the tool's argument: what
// was asked is known by that name only.
func (c *call) named(object []byte) []byte {
	name := ""
	switch errorObject(object).text("param") {
	case "field":
		name = "field_path"
	case "offset_chars":
		name = "cursor"
	}
	if name == "" || !c.args.Has(name) || c.tool != &readRecordFieldTool {
		return object
	}
	for member, at := range rawjson.Places(object) {
		if string(member) == "param" {
			out := append(append([]byte{}, object[:at.Start]...), `"param":`...)
			return append(rawjson.AppendString(out, name), object[at.End:]...)
		}
	}
	return object
}

// elsewhere is what to try when there is nothing where the tool looked.
func (c *call) elsewhere(e *rsclient.Error) *Next {
	switch c.tool.Name {
	case "search":
		if !c.args.Has("mode") {
			return nil
		}
		return &Next{c.tool.Name, c.args.JSON(member{"mode", nil}, member{"cursor", nil})} // a server that has words only
	case "fetch":
		return c.firstRecords()
	case "read_record_field":
		if e.Code == "not_found" { // there is no such record, so fetch fails, too
			return c.firstRecords()
		}
		return c.fetchField() // of a server that may lack the window route (MS-172)
	}
	return nil
}

// firstRecords is the beginning of the stream that the call is about; nil when it is
// about none.
func (c *call) firstRecords() *Next {
	if !isStreamName(c.stream()) {
		return nil
	}
	args := schemaArgs(c.stream(), c.connection())
	return &Next{"query_records", append(args[:len(args)-1], `,"limit":10}`...)}
}

// restart is the same call from the start: without its cursor, or, when the bookmark
// is what is wrong, from the beginning.
func (c *call) restart(e *rsclient.Error) *Next {
	drop := []member{{"cursor", nil}}
	if c.args.Has("changes_since") && (!c.args.Has("cursor") || errorObject(e.Object).text("param") == "changes_since") {
		drop = append(drop, member{"changes_since", []byte(`"beginning"`)})
	}
	return &Next{c.tool.Name, c.args.JSON(drop...)}
}

// record is the record that the call is about, by handle or by its parts.
func (c *call) record() Handle {
	if c.args.handle.Record != "" {
		h, _ := c.args.located()
		return h
	}
	return Handle{c.args.Text("connection_id"), c.args.Text("stream"), c.args.Text("record_id")}
}

// fetchField is the fetch of the field that a window was asked of; nil when none was.
func (c *call) fetchField() *Next {
	h, field := c.record(), c.args.Text("field_path")
	if field == "" || !h.isNamed() {
		return nil
	}
	return refer(h).fetchFields(field)
}

// fetchRecord is the fetch of the whole record; nil when the call is about none.
func (c *call) fetchRecord() *Next {
	if h := c.record(); h.isNamed() {
		return refer(h).fetch()
	}
	return nil
}
