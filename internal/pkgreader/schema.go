package pkgreader

import (
	"context"

	"pdpp/internal/rawjson"
	"pdpp/internal/rsclient"
)

// Schema reads the schemas of all members and merges them into one document, or,
// with a connection_id or in full, that of one member (H-92).
func (p *Package) Schema(ctx context.Context, q rsclient.Query) (*rsclient.Answer, error) {
	read := func(r rsclient.Reader) (*rsclient.Answer, error) { return r.Schema(ctx, q) }
	stream := q.Get("stream")
	if q.Get("connection_id") != "" {
		return readOne(ctx, p, stream, q, read)
	}
	members := granters(p.usable(), stream)
	isFull := q.Get("detail") == "full"
	switch {
	case isFull && stream == "":
		return nil, p.refuse(ctx, schemaOfAll)
	case len(p.usable()) == 0:
		return nil, p.empty(ctx)
	case len(members) == 0:
		return nil, p.notGranted(ctx, "stream", stream)
	case isFull && len(members) == 1:
		return readFrom(p, members[0], read)
	case isFull:
		several := severalSchemas
		several.stream = stream
		return nil, p.choice(ctx, several, members)
	}
	return p.mergedSchema(ctx, members, q)
}

func (p *Package) mergedSchema(ctx context.Context, members []*Member, q rsclient.Query) (*rsclient.Answer, error) {
	outcomes, err := ask(ctx, p, members, func(ctx context.Context, i int) (*rsclient.Answer, error) {
		return members[i].Reader.Schema(ctx, q)
	})
	if err != nil {
		return nil, err
	}
	if e := firstFailure(p, outcomes); e != nil {
		return nil, e
	}
	d := document{isCompact: true}
	for i, o := range outcomes {
		if o.failure != nil {
			d.partial = true
			d.warnings.missing(absent(members[i], o.failure))
			continue
		}
		d.add(members[i], rsclient.DocumentOf(o.answer.Body))
	}
	return &rsclient.Answer{Body: p.schemaBody(&d), RequestID: p.requestID(ctx)}, nil
}

// document collects a merged schema document.
type document struct {
	first      []byte // the document of the first member that answered
	isCompact  bool   // every member's document is compact
	connectors connectors
	partial    bool
	warnings   warnings
}

// add adds the connectors of a member's document.
func (d *document) add(m *Member, doc []byte) {
	if d.first == nil {
		d.first = doc
	}
	detail, _ := rawjson.Get(doc, "detail")
	d.isCompact = d.isCompact && string(detail) == `"compact"`
	d.warnings.repeat(rsclient.PageOf(doc).Warnings)
	list, _ := rawjson.Get(doc, "connectors")
	nested := 0
	for c := range rawjson.Elements(list) {
		streams, _ := rawjson.Get(c, "streams")
		nested += elements(streams)
		d.connectors.add(m, c)
	}
	if streams, _ := rawjson.Get(doc, "streams"); nested == 0 && elements(streams) > 0 {
		d.connectors.add(m, m.connector(streams))
	}
}

// connector wraps the rows of a document without connectors in a connector object.
func (m *Member) connector(streams []byte) []byte {
	c := rawjson.Writer("{")
	c.Text("object", "connector")
	c.Optional("connector_key", m.ConnectorKey)
	c.Member("streams", streams)
	return append(c, '}')
}

func elements(list []byte) int {
	n := 0
	for range rawjson.Elements(list) {
		n++
	}
	return n
}

// schemaBody returns the merged document, with the member package before
// its counts.
func (p *Package) schemaBody(d *document) []byte {
	o := rawjson.Writer("{")
	o.Text("object", "schema")
	if d.isCompact {
		o.Text("detail", "compact")
		keep(&o, d.first, "compact_scope")
	}
	o.OpenObject("bearer")
	o.Text("token_kind", "mcp_package")
	o.Text("scope", "grant")
	client, _ := rawjson.Get(d.first, "bearer")
	keep(&o, client, "client_id")
	o.End("}")
	o.OpenObject("package")
	o.Number("member_count", len(p.usable()))
	o.End("}")
	if d.partial {
		o.Flag("partial", true)
	}
	o.Number("connector_count", len(d.connectors.list))
	o.Number("stream_count", d.connectors.rows())
	o.Member("connectors", d.connectors.json())
	p.addUnavailable(&o)
	keep(&o, d.first, "links")
	o.Literal(`"meta":{"count":{"kind":"none"}`)
	o.Member("warnings", d.warnings.json())
	o.End("}}")
	return o
}
