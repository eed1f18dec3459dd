package mcp

// aggregateTool computes numbers without records (mcp-surface §9).
var aggregateTool = Tool{
	Name:  "aggregate",
	Title: "Numbers without records",
	Description: "Computes one metric over the records of a stream, optionally grouped; read-only (GET /v1/streams/{stream}/aggregate). " +
		"At most one of group_by and group_by_time. Never returns record bodies; for those use query_records. " +
		"Text shows the numbers, structured output has all groups. A positive other_count means that groups beyond limit were cut. See schema for legal fields.",
	args: argTable{
		{name: "stream", kind: argStream, required: true},
		{name: "metric", kind: argEnum, required: true, enum: []string{"count", "sum", "min", "max", "count_distinct"}},
		{name: "field", kind: argText},
		{name: "group_by", kind: argText},
		{name: "group_by_time", kind: argText},
		{name: "granularity", kind: argEnum, enum: []string{"minute", "hour", "day", "week", "month", "quarter", "year"}},
		{name: "time_zone", kind: argText},
		{name: "order", kind: argEnum, enum: []string{"asc", "desc"}, about: "Time buckets: which end limit keeps."},
		{name: "limit", kind: argInt, min: 1, max: 100},
		{name: "filter", kind: argFilter},
		{name: "connection_id", kind: argID, about: "Count one source only."},
	},
	output: `{"type":"object","properties":{"data":{"type":"object"},` +
		`"provider_url":{"type":"string"},"request_id":{"type":["string","null"]},"http_status":{"type":"integer"},` +
		`"error":{"type":"object","required":["code","message"]}},"anyOf":[{"required":["data"]},{"required":["error"]}]}`,
	call: notYet,
}
