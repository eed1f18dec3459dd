package mcp

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
		{name: "filter", kind: argFilter},
		{name: "connection_id", kind: argID, about: "Search one source only."},
	},
	output: `{"type":"object","properties":{"data":{"type":["object","array"]},` +
		`"results":{"type":"array","items":{"type":"object","required":["id","title","url"],"properties":{` +
		`"id":{"type":"string"},"title":{"type":"string"},"url":{"type":"string"}}}},` +
		`"projected":{"type":"string"},"next":{"type":"object"},"provider_url":{"type":"string"},"request_id":{"type":["string","null"]},` +
		`"http_status":{"type":"integer"},"error":{"type":"object","required":["code","message"]}},` +
		`"anyOf":[{"required":["data","results"]},{"required":["error"]}]}`,
	call: notYet,
}
