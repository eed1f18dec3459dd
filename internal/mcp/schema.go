package mcp

// schemaTool lists what the token may read (mcp-surface §7).
var schemaTool = Tool{
	Name:  "schema",
	Title: "What can be read",
	Description: "Lists what this token may read; read-only (GET /v1/schema). Compact by default: sources, connections and stream names. " +
		"Go on with schema(stream) for fields, filters, sort, expand and aggregation, with connection_id for one source, then query_records. " +
		`detail:"full" gives the raw JSON Schema and needs stream. Text shows everything needed; structured output has the document. ` +
		"Results name connection_id and connector_key.",
	args: argTable{
		{name: "stream", kind: argStream, about: "One stream: adds fields, filters, sort, expand, aggregation."},
		{name: "connection_id", kind: argID, about: "Show one source only."},
		{name: "detail", kind: argEnum, enum: []string{"compact", "full"}, about: "full = raw JSON Schema; needs stream."},
	},
	output: `{"type":"object","properties":{"data":{"type":"object"},"field_capability_legend":{"type":"object"},"projected":{"type":"string"},` +
		`"provider_url":{"type":"string"},"request_id":{"type":["string","null"]},"http_status":{"type":"integer"},` +
		`"error":{"type":"object","required":["code","message"]}},"anyOf":[{"required":["data"]},{"required":["error"]}]}`,
	call: notYet,
}
