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
	rows, err := q.reach.Select(q.sel)
	if err != nil {
		return err
	}
	for _, name := range q.reach.Undeclared {
		q.warnings.skippedStream(name)
	}
	q.body = appendText(q.body, `{"object":"list","data":[`)
	for i := 0; len(rows) > 0; i++ {
		if i > 0 {
			q.body = append(q.body, ',')
		}
		n := sameConnector(rows)
		if err := q.appendConnector(rows[:n]); err != nil {
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

func (q *request) appendConnector(rows []grant.Row) error {
	m := rows[0].Manifest
	key := string(m.ConnectorKey)
	out := appendText(q.body, `{"object":"connector"`)
	out = appendMember(out, "connector_id", key)
	out = appendMember(out, "connector_key", key)
	out = appendMember(out, "connector_display_name", m.DisplayName)
	out = appendText(out, `,"source":{"kind":"connector","id":`)
	out = rawjson.AppendString(out, key)
	out = appendText(out, `},"stream_count":`)
	out = appendInt(out, len(rows))
	q.body = appendText(out, `,"streams":[`)
	for i, row := range rows {
		if i > 0 {
			q.body = append(q.body, ',')
		}
		if err := q.appendConnectorStream(row); err != nil {
			return err
		}
	}
	q.body = appendText(q.body, "]}")
	return nil
}

func (q *request) appendConnectorStream(row grant.Row) error {
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
	out := appendText(q.body, `{"object":"stream","name":`)
	out = rawjson.AppendString(out, row.Stream.Name)
	out = appendExtent(out, total, last, found)
	q.body = append(appendStreamCapabilities(out, row.Manifest.ConnectorKey, row.Stream.Name, schemadoc.UsesOf(q.reach.Reach, row)), '}')
	return nil
}

// appendStreamCapabilities appends the reads that a stream supports, with their URLs.
func appendStreamCapabilities(out []byte, key pdpp.ConnectorKey, stream string, uses schemadoc.Uses) []byte {
	path, query := "/v1/streams/"+url.PathEscape(stream), "?connector_id="+url.QueryEscape(string(key))
	out = appendText(out, `,"capabilities":{"stream_metadata":true`)
	out = appendMember(out, "metadata_url", path+query)
	out = appendText(out, `,"records":true`)
	out = appendMember(out, "records_url", path+"/records"+query)
	out = appendText(out, `,"aggregate":`)
	out = appendBool(out, uses.Aggregate)
	if uses.Aggregate {
		out = appendMember(out, "aggregate_url", path+"/aggregate"+query)
	} else {
		out = appendText(out, `,"aggregate_url":null`)
	}
	out = appendText(out, `,"exact_filters":`)
	out = appendBool(out, uses.ExactFilters)
	out = appendText(out, `,"range_filters":`)
	out = appendBool(out, uses.RangeFilters)
	out = appendText(out, `,"expand":`)
	out = appendBool(out, uses.Expand)
	return appendText(out, `,"changes_since":true}`)
}
