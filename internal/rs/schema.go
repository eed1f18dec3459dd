package rs

import (
	"pdpp"
	"pdpp/internal/grant"
	"pdpp/internal/schemadoc"
)

// schema answers GET /v1/schema with one of the four bodies of X-2.
func schema(q *request) error {
	compact, full, stream, err := q.schemaParams()
	if err != nil {
		return err
	}
	rows, err := q.schemaRows(stream)
	if err != nil {
		return err
	}
	req := q.schemaRequest()
	req.Stream = stream
	switch {
	case compact && stream == "":
		q.body = schemadoc.AppendIndex(q.body, q.reach.Reach, rows, req)
	case compact:
		q.body = schemadoc.AppendScoped(q.body, q.reach.Reach, rows, req)
	default:
		if full && q.sel.Connection == "" && len(grant.Bindings(rows)) > 1 {
			return q.ambiguous(pdpp.CodeAmbiguousSchemaDetail, "Several connections have this stream.", rows, stream)
		}
		q.body = schemadoc.AppendFull(q.body, q.reach.Reach, rows, req)
	}
	q.body = append(q.body, '\n')
	return nil
}

func (q *request) schemaParams() (compact, full bool, stream string, err error) {
	view, err := q.params.One("view")
	if err != nil {
		return false, false, "", err
	}
	detail, err := q.params.One("detail")
	if err != nil {
		return false, false, "", err
	}
	if stream, err = q.params.One("stream"); err != nil {
		return false, false, "", err
	}
	switch {
	case view != "" && view != "compact":
		err = pdpp.BadParam("view", "The only view of the schema is compact.")
	case detail != "" && detail != "full":
		err = pdpp.BadParam("detail", "The only detail of the schema is full.")
	case view != "" && detail != "":
		err = pdpp.BadParam("detail", "Send either view=compact or detail=full, not both.")
	case detail != "" && stream == "":
		err = pdpp.BadParam("detail", "detail=full is for one stream: send stream, connection_id and detail=full.")
	}
	return view != "", detail != "", stream, err
}

func (q *request) schemaRows(stream string) ([]grant.Row, error) {
	if stream == "" {
		return q.reach.Select(q.sel)
	}
	rows, err := q.reach.Stream(stream, q.sel)
	q.asksFor(rows)
	return rows, err
}

func (q *request) schemaRequest() schemadoc.Request {
	return schemadoc.Request{
		Self: q.target(), Connection: q.sel.Connection, Warnings: q.warnings,
	}
}
