package mcp

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"pdpp"
	"pdpp/internal/mcp/quote"
	"pdpp/internal/rawjson"
	"pdpp/internal/rsclient"
)

// relationLimit is one entry of expand_limit.
type relationLimit struct {
	Relation string
	Limit    int
}

// takeExpand reads expand and expand_limit.
func (a *arguments) takeExpand(decl *arg, in *argument) error {
	bad := func(what string) error {
		return &adapterError{Code: pdpp.CodeInvalidExpand, Param: decl.name, Message: what + " The tool schema lists the relations: GET /v1/schema (expand_capabilities)."}
	}
	if decl.kind == argExpand {
		list, ok := texts(in.value)
		if !ok || slices.ContainsFunc(list, func(s string) bool { return strings.ContainsAny(s, "[]") }) {
			return bad("expand must be a non-empty list of relation names.")
		}
		in.list = list
	}
	if decl.kind != argExpandLimit {
		return nil
	}
	value := in.value
	if rawjson.KindOf(value) != rawjson.KindObject || string(value) == "{}" {
		return bad("expand_limit must be a non-empty object {relation: n}.")
	}
	for name, v := range rawjson.Members(value) {
		key := strconv.Quote(cutName(string(name)))
		if len(name) == 0 || strings.ContainsAny(string(name), "[]") {
			return bad("The key " + key + " of expand_limit is not a plain relation name, as in {\"messages\":3}.")
		}
		n, ok := wholeNumber(v)
		if !ok || n < 1 {
			return bad("The limit of " + key + " in expand_limit must be an integer of at least 1.")
		}
		a.limits = append(a.limits, relationLimit{string(name), n})
	}
	return nil
}

// checkExpand refuses relations that the current schema does not offer, before a record is
// read (MS-47). If the schema cannot be read, the check is left to the server.
func (c *call) checkExpand(ctx context.Context) error {
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
	return c.checkOffered(offered, asked)
}

// checkOffered refuses requested relations that are not offered.
func (c *call) checkOffered(offered, asked []string) error {
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

// relations returns the usable relations of the stream in all rows that the read may use,
// and stores their foreign keys in c.keys. known is false when no row names the stream.
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
