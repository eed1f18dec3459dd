package mcp

// fetchTool returns one record as a document (mcp-surface §11).
var fetchTool = Tool{
	Name:  "fetch",
	Title: "One record as a document",
	Description: "Returns one document (id, title, text, url, metadata) for a handle from search or query_records; read-only " +
		"(GET /v1/streams/{stream}/records/{record_id}). fields narrows it. Without declared text the document text is a rendering of the projected fields. " +
		"Long text continues with read_record_field. Text repeats the structured output and adds a card.",
	args: argTable{
		{name: "id", kind: argHandle, required: true, about: "Handle as shown: connection/stream:record, stream:record, or pdpp://record/…"},
		{name: "connection_id", kind: argID, about: "Only for an id that has none."},
		{name: "fields", kind: argTexts},
		{name: "expand", kind: argExpand},
		{name: "expand_limit", kind: argExpandLimit, about: "{relation: n}"},
	},
	output: `{"type":"object","properties":{"id":{"type":"string"},"title":{"type":"string"},"text":{"type":"string"},"url":{"type":"string"},` +
		`"metadata":{"type":"object"},"http_status":{"type":"integer"},"error":{"type":"object","required":["code","message"]}},` +
		`"anyOf":[{"required":["id","title","text","url","metadata"]},{"required":["error"]}]}`,
	call: notYet,
}
