package mcp

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"pdpp/internal/rawjson"
	"pdpp/internal/rsclient"
	"pdpp/internal/schemadoc"
)

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
		{name: "offset", kind: argInt, min: 0, about: "Goes on with a cut list of fields; the next: line of the cut result has it. Needs stream."},
	},
	output: `{"type":"object","properties":{"data":{"type":"object"},"field_capability_legend":{"type":"object"},"projected":{"type":"string"},"next":{"type":"object"},` +
		`"provider_url":{"type":"string"},"request_id":{"type":["string","null"]},"http_status":{"type":"integer"},` +
		`"error":{"type":"object","required":["code","message"]}},"anyOf":[{"required":["data"]},{"required":["error"]}]}`,
	call: callSchema,
}

func callSchema(ctx context.Context, c *call) (*Result, error) {
	if c.args.Has("offset") && !c.args.Has("stream") {
		return nil, &Failure{
			Code: "invalid_request", Param: "offset", Next: &Next{"schema", []byte("{}")},
			Message: "offset goes on with the fields of one stream: add stream, or leave offset out for the list of streams.",
		}
	}
	if c.args.Text("detail") == "full" {
		return c.fullSchema(ctx)
	}
	return c.compactSchema(ctx)
}

func (c *call) schemaScope() schemaScope {
	return schemaScope{c.args.Text("stream"), c.args.Text("connection_id")}
}

// compactSchema gives the compact document as it came, or a projection of what came
// (MS-84).
func (c *call) compactSchema(ctx context.Context) (*Result, error) {
	answer, err := c.readSchema(ctx, "view", "compact")
	var up *rsclient.Error
	if errors.As(err, &up) && up.Status == http.StatusBadRequest {
		answer, err = c.readSchema(ctx, "", "") // it may not know the view
	}
	if err != nil {
		return nil, err
	}
	d := readSchema(answer.Body, c.schemaScope())
	legend := schemadoc.AppendLegend([]byte(`,"field_capability_legend":`))
	text := &schemaText{doc: d, detail: "compact", offset: c.args.number("offset")}
	structured := c.structured(d.Document, answer.RequestID, legend...)
	if !d.Compact || d.excluded > 0 || len(structured) > SchemaStructuredMax {
		members := append(legend, `,"projected":"adapter"`...)
		around := len(structured) - len(d.Document) + len(members) - len(legend)
		around += len(appendNext(nil, text.goOn(maxPlace)))
		doc, next := d.project(SchemaStructuredMax-around, text.offset)
		if next.ok {
			members = appendNext(members, text.goOn(next.n))
		}
		structured = c.structured(doc, answer.RequestID, members...)
		text.projected = true
	}
	return &Result{Structured: structured, Content: []Block{{Text: text.String()}}}, nil
}

// readSchema asks for the scope of the call, with one more parameter unless its name
// is empty.
func (c *call) readSchema(ctx context.Context, name, value string) (*rsclient.Answer, error) {
	scope := c.schemaScope()
	var q rsclient.Query
	if name != "" {
		q.Set(name, value)
	}
	q.Set("stream", scope.stream)
	q.Set("connection_id", scope.connection)
	return c.RS.Schema(ctx, q)
}

// fullSchema gives the exhaustive description of one stream on one connection
// (MS-86).
func (c *call) fullSchema(ctx context.Context) (*Result, error) {
	scope := c.schemaScope()
	if scope.stream == "" {
		return nil, &Failure{
			Code: "invalid_request", Param: "detail", Next: &Next{"schema", []byte("{}")},
			Message: `detail:"full" describes one stream of one source: call schema(stream, connection_id, detail:"full").`,
		}
	}
	answer, err := c.readSchema(ctx, "detail", "full")
	if err != nil {
		return nil, ambiguousAnswer(err)
	}
	d := readSchema(answer.Body, scope)
	if err := d.ambiguous(); err != nil {
		return nil, err
	}
	data := d.scoped()
	structured := c.structured(data, answer.RequestID)
	if len(structured) > FullStructuredMax {
		return nil, &Failure{
			Code: "schema_too_large", Param: "detail", Next: &Next{"schema", schemaArgs(scope.stream, scope.connection)},
			Message: "The full description of the stream " + quoteID(scope.stream) + " is too large. Add connection_id, or use compact.",
		}
	}
	text := &schemaText{doc: d, detail: "full", bytes: len(data), offset: c.args.number("offset")}
	return &Result{Structured: structured, Content: []Block{{Text: text.String()}}}, nil
}

// Most choices that an ambiguity lists; the rest is counted.
const maxChoices = 50

// ambiguous is the error of a full description that several sources could give,
// whether the server minded or not (MS-86).
func (d *schemaDoc) ambiguous() error {
	if d.scope.connection != "" {
		return nil
	}
	var choices [][]byte
	total := 0
	pairs := map[string]bool{}
	for _, src := range d.sources {
		for _, c := range connectionsOf(src.rows) {
			pair := quoteID(src.ConnectorKey) + quoteID(c.ID)
			if pairs[pair] {
				continue
			}
			pairs[pair] = true
			if total++; total <= maxChoices {
				choices = append(choices, choice(src.ConnectorKey, d.scope.stream, c))
			}
		}
	}
	if total <= 1 {
		return nil
	}
	return ambiguousDetail(jsonArray(choices), total)
}

func choice(connector, stream string, c rsclient.Connection) []byte {
	var o jsonObject
	o.text("connection_id", c.ID)
	o.text("connector_key", connector)
	o.text("stream", stream)
	if c.DisplayName != "" {
		o.text("display_name", c.DisplayName)
	}
	return o.close()
}

func ambiguousDetail(choices []byte, total int) error {
	members := append([]byte(`,"available_connections":`), choices...)
	members = append(members, `,"available_connection_count":`...)
	return &Failure{
		Code: "ambiguous_schema_detail", Param: "connection_id", RetryWith: "connection_id",
		Message: "Several connections have this stream. Retry with the connection_id of one of them.",
		Members: strconv.AppendInt(members, int64(total), 10),
	}
}

// ambiguousAnswer gives an ambiguity that a server reports under another code its
// own; every other error stays what it is.
func ambiguousAnswer(err error) error {
	var up *rsclient.Error
	if !errors.As(err, &up) || up.Status != http.StatusConflict || up.Code == "ambiguous_schema_detail" {
		return err
	}
	choices, _ := rawjson.Get(up.Object, "available_connections")
	if rawjson.KindOf(choices) != rawjson.KindArray {
		return err
	}
	total := 0
	for range rawjson.Elements(choices) {
		total++
	}
	return ambiguousDetail(choices, total)
}
