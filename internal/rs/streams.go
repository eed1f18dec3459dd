package rs

import (
	"time"

	"pdpp"
	"pdpp/internal/grant"
	"pdpp/internal/query"
	"pdpp/internal/rawjson"
	"pdpp/internal/schemadoc"
)

// listStreams answers GET /v1/streams: one entry per binding (S-2 to S-4).
func listStreams(q *request) error {
	rows, err := q.allRows()
	if err != nil {
		return err
	}
	q.body.Literal(`{"object":"list","data":[`)
	for _, b := range grant.Bindings(rows) {
		if err := q.writeStream(b); err != nil {
			return err
		}
	}
	q.closeList(page{count: notCounted}, nil)
	return nil
}

func (q *request) writeStream(b grant.Binding) error {
	n, last, found, err := q.extent(b)
	if err != nil {
		return err
	}
	key := string(b.Manifest.ConnectorKey)
	w := &q.body
	w.Literal(`{"object":"stream"`)
	w.Text("name", b.Stream.Name)
	w.Optional("label", b.Stream.Label)
	writeExtent(w, n, last, found)
	w.Text("connection_id", string(b.Connection.ID))
	w.Text("connector_key", key)
	w.Text("connector_id", key)
	w.Optional("display_name", b.Connection.DisplayName())
	w.Literal(`"source":{"kind":"connector"`)
	w.Text("id", key)
	w.End("}}")
	return nil
}

// extent returns the number of visible records of a binding and their greatest emitted_at
// (S-3). found is false when there are none.
func (q *request) extent(b grant.Binding) (n int64, last time.Time, found bool, err error) {
	src := sourceOf(b)
	if n, err = q.view.Count(query.List{Subject: q.reach.Subject, Sources: []query.Source{src}}); err != nil {
		return 0, last, false, err
	}
	last, found, err = q.view.LastEmitted(q.reach.Subject, src)
	return n, last, found, err
}

func writeExtent(w *rawjson.Writer, n int64, last time.Time, found bool) {
	w.Key("record_count")
	w.Int(n)
	if !found {
		w.Null("last_updated")
		return
	}
	writeTime(w, "last_updated", last)
}

// streamMetadata answers GET /v1/streams/{stream} (S-5 to S-8).
func streamMetadata(q *request) error {
	rows, err := q.streamRows(q.vars.get("stream"))
	if err != nil {
		return err
	}
	if len(rows) > 1 {
		return q.ambiguous(pdpp.CodeAmbiguousConnection, "Several connectors have this stream.", rows, "")
	}
	q.body = schemadoc.AppendStream(q.body, q.reach.Reach, rows[0], q.schemaRequest())
	q.body = append(q.body, '\n')
	return nil
}

// ambiguous returns the error of a read that matches several connections (C-43).
func (q *request) ambiguous(code pdpp.Code, message string, rows []grant.Row, stream string) error {
	e := &pdpp.Error{
		Code: code, Param: "connection_id", RetryWith: "connection_id",
		Message: message + " Repeat the request with one of the connection_id values listed.",
	}
	for _, b := range grant.Bindings(rows) {
		ref := q.reach.Ref(b)
		ref.Stream = stream
		e.Available = append(e.Available, ref)
	}
	return e
}

// sourceOf returns a binding as the store reads it, with the bounds of the grant.
func sourceOf(b grant.Binding) query.Source {
	return query.Source{
		Connection: b.Connection.ID, Stream: b.Stream,
		Time: b.Access.Time, Resources: b.Access.Resources,
	}
}
