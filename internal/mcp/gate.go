package mcp

import (
	"context"
	"slices"

	"pdpp"
	"pdpp/internal/mcp/quote"
	"pdpp/internal/rsclient"
)

// gate refuses an expansion that the live schema does not offer, before any record is read
// (MS-47). When the schema cannot be read, the server decides.
func (c *call) gate(ctx context.Context) error {
	asked := slices.Clone(c.args.List("expand"))
	for _, l := range c.args.limits {
		asked = append(asked, l.Relation)
	}
	if len(asked) == 0 {
		return nil
	}
	var q rsclient.Query
	q.Set("view", "compact")
	q.Set("stream", c.stream())
	q.Set("connection_id", c.connection())
	answer, err := c.RS.Schema(ctx, q)
	if err != nil {
		return ctx.Err()
	}
	offered, known := c.relations(rsclient.SchemaOf(answer.Body))
	if !known {
		return nil
	}
	return c.offers(offered, asked)
}

// offers refuses relations that are not offered.
func (c *call) offers(offered, asked []string) error {
	stream := "The stream " + quote.ID(c.stream())
	const where = " The tool schema lists them: GET /v1/schema (expand_capabilities)."
	fail := &adapterError{Code: pdpp.CodeInvalidExpand, Param: "expand", Next: &nextCall{"schema", schemaArgs(c.stream(), c.connection())}}
	if !c.args.Has("expand") {
		fail.Param = "expand_limit"
	}
	if len(offered) == 0 {
		fail.Message = stream + " offers no relation to expand." + where
		return fail
	}
	for _, name := range asked {
		if !slices.Contains(offered, name) {
			fail.Message = stream + " has no relation " + quote.ID(cutName(name)) + "; it has " + quote.IDs(offered, ", ") + "." + where
			return fail
		}
	}
	return nil
}

// relations returns the usable relations of the stream, over all rows that the read may
// reach, and keeps their keys. known is false when no row names the stream.
func (c *call) relations(s rsclient.Schema) (names []string, known bool) {
	c.keys = map[string]string{}
	rows := slices.Clone(s.Streams)
	for _, connector := range s.Connectors {
		rows = append(rows, connector.Rows...)
	}
	for _, row := range rows {
		if row.Name != c.stream() || !isOn(row, c.connection()) {
			continue
		}
		known = true
		for _, r := range row.Relations {
			if r.Usable && !slices.Contains(names, r.Name) {
				names = append(names, r.Name)
				c.keys[r.Name] = r.Key
			}
		}
	}
	return names, known
}

// isOn reports whether a row belongs to a connection; a row that names none belongs to any.
func isOn(row rsclient.SchemaRow, connection string) bool {
	return connection == "" || len(row.Connections) == 0 ||
		slices.ContainsFunc(row.Connections, func(c rsclient.Connection) bool { return c.ID == connection })
}
