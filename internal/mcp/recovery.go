package mcp

import (
	"net/http"
	"slices"

	"pdpp"
	"pdpp/internal/rawjson"
	"pdpp/internal/rsclient"
)

// recoveryCall returns the call that helps after an error of the resource server (MS-49),
// or nil.
func (c *call) recoveryCall(e *rsclient.Error) *nextCall {
	stream := c.stream()
	switch e.Code {
	case pdpp.CodeStreamNotAllowed, pdpp.CodeStreamNotDeclared, pdpp.CodeConnectionNotFound:
		return &nextCall{"schema", []byte("{}")}
	case pdpp.CodeUnknownField, pdpp.CodeFieldNotGranted, pdpp.CodeInvalidSort, pdpp.CodeInvalidExpand, pdpp.CodeInsufficientScope, pdpp.CodeInvalidRequest, pdpp.CodeInvalidArgument:
		if c.refusesFilters(e) {
			return c.unfiltered()
		}
		if stream == "" && c.args.Has("filter") { // a search in several streams
			return &nextCall{"schema", []byte("{}")}
		}
		if !isStreamName(stream) || e.Code == pdpp.CodeInvalidRequest && c.isOfArgument(e) {
			return nil
		}
		return &nextCall{"schema", schemaArgs(stream, c.connection())}
	case pdpp.CodeInvalidCursor, pdpp.CodeCursorExpired:
		return c.restart(e)
	case pdpp.CodeFieldNotText:
		return c.fetchField()
	case pdpp.CodeFieldNotFound, pdpp.CodeBlobNotFound, pdpp.CodeInvalidFieldPath:
		return c.fetchRecord()
	case pdpp.CodeInvalidWindow, pdpp.CodeRangeNotSatisfiable:
		return c.firstWindow(e)
	case pdpp.CodeQueryNotFound:
		return &nextCall{c.tool.Name, c.args.JSON(member{"q", nil}, member{"before_chars", nil}, member{"after_chars", nil})}
	}
	if find := c.tool.recovery.notFound; find != nil && e.Status == http.StatusNotFound {
		return find(c, e)
	}
	return nil
}

// firstWindow returns the call that reads the field from its start; without q if the error
// is about q.
func (c *call) firstWindow(e *rsclient.Error) *nextCall {
	drop := []member{{"cursor", nil}, {"offset_chars", nil}, {"limit_chars", nil}, {"before_chars", nil}, {"after_chars", nil}}
	if errorObject(e.Object).text("param") == "q" {
		drop = append(drop, member{"q", nil})
	}
	return &nextCall{c.tool.Name, c.args.JSON(drop...)}
}

// isOfArgument reports whether an error is about an argument whose values are the same for
// all streams, so that the schema of the stream would not help.
func (c *call) isOfArgument(e *rsclient.Error) bool {
	return slices.Contains([]string{"granularity", "time_zone", "limit", "order", "count", "offset_chars", "limit_chars"}, errorObject(e.Object).text("param"))
}

// refusesFilters reports whether the error means that the server accepts no filter with
// this credential (IO-1). Other errors about a filter name a field.
func (c *call) refusesFilters(e *rsclient.Error) bool {
	object := errorObject(e.Object)
	return e.Code == pdpp.CodeInvalidRequest && object.text("param") == "filter" && object.text("field") == "" && c.args.Has("filter")
}

// unfiltered returns the call that reads without a filter.
func (c *call) unfiltered() *nextCall {
	if read := c.tool.recovery.unfiltered; read != nil {
		if next := read(c); next != nil {
			return next
		}
	}
	return &nextCall{c.tool.Name, c.args.JSON(member{"filter", nil}, member{"cursor", nil})}
}

// hint explains an error where the server cannot; "" for most errors.
func (c *call) hint(e *rsclient.Error) string {
	if c.refusesFilters(e) {
		return "This server does not support filters with this token. The next call reads without the filter; check the records against it yourself."
	}
	if hint := c.tool.recovery.hint; hint != nil {
		return hint(c, e)
	}
	return ""
}

// named returns an error of the resource server with its param renamed to the argument of
// the tool: the caller knows no other name.
func (c *call) named(object []byte) []byte {
	name := c.tool.recovery.params[errorObject(object).text("param")]
	if name == "" || !c.args.Has(name) {
		return object
	}
	s := rawjson.Scan(object)
	for member := range s.Members() {
		if string(member) == "param" {
			out := rawjson.AppendString(slices.Clone(object[:s.Offset()]), name)
			s.Value()
			return append(out, object[s.Offset():]...)
		}
	}
	return object
}

// firstRecords returns the call that lists the stream of this call, or nil.
func (c *call) firstRecords() *nextCall {
	if !isStreamName(c.stream()) {
		return nil
	}
	args := rawjson.Reopen(schemaArgs(c.stream(), c.connection()))
	args.Number("limit", 10)
	return &nextCall{"query_records", append(args, '}')}
}

// restart returns the same call from the start: without its cursor or, when the bookmark is
// what is wrong, from the beginning.
func (c *call) restart(e *rsclient.Error) *nextCall {
	drop := []member{{"cursor", nil}}
	if c.args.Has("changes_since") && (!c.args.Has("cursor") || errorObject(e.Object).text("param") == "changes_since") {
		drop = append(drop, member{"changes_since", []byte(`"beginning"`)})
	}
	return &nextCall{c.tool.Name, c.args.JSON(drop...)}
}

// record returns the record that the call names, by handle or by its parts.
func (c *call) record() Handle {
	if c.args.handle.Record != "" {
		h, _ := c.args.located()
		return h
	}
	return Handle{c.args.Text("connection_id"), c.args.Text("stream"), c.args.Text("record_id")}
}

// fetchField returns the call that fetches the field of a window, or nil.
func (c *call) fetchField() *nextCall {
	h, field := c.record(), c.args.Text("field_path")
	if field == "" || !h.isNamed() {
		return nil
	}
	return refer(h).fetchFields(field)
}

// fetchRecord returns the call that fetches the whole record, or nil.
func (c *call) fetchRecord() *nextCall {
	if h := c.record(); h.isNamed() {
		return refer(h).fetch()
	}
	return nil
}
