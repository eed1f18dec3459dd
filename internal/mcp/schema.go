package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"pdpp"
	"pdpp/internal/mcp/limits"
	"pdpp/internal/mcp/quote"
	"pdpp/internal/mcp/schematext"
	"pdpp/internal/rawjson"
	"pdpp/internal/rsclient"
	"pdpp/internal/schemadoc"
)

// schemaTool lists what the token may read (mcp-surface §7).
var schemaTool = Tool{
	Name:  "schema",
	title: "What can be read",
	description: "Lists what this token may read; read-only (GET /v1/schema). Compact by default: sources, connections and stream names. " +
		"Continue with schema(stream) for fields, filters, sort, expand and aggregation, with connection_id for one source, then query_records. " +
		`detail:"full" gives the raw JSON Schema and needs stream. Text shows everything needed; structured output has the document. ` +
		"Results name connection_id and connector_key.",
	args: argTable{
		{name: "stream", kind: argStream, about: "One stream: adds fields, filters, sort, expand, aggregation."},
		{name: "connection_id", kind: argID, about: "Show one source only."},
		{name: "detail", kind: argEnum, enum: []string{"compact", "full"}, about: "full = raw JSON Schema; needs stream."},
		{name: "offset", kind: argInt, min: 0, about: "Continues a cut list of fields; the next: line of the cut result has the value. Requires stream."},
	},
	output: `{"type":"object","properties":{"data":{"type":"object"},"field_capability_legend":{"type":"object"},"projected":{"type":"string"},"next":{"type":"object"},` +
		`"provider_url":{"type":"string"},"request_id":{"type":["string","null"]},"http_status":{"type":"integer"},` +
		`"error":{"type":"object","required":["code","message"]}},"anyOf":[{"required":["data"]},{"required":["error"]}]}`,
	limits: fmt.Sprintf("Text: at most %d bytes without a stream (every stream name is in it, whatever the size), %d with one. Structured output: at most %d bytes; "+
		"%d with `detail:\"full\"`. When the server's answer is larger, or not compact, the adapter reduces it and says `projected=adapter`.",
		limits.SchemaTextMax, limits.ScopedTextMax, limits.SchemaStructuredMax, limits.FullStructuredMax),
	call: callSchema,
}

func callSchema(ctx context.Context, c *call) (*Result, error) {
	if c.args.Has("offset") && !c.args.Has("stream") {
		return nil, &adapterError{
			Code: pdpp.CodeInvalidRequest, Param: "offset", Next: &nextCall{"schema", []byte("{}")},
			Message: "offset continues the list of fields of one stream. Add stream, or leave offset out to list the streams.",
		}
	}
	if c.args.Text("detail") == "full" {
		return c.fullSchema(ctx)
	}
	return c.compactSchema(ctx)
}

// scope returns the scope of a schema call.
func (c *call) scope() schematext.Scope {
	return schematext.Scope{Stream: c.args.Text("stream"), Connection: c.args.Text("connection_id")}
}

// offset returns the offset of a schema call, or -1.
func (c *call) offset() int {
	if n, given := c.args.Int("offset"); given {
		return n
	}
	return -1
}

// compactSchema returns the compact document as received, or a projection (MS-84).
func (c *call) compactSchema(ctx context.Context) (*Result, error) {
	answer, err := c.readSchema(ctx, "view", "compact")
	var up *rsclient.Error
	if errors.As(err, &up) && up.Status == http.StatusBadRequest {
		answer, err = c.readSchema(ctx, "", "") // the server may not support the view
	}
	if err != nil {
		return nil, err
	}
	d := schematext.Read(answer.Body, c.scope())
	var members rawjson.Writer
	members.Key("field_capability_legend")
	members = schemadoc.AppendLegend(members)
	structured := c.structured(d.Document, answer.RequestID, members...)
	isExact := d.IsExact() && len(structured) <= limits.SchemaStructuredMax
	if !isExact {
		around := len(structured) - len(d.Document) - len(members)
		members.Text("projected", "adapter")
		around += len(c.appendContinue(members, d, schematext.MaxOffset))
		doc, next := d.Project(limits.SchemaStructuredMax-around, c.offset())
		if next >= 0 {
			members = c.appendContinue(members, d, next)
		}
		structured = c.structured(doc, answer.RequestID, members...)
	}
	text := c.schemaText(schematext.Config{Document: d, Detail: "compact", Projected: !isExact})
	return &Result{Structured: structured, Content: []Block{{Text: text}}}, nil
}

