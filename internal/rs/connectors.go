package rs

import (
	"net/url"
	"slices"
	"time"

	"pdpp"
	"pdpp/internal/grant"
	"pdpp/internal/rawjson"
	"pdpp/internal/schemadoc"
)

// listConnectors answers GET /v1/connectors: the streams of GET /v1/streams grouped by
// connector, each with totals over all connections (S-9).
func listConnectors(q *request) error {
	rows, err := q.allRows()
	if err != nil {
		return err
	}
	q.body.Literal(`{"object":"list","data":[`)
	for len(rows) > 0 {
		n := sameConnector(rows)
		if err := q.writeConnector(rows[:n]); err != nil {
			return err
		}
		rows = rows[n:]
	}
	q.closeList(page{count: notCounted}, nil)
	return nil
}

// sameConnector returns the number of leading rows with the connector of the first.
func sameConnector(rows []grant.Row) int {
	n := slices.IndexFunc(rows, func(row grant.Row) bool { return row.Manifest.ConnectorKey != rows[0].Manifest.ConnectorKey })
	if n < 0 {
		return len(rows)
	}
	return n
}

func (q *request) writeConnector(rows []grant.Row) error {
	m, w := rows[0].Manifest, &q.body
	key := string(m.ConnectorKey)
	w.Literal(`{"object":"connector"`)
	w.Text("connector_id", key)
	w.Text("connector_key", key)
	w.Optional("connector_display_name", m.DisplayName)
	w.Literal(`"source":{"kind":"connector"`)
	w.Text("id", key)
	w.End("}")
	w.Number("stream_count", len(rows))
	w.OpenArray("streams")
	for _, row := range rows {
		if err := q.writeConnectorStream(row); err != nil {
			return err
		}
	}
	w.End("]}")
	return nil
}

func (q *request) writeConnectorStream(row grant.Row) error {
	var total int64
	var last time.Time
	found := false
	for _, b := range grant.Bindings([]grant.Row{row}) {
		n, updated, some, err := q.extent(b)
		if err != nil {
			return err
		}
		total += n
		if some && (!found || updated.After(last)) {
			last, found = updated, true
		}
	}
	w := &q.body
	w.Literal(`{"object":"stream"`)
	w.Text("name", row.Stream.Name)
	writeExtent(w, total, last, found)
	writeStreamCapabilities(w, row.Manifest.ConnectorKey, row.Stream.Name, schemadoc.UsesOf(q.reach.Reach, row))
	w.End("}")
	return nil
}

// writeStreamCapabilities writes the reads that a stream supports, with their URLs.
func writeStreamCapabilities(w *rawjson.Writer, key pdpp.ConnectorKey, stream string, uses schemadoc.Uses) {
	path, query := "/v1/streams/"+url.PathEscape(stream), "?connector_id="+url.QueryEscape(string(key))
	w.OpenObject("capabilities")
	w.Flag("stream_metadata", true)
	w.Text("metadata_url", path+query)
	w.Flag("records", true)
	w.Text("records_url", path+"/records"+query)
	w.Flag("aggregate", uses.Aggregate)
	if uses.Aggregate {
		w.Text("aggregate_url", path+"/aggregate"+query)
	} else {
		w.Null("aggregate_url")
	}
	w.Flag("exact_filters", uses.ExactFilters)
	w.Flag("range_filters", uses.RangeFilters)
	w.Flag("expand", uses.Expand)
	w.Flag("changes_since", true)
	w.End("}")
}
