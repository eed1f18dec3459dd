package rs

import (
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
	b := appendText(nil, `{"code":"limit_clamped"`)
	b = appendMember(b, "param", param)
	b = appendMember(b, "message", param+" reduced to "+strconv.Itoa(most))
	b = appendText(b, `,"detail":{"requested_limit":`)
	b = appendInt(b, requested)
	b = appendText(b, `,"max_limit":`)
	b = appendInt(b, most)
	w.add(appendText(b, "}}"))
}

// pageLimited warns that a page ended because of its size (REC-40).
func (w *warnings) pageLimited(pageBytes, returned, limit int, preferred bool) {
	b := appendText(nil, `{"code":"page_bytes_limited",`)
	if preferred {
		b = appendText(b, `"param":"Prefer",`)
	}
	b = appendText(b, `"message":"The page reached its size limit. Continue with the cursor.","detail":{"page_bytes":`)
	b = appendInt(b, pageBytes)
	b = appendText(b, `,"returned":`)
	b = appendInt(b, returned)
	b = appendText(b, `,"limit":`)
	b = appendInt(b, limit)
	w.add(appendText(b, "}}"))
}

// skippedBinding warns that a source was skipped (C-25).
func (w *warnings) skippedBinding(key pdpp.ConnectorKey, id pdpp.ConnectionID) {
	b := appendText(nil, `{"code":"source_skipped_not_applicable","message":"This source does not support what the request uses, so it was left out.","detail":{"connector_key":`)
	b = rawjson.AppendString(b, string(key))
	b = appendText(b, `,"connection_id":`)
	b = rawjson.AppendString(b, string(id))
	w.add(appendText(b, "}}"))
}

// unsearchable warns that a stream has no granted search field, on any connection.
func (w *warnings) unsearchable(key pdpp.ConnectorKey, stream string) {
	b := appendText(nil, `{"code":"source_skipped_not_applicable","message":"This stream has no field to search, so it was left out.","detail":{"connector_key":`)
	b = rawjson.AppendString(b, string(key))
	b = appendText(b, `,"stream":`)
	b = rawjson.AppendString(b, stream)
	w.add(appendText(b, "}}"))
}

// skippedRelation warns that a relation is not granted on a parent's connection (REC-26).
func (w *warnings) skippedRelation(rel grant.Relation, id pdpp.ConnectionID) {
	b := appendText(nil, `{"code":"source_skipped_not_applicable","message":"The related stream is not granted on this connection; the relation is empty.","detail":{"stream":`)
	b = rawjson.AppendString(b, rel.Stream)
	b = appendText(b, `,"connection_id":`)
	b = rawjson.AppendString(b, string(id))
	w.add(appendText(b, "}}"))
}

// skippedStream warns that a granted stream is no longer declared (C-28).
func (w *warnings) skippedStream(name string) {
	b := appendText(nil, `{"code":"source_skipped_not_applicable","message":"The source no longer declares this granted stream.","detail":{"stream":`)
	b = rawjson.AppendString(b, name)
	w.add(appendText(b, "}}"))
}

// rebuilding warns that a search may miss records.
func (w *warnings) rebuilding() {
	w.add(appendText(nil, `{"code":"partial_results","message":"The manifest of a searched stream changed, and its index is being rebuilt. Some records may be missing. Search again later."}`))
}

func (w warnings) append(dst []byte) []byte {
	dst = append(dst, '[')
	for i, one := range w {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, one...)
	}
	return append(dst, ']')
}
