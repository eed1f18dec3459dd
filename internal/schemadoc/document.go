package schemadoc

import (
	"pdpp"
	"pdpp/internal/grant"
)

// indexBudget is the size in bytes above which an index contains stream names only
//
const indexBudget = 60_000

// Request holds the parts of a request that its document contains.
type Request struct {
	Self       string            // the request target as received
	Stream     string            // the selected stream, or ""
	Connection pdpp.ConnectionID // the selected connection, or ""
	Warnings   [][]byte          // C-32 objects as JSON, before those of the document
}

// AppendFull appends the full document.
func AppendFull(dst []byte, r *grant.Reach, rows []grant.Row, req Request) []byte {
	b := buffer{append(dst, `{"object":"schema"`...)}
	b.connectors(r, rows, func(c connector) {
		b.OpenArray("streams")
		for _, row := range c.rows {
			b.Object()
			b.fullRow(r, row, req)
			b.End("}")
		}
		b.End("]")
	})
	b.links(req.Self)
	b.meta(req.Warnings, skipped(r, req))
	b.End("}")
	return b.Writer
}

// AppendIndex appends the compact index. In an index above indexBudget the rows
// contain names only. Its size is not bounded, because names and connection ids are
// never omitted.
func AppendIndex(dst []byte, r *grant.Reach, rows []grant.Row, req Request) []byte {
	warnings := skipped(r, req)
	out := appendCompactDoc(dst, r, rows, compact{
		scope: "index", req: req, warnings: warnings,
		row: func(b *buffer, row grant.Row, shared connSet) { b.indexRow(r, row, req, shared) },
	})
	if len(out)-len(dst) <= indexBudget {
		return out
	}
	return appendCompactDoc(dst, r, rows, compact{
		scope: "index", req: req, warnings: append(warnings, namesOnly()),
		row: func(b *buffer, row grant.Row, shared connSet) { b.nameRow(row, shared) },
	})
}

// AppendScoped appends the compact document of the rows of one stream.
func AppendScoped(dst []byte, r *grant.Reach, rows []grant.Row, req Request) []byte {
	return appendCompactDoc(dst, r, rows, compact{
		scope: "stream", req: req, warnings: skipped(r, req),
		row: func(b *buffer, row grant.Row, shared connSet) { b.scopedRow(r, row, req, shared) },
	})
}

// AppendStream appends the metadata of one stream as a flat object (S-5).
func AppendStream(dst []byte, r *grant.Reach, row grant.Row, req Request) []byte {
	b := buffer{append(dst, '{')}
	b.fullRow(r, row, req)
	b.links(req.Self)
	b.meta(req.Warnings, nil) // C-28 does not apply to a request for one stream
	b.End("}")
	return b.Writer
}

// compact holds the differences between the compact documents.
type compact struct {
	scope    string
	req      Request
	warnings [][]byte
	row      func(b *buffer, row grant.Row, shared connSet)
}

func appendCompactDoc(dst []byte, r *grant.Reach, rows []grant.Row, doc compact) []byte {
	b := buffer{append(dst, `{"object":"schema","detail":"compact"`...)}
	b.Text("compact_scope", doc.scope)
	b.connectors(r, rows, func(c connector) {
		shared := sharedConnections(c.rows)
		if len(shared) > 0 {
			b.connections(shared)
		}
		b.OpenArray("streams")
		for _, row := range c.rows {
			b.Object()
			doc.row(&b, row, setOf(shared))
			b.End("}")
		}
		b.End("]")
	})
	b.OpenObject("links")
	b.Text("self", doc.req.Self)
	b.Literal(`"stream_template":"/v1/schema?view=compact&stream={stream}"`)
	b.Literal(`"full_template":"/v1/schema?stream={stream}&connection_id={connection_id}&detail=full"}`)
	b.meta(doc.req.Warnings, doc.warnings)
	b.End("}")
	return b.Writer
}

// connectors appends bearer, counts and the connectors. streams appends the last
// members of each connector.
func (b *buffer) connectors(r *grant.Reach, rows []grant.Row, streams func(connector)) {
	groups := groupRows(rows)
	b.bearer(r)
	b.Number("connector_count", len(groups))
	b.Number("stream_count", len(rows))
	b.OpenArray("connectors")
	for _, c := range groups {
		b.Object()
		b.Text("object", "connector")
		b.Text("connector_key", string(c.manifest.ConnectorKey))
		b.Text("connector_id", string(c.manifest.ConnectorKey))
		b.Optional("connector_display_name", c.manifest.DisplayName)
		b.OpenObject("source") // never the registry URI (C-22)
		b.Text("kind", "connector")
		b.Text("id", string(c.manifest.ConnectorKey))
		b.End("}")
		b.Number("stream_count", len(c.rows))
		streams(c)
		b.End("}")
	}
	b.End("]")
}

func (b *buffer) bearer(r *grant.Reach) {
	if r.Owner {
		b.Literal(`"bearer":{"token_kind":"owner","scope":"owner"}`)
		return
	}
	b.Literal(`"bearer":{"token_kind":"client","scope":"grant"`)
	b.Text("grant_id", string(r.GrantID))
	b.Text("client_id", string(r.ClientID))
	b.End("}")
}

// connector holds the rows of one connector.
type connector struct {
	manifest *pdpp.Manifest
	rows     []grant.Row
}

// groupRows groups rows by connector, in the order in which connectors first appear.
func groupRows(rows []grant.Row) []connector {
	var out []connector
	at := make(map[pdpp.ConnectorKey]int)
	for _, row := range rows {
		i, seen := at[row.Manifest.ConnectorKey]
		if !seen {
			i = len(out)
			at[row.Manifest.ConnectorKey] = i
			out = append(out, connector{manifest: row.Manifest})
		}
		out[i].rows = append(out[i].rows, row)
	}
	return out
}

func (b *buffer) links(self string) {
	b.OpenObject("links")
	b.Text("self", self)
	b.End("}")
}

// meta appends the count, which a schema does not have (C-31), and the warnings.
func (b *buffer) meta(given, own [][]byte) {
	b.Literal(`"meta":{"count":{"kind":"none"},"warnings":[`)
	for _, w := range given {
		b.Raw(w)
	}
	for _, w := range own {
		b.Raw(w)
	}
	b.End("]}")
}

// skipped returns warnings for granted streams that are no longer declared (C-28). A
// request for one stream omits nothing.
func skipped(r *grant.Reach, req Request) [][]byte {
	if req.Stream != "" {
		return nil
	}
	var out [][]byte
	for _, name := range r.Undeclared {
		b := buffer{[]byte(`{"code":"source_skipped_not_applicable"`)}
		b.Text("message", `Stream "`+name+`" is granted, but its source no longer declares it.`)
		b.OpenObject("detail")
		b.Text("stream", name)
		b.End("}}")
		out = append(out, b.Writer)
	}
	return out
}

// namesOnly warns that an index was reduced to stay near its budget.
func namesOnly() []byte {
	return []byte(`{"code":"partial_results","message":"The index is too large for details; rows are names only. Add stream to see one.",` +
		`"detail":{"rows":"names_only"}}`)
}
