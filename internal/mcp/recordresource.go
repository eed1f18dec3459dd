package mcp

import (
	"context"
	"slices"

	"pdpp"
	"pdpp/internal/evidence"
	"pdpp/internal/mcp/limits"
	"pdpp/internal/rawjson"
	"pdpp/internal/rsclient"
)

// readRecord returns the record as received, shortened when it is too large, and the calls
// that read the values that are cut (MS-201).
func (s *Surface) readRecord(ctx context.Context, uri string) ([]Content, error) {
	h, err := parseHandle(uri)
	if err != nil {
		return nil, err
	}
	var q rsclient.Query
	q.Set("connection_id", h.Connection)
	answer, err := s.RS.Record(ctx, h.Stream, h.Record, q, rsclient.Prefer{FieldPreview: limits.FetchField})
	if err != nil {
		return nil, err
	}
	body := shortenedRecord(answer.Body)
	if len(body) > limits.RecordResourceMax { // fetch names the fields that it leaves out
		return nil, &adapterError{
			Code: pdpp.CodeUpstreamTooLarge, Message: "The record has too many fields for a resource; read it with the tool fetch.",
			Next: refer(h).fetch(),
		}
	}
	contents := []Content{{URI: uri, MimeType: "application/json", Text: string(body)}}
	if ladder := s.recordLadder(h, body); ladder != nil {
		contents = append(contents, Content{URI: uri, MimeType: "application/json", Text: string(ladder)})
	}
	return contents, nil
}

// shortenedRecord replaces the long values of a record by previews, shorter ones until the
// whole is within the limit. A record within the limit is unchanged.
func shortenedRecord(body []byte) []byte {
	const minChars = 64
	short := body
	for n := limits.FetchField / 2; len(short) > limits.RecordResourceMax && n >= minChars; n /= 2 {
		short, _ = rsclient.PreviewDetail(body, n)
	}
	return short
}

// recordLadder returns the ladder of a record whose values are cut, like that of a document
// (MS-190); nil when it is whole. Entries beyond limits.DocTextMax bytes are counted;
// truncated_fields of the record names their fields.
func (s *Surface) recordLadder(h Handle, body []byte) []byte {
	var r row
	r.Asked, r.Declared, r.Texts = rsclient.Identity(h), rsclient.PresentationsOf(body), new(rawjson.Texts)
	if r.Detail(body); !Handle(r.Identity).isNamed() {
		r.Identity = r.Asked
	}
	r.describe(nil)
	cut := slices.DeleteFunc(r.continued(), func(f ranked) bool { return f.Cut == nil })
	if len(cut) == 0 {
		return nil
	}
	var entries [][]byte
	size := 0
	for _, f := range cut {
		entry := r.documentEntry(f.Field, s.RS.Provider())
		if size += len(entry); size > limits.DocTextMax {
			break
		}
		entries = append(entries, entry)
	}
	w := append(make(rawjson.Writer, 0, size+1024), '{')
	r.ref.openLadder(&w, entries)
	if left := len(cut) - len(entries); left > 0 {
		w.Number("fields_omitted", left)
	}
	return append(w, "}}"...)
}

// documentEntry returns the entry of a field in the ladder of a document, with its call.
func (r *row) documentEntry(f *evidence.Field, provider string) []byte {
	w := newRung()
	if f.Shape == evidence.ShapeText {
		r.writeTextEntry(&w, f)
	} else {
		r.writeEntry(&w, f, provider)
	}
	return w
}
