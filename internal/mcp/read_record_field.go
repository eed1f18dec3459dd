package mcp

// readRecordFieldTool reads a window of one text field (mcp-surface §12).
var readRecordFieldTool = Tool{
	Name:  "read_record_field",
	Title: "A window of one text field",
	Description: "Reads a bounded window of one text field; read-only (GET /v1/streams/{stream}/records/{record_id}/field-window). " +
		"Continues cut text shown by search, query_records or fetch, and accepts the same ids as fetch, also pdpp://record/…. " +
		"One selector: cursor, offset_chars or q. Text and structured output both have the whole window. See server instructions.",
	args: argTable{
		{name: "id", kind: argHandle, about: "Handle as shown, also pdpp://record/…; not with the three parts below."},
		{name: "connection_id", kind: argID},
		{name: "stream", kind: argStream},
		{name: "record_id", kind: argID},
		{name: "field_path", kind: argText, required: true},
		{name: "cursor", kind: argText, about: "next_cursor or previous_cursor; not with offset_chars or q."},
		{name: "offset_chars", kind: argInt, min: 0},
		{name: "limit_chars", kind: argInt, min: 1, max: WindowMax, about: "Default 4096."},
		{name: "q", kind: argText, about: "Window around the first match."},
		{name: "before_chars", kind: argInt, min: 0, max: ContextMax},
		{name: "after_chars", kind: argInt, min: 0, max: ContextMax},
	},
	output: `{"type":"object","properties":{` +
		`"record":{"type":"object","required":["id","stream","record_id"],"properties":{"id":{"type":"string"},"connection_id":{"type":["string","null"]},"stream":{"type":"string"},"record_id":{"type":"string"}}},` +
		`"field":{"type":"object","required":["path"],"properties":{"path":{"type":"string"},"type":{"type":"string"},"text_like":{"type":"boolean"}}},` +
		`"window":{"type":"object","required":["text","start_chars","end_chars","complete"],"properties":{"text":{"type":"string"},"start_chars":{"type":"integer"},"end_chars":{"type":"integer"},` +
		`"total_chars":{"type":["integer","null"]},"complete":{"type":"boolean"},"next_cursor":{"type":["string","null"]},"previous_cursor":{"type":["string","null"]}}},` +
		`"resource":{"type":"object"},"provider_url":{"type":"string"},"request_id":{"type":["string","null"]},"http_status":{"type":"integer"},` +
		`"error":{"type":"object","required":["code","message"]}},` +
		`"anyOf":[{"required":["record","field","window"]},{"required":["error"]}]}`,
	call: notYet,
}
