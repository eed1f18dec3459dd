package rs

import (
	"slices"
	"strconv"

	"pdpp"
	"pdpp/internal/grant"
	"pdpp/internal/query"
	"pdpp/internal/rawjson"
)

// warnings are rendered warning objects (C-32), without duplicates.
type warnings [][]byte

func (w *warnings) add(warning []byte) {
	for _, have := range *w {
		if string(have) == string(warning) {
			return
		}
	}
	*w = append(*w, warning)
}

// limitClamped warns that limit was reduced (C-9).
func (w *warnings) limitClamped(l query.Limit) {
	if l.Requested != 0 {
		w.clamped("limit", l.Requested, pdpp.MaxPage)
	}
}

// clamped warns that a parameter was reduced to its maximum.
func (w *warnings) clamped(param string, requested, most int) {
	b := rawjson.Writer(`{"code":"limit_clamped"`)
	b.Text("param", param)
	b.Text("message", param+" reduced to "+strconv.Itoa(most))
	b.OpenObject("detail")
	b.Number("requested_limit", requested)
	b.Number("max_limit", most)
	b.End("}}")
	w.add(b)
}

// pageLimited warns that a page ended because of its size (REC-40).
func (w *warnings) pageLimited(pageBytes, returned, limit int, preferred bool) {
	b := rawjson.Writer(`{"code":"page_bytes_limited"`)
	if preferred {
		b.Text("param", "Prefer")
	}
	b.Text("message", "The page reached its size limit. Continue with the cursor.")
	b.OpenObject("detail")
	b.Number("page_bytes", pageBytes)
	b.Number("returned", returned)
	b.Number("limit", limit)
	b.End("}}")
	w.add(b)
}

// skippedBinding warns that a source was skipped (C-25).
func (w *warnings) skippedBinding(key pdpp.ConnectorKey, id pdpp.ConnectionID) {
	w.skipped("This source does not support what the request uses, so it was left out.",
		"connector_key", string(key), "connection_id", string(id))
}

// unsearchable warns that a stream has no granted search field, on any connection.
func (w *warnings) unsearchable(key pdpp.ConnectorKey, stream string) {
	w.skipped("This stream has no field to search, so it was left out.",
		"connector_key", string(key), "stream", stream)
}

// skippedRelation warns that a relation is not granted on a parent's connection (REC-26).
func (w *warnings) skippedRelation(rel grant.Relation, id pdpp.ConnectionID) {
	w.skipped("The related stream is not granted on this connection; the relation is empty.",
		"stream", rel.Stream, "connection_id", string(id))
}

// skippedStream warns that a granted stream is no longer declared (C-28).
func (w *warnings) skippedStream(name string) {
	w.skipped("The source no longer declares this granted stream.", "stream", name)
}

// skipped warns that the source that detail names was skipped. detail alternates names
// and values.
func (w *warnings) skipped(message string, detail ...string) {
	b := rawjson.Writer(`{"code":"source_skipped_not_applicable"`)
	b.Text("message", message)
	b.OpenObject("detail")
	for pair := range slices.Chunk(detail, 2) {
		b.Text(pair[0], pair[1])
	}
	b.End("}}")
	w.add(b)
}

// rebuilding warns that a search may miss records.
func (w *warnings) rebuilding() {
	w.add([]byte(`{"code":"partial_results","message":"The manifest of a searched stream changed, and its index is being rebuilt. Some records may be missing. Search again later."}`))
}
