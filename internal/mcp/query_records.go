package mcp

// filterAbout describes a filter where it is first met.
const filterAbout = "Typed object filter. {field: value} = exact, {field: {gte,gt,lte,lt}} = range. Not a string. Legal fields: GET /v1/schema."

// queryRecordsTool reads a page of records (mcp-surface §8).
var queryRecordsTool = Tool{
	Name:  "query_records",
	Title: "Records of one stream",
	Description: "Reads a page of records of one stream; read-only (GET /v1/streams/{stream}/records). Default 25 records, at most 100. " +
		"Text shows evidence cards with complete ids; structured output has the page under data (long fields as previews) and its handles under ids. " +
		"Narrow with fields, filter and limit, or use aggregate or search first. Legal fields and operators: see schema.",
	args: argTable{
		{name: "stream", kind: argStream, required: true},
		{name: "connection_id", kind: argID, about: "Source to read; errors list the choices."},
		{name: "filter", kind: argFilter, about: filterAbout},
		{name: "fields", kind: argTexts, about: "Return only these fields; identity stays."},
		{name: "view", kind: argText, about: "Named view instead of fields."},
		{name: "sort", kind: argText, about: "field or -field, as schema says."},
		{name: "order", kind: argEnum, enum: []string{"asc", "desc"}},
		{name: "limit", kind: argInt, min: 1, max: 100},
		{name: "cursor", kind: argText, about: "next_cursor of the previous page, same arguments."},
		{name: "count", kind: argEnum, enum: []string{"none", "estimated", "exact"}},
		{name: "expand", kind: argExpand},
		{name: "expand_limit", kind: argExpandLimit, about: "{relation: n}"},
		{name: "changes_since", kind: argText, about: `"beginning" or a next_changes_since; not a timestamp.`},
	},
	output: `{"type":"object","properties":{"data":{"type":["object","array"]},"ids":{"type":"array","items":{"type":["string","null"]}},` +
		`"content_ladder":{"type":"object"},"projected":{"type":"string"},"next":{"type":"object"},` +
		`"provider_url":{"type":"string"},"request_id":{"type":["string","null"]},"http_status":{"type":"integer"},` +
		`"error":{"type":"object","required":["code","message"]}},"anyOf":[{"required":["data","ids"]},{"required":["error"]}]}`,
	call: notYet,
}