// appendContinue appends the call that continues a compact document at an offset.
func (c *call) appendContinue(w rawjson.Writer, d *schematext.Document, offset int) rawjson.Writer {
	next := nextCall{c.tool.Name, d.ContinueArgs("compact", offset)}
	next.write(&w, "next")
	return w
}

// schemaText returns the text of a schema result.
func (c *call) schemaText(cfg schematext.Config) string {
	const maxNotes = 8 // lines of notes
	d := cfg.Document
	notes := warningLines(rsclient.PageOf(d.Document).Warnings)
	cfg.Notes = append(notes, unavailableLines(maxNotes-len(notes), d.Document, d.Meta)...)
	cfg.Offset, cfg.IsStream = c.offset(), isStreamName
	return schematext.Text(cfg)
}

// readSchema reads the scope of the call, with one more parameter unless its name is empty.
func (c *call) readSchema(ctx context.Context, name, value string) (*rsclient.Answer, error) {
	scope := c.scope()
	var q rsclient.Query
	if name != "" {
		q.Set(name, value)
	}
	q.Set("stream", scope.Stream)
	q.Set("connection_id", scope.Connection)
	return c.RS.Schema(ctx, q)
}

// fullSchema returns the exhaustive description of one stream on one connection (MS-86).
func (c *call) fullSchema(ctx context.Context) (*Result, error) {
	scope := c.scope()
	if scope.Stream == "" {
		return nil, &adapterError{
			Code: pdpp.CodeInvalidRequest, Param: "detail", Next: &nextCall{"schema", []byte("{}")},
			Message: `detail:"full" describes one stream of one source: call schema(stream, connection_id, detail:"full").`,
		}
	}
	answer, err := c.readSchema(ctx, "detail", "full")
	if err != nil {
		return nil, ambiguousAnswer(err)
	}
	d := schematext.Read(answer.Body, scope)
	if choices, total := d.Choices(); total > 1 {
		return nil, ambiguousDetail(choices, total)
	}
	data := d.Scoped()
	structured := c.structured(data, answer.RequestID)
	if len(structured) > limits.FullStructuredMax {
		return nil, &adapterError{
			Code: pdpp.CodeSchemaTooLarge, Param: "detail", Next: &nextCall{"schema", scope.Args()},
			Message: "The full description of the stream " + quote.ID(scope.Stream) + " is too large. Add connection_id, or use compact.",
		}
	}
	text := c.schemaText(schematext.Config{Document: d, Detail: "full", Bytes: len(data)})
	return &Result{Structured: structured, Content: []Block{{Text: text}}}, nil
}

func ambiguousDetail(choices []byte, total int) error {
	var members rawjson.Writer
	members.Member("available_connections", choices)
	members.Number("available_connection_count", total)
	return &adapterError{
		Code: pdpp.CodeAmbiguousSchemaDetail, Param: "connection_id", RetryWith: "connection_id",
		Message: "Several connections have this stream. Retry with the connection_id of one of them.",
		Members: members,
	}
}

// ambiguousAnswer returns the adapter's own error for an ambiguity that a server reports
// under another code. Every other error is unchanged.
func ambiguousAnswer(err error) error {
	var up *rsclient.Error
	if !errors.As(err, &up) || up.Status != http.StatusConflict || up.Code == pdpp.CodeAmbiguousSchemaDetail {
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
