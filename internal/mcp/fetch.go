package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"pdpp"
	"pdpp/internal/evidence"
	"pdpp/internal/mcp/limits"
	"pdpp/internal/mcp/quote"
	"pdpp/internal/rawjson"
	"pdpp/internal/rsclient"
)

// fetchTool returns one record as a document (mcp-surface §11).
var fetchTool = Tool{
	Name:  "fetch",
	title: "One record as a document",
	description: "Returns one document (id, title, text, url, metadata) for a handle from search or query_records; read-only " +
		"(GET /v1/streams/{stream}/records/{record_id}). fields narrows it. Without declared text the document text is a rendering of the projected fields. " +
		"Long text continues with read_record_field. Text repeats the structured output and adds a card. See server instructions.",
	args: argTable{
		{name: "id", kind: argHandle, required: true, about: "Handle as shown: connection/stream:record, stream:record, or pdpp://record/…"},
		{name: "connection_id", kind: argID, about: "Only for an id that has none."},
		{name: "fields", kind: argTexts, about: "Only these fields; default all."},
		{name: "expand", kind: argExpand, about: "Relations to include, from schema."},
		{name: "expand_limit", kind: argExpandLimit, about: "{relation: n} = most children of each."},
	},
	output: `{"type":"object","properties":{"id":{"type":"string"},"title":{"type":"string"},"text":{"type":"string"},"url":{"type":"string"},` +
		`"metadata":{"type":"object"},"http_status":{"type":"integer"},"error":{"type":"object","required":["code","message"]}},` +
		`"anyOf":[{"required":["id","title","text","url","metadata"]},{"required":["error"]}]}`,
	limits: fmt.Sprintf("The document's text is whole up to %d bytes. Structured output: at most %d bytes; `content[0]` is the same object as JSON text, `content[1]` a card of at most %d bytes.",
		limits.DocTextMax, limits.FetchMax, limits.CardMax),
	call:     fetch,
	recovery: recovery{notFound: func(c *call, _ *rsclient.Error) *nextCall { return c.firstRecords() }},
}

// fetch reads one record and returns it as a document (MS-142).
func fetch(ctx context.Context, c *call) (*Result, error) {
	h, err := c.args.located()
	if err != nil {
		return nil, err
	}
	if err := c.checkExpand(ctx); err != nil {
		return nil, err
	}
	q := c.query("id", "connection_id")
	q.Set("connection_id", h.Connection)
	answer, err := c.RS.Record(ctx, h.Stream, h.Record, q, rsclient.Prefer{FieldPreview: limits.FetchField})
	if err != nil {
		return nil, c.narrower(err)
	}
	d := c.document(answer)
	d.composeWithin(d.relations)
	d.collect()
	links := d.links()
	sc := rawjson.QuoteHuge(d.structured()) // here, since the text repeats it
	content := append(make([]Block, 0, 2+len(links)), Block{Text: string(sc)}, Block{Text: d.card()})
	for i := range links {
		content = append(content, Block{Link: &links[i]})
	}
	return &Result{Structured: sc, Content: content}, nil
}

// narrower adds the call that lists the fields of a stream to the error of a record that is
// too large: the client can then name fewer (MS-45).
func (c *call) narrower(err error) error {
	var e *rsclient.Error
	if !errors.As(err, &e) || e.Code != pdpp.CodeUpstreamTooLarge {
		return err
	}
	next := &nextCall{"schema", schemaArgs(c.stream(), c.connection())}
	return &adapterError{Code: e.Code, Message: e.Message + " Name fewer fields.", Next: next}
}

// document returns the answer as a document, without its text.
func (c *call) document(answer *rsclient.Answer) *document {
	d := &document{id: c.args.Text("id"), provider: c.RS.Provider(), keys: c.keys}
	body := answer.Body
	if answer.Applied.FieldPreview == 0 {
		body, d.projected = rsclient.PreviewDetail(body, limits.FetchField)
	}
	asked := rsclient.Identity{Connection: c.connection(), Stream: c.args.handle.Stream, Record: c.args.handle.Record}
	d.Asked, d.Declared, d.Texts = asked, rsclient.PresentationsOf(body), new(rawjson.Texts)
	if d.Detail(body); !Handle(d.Identity).isNamed() {
		d.Identity = asked
	}
	d.describe(c.args.List("fields"))
	if strings.HasPrefix(d.id, recordURI) {
		if id, embedded := c.args.handle.String(); embedded {
			d.id = id
		}
	}
	own := ""
	for _, f := range d.all {
		if f.Name == "url" {
			own, _ = rawjson.String(f.Value)
		}
	}
	d.url = d.ref.url(d.provider, own, "")
	return d
}

// links returns at most three resources: the record, then texts that are cut, then binaries
// (MS-147).
func (d *document) links() []Link {
	const maxLinks = 3
	list := []Link{{URI: d.ref.URI(), Name: quote.Visible(d.id), MimeType: "application/json"}}
	for _, c := range d.cuts {
		if c.Shape == evidence.ShapeText {
			w := d.ref.from(c.Name, 0).at(c.shown, limits.WindowDefault)
			list = append(list, Link{URI: w.URI(), Name: quote.Visible(c.Name), MimeType: "text/plain"})
		}
	}
	for _, f := range d.binaries {
		if f.File.BlobID == "" {
			continue
		}
		link := Link{URI: blobHandle{d.ref.Connection, f.File.BlobID}.URI(), Name: quote.Visible(f.Name), MimeType: evidence.Clean(f.File.MimeType)}
		link.Size = max(0, f.File.SizeBytes)
		list = append(list, link)
	}
	return list[:min(maxLinks, len(list))]
}
