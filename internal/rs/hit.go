package rs

import (
	"bytes"
	"errors"
	"strconv"

	"pdpp"
	"pdpp/internal/auth"
	"pdpp/internal/evidence"
	"pdpp/internal/query"
	"pdpp/internal/rawjson"
	"pdpp/internal/store"
)

// hitPreview is the length at which values are cut before they are rendered as a card or
// an excerpt: more than either shows.
const hitPreview = 1024

// pageSearched is the number of characters of long fields that are searched for the
// excerpts of one page. When it is used up, the remaining hits show the beginning of such
// fields (EX-6).
const pageSearched = 8 * evidence.MaxSearched

// hitWriter holds what the hits of one page share, and buffers that each hit reuses.
type hitWriter struct {
	finder  *evidence.Finder
	records map[*shape]*evidence.Record
	data    []byte
	texts   []evidence.Text
	left    int // characters that may still be searched
}

func newHitWriter(terms []string) hitWriter {
	return hitWriter{finder: evidence.NewFinder(terms), records: map[*shape]*evidence.Record{}, left: pageSearched}
}

// writeHit writes one search result.
func (s *searcher) writeHit(h *hit) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	if err := s.reserve(len(s.body)); err != nil {
		return err
	}
	if h.record.Body != nil {
		return s.writeRecord(h)
	}
	get := query.Get{
		Subject: s.search.Subject, Sources: []query.Source{s.search.Sources[h.record.Source].Source}, ID: pdpp.RecordID(h.id),
	}
	found := false
	err := s.view.Get(get, func(r *store.Record) error {
		found = true
		h.record.Body = r.Body // valid during the call only
		defer func() { h.record.Body = nil }()
		return s.writeRecord(h)
	})
	if err == nil && !found {
		err = errLostRecord
	}
	return err
}

// errLostRecord reports that the search index contains a record that the table of records
// does not.
var errLostRecord = errors.New("the store finds a record by its words, but not by its id")

func (s *searcher) writeRecord(h *hit) error {
	rec, err := s.evidenceRecord(h)
	if err != nil {
		return err
	}
	texts, err := s.texts(&h.record)
	if err != nil {
		return err
	}
	found := s.hits.finder.Find(texts)
	if limit := s.prefs.HitPreview; limit > 0 {
		writeShortHit(&s.body, h, rec, found, limit)
	} else {
		writeFullHit(&s.body, h, rec, found)
	}
	return nil
}

// writeFullHit writes a search result in the full form, with its card and excerpts.
func writeFullHit(w *rawjson.Writer, h *hit, rec *evidence.Record, found evidence.Matches) {
	beginHit(w, h, rec)
	w.Text("connector_id", string(rec.ConnectorKey))
	w.Optional("display_name", rec.DisplayName)
	writeTime(w, "emitted_at", rec.EmittedAt)
	at := evidence.EventTimeOf(rec)
	if at.IsAuthored() {
		w.Optional("authored_at", at.Value)
	}
	w.Literal(`"record_url":"`)
	*w = append(evidence.AppendRecordURL(*w, rec), '"')
	rawjson.List(w, "matched_fields", found.Fields())
	excerpts := evidence.Excerpts(rec, found)
	if field, text, ok := evidence.Snippet(excerpts); ok {
		w.OpenObject("snippet")
		w.Text("field", field)
		w.Text("text", text)
		w.End("}")
	}
	w.Literal(`"score":{"kind":"bm25","value":`)
	*w = strconv.AppendFloat(*w, float64(h.score)/1e6, 'f', -1, 64)
	w.Literal(`"order":"lower_is_better"},"evidence_card":`)
	*w = evidence.AppendCard(*w, rec, at)
	w.Key("evidence_excerpts")
	*w = evidence.AppendExcerpts(*w, rec, excerpts)
	w.End("}")
}

// writeShortHit writes a search result in the short form (REC-42): every fact once, and
// no text except its title, the fields with a role, and one excerpt.
func writeShortHit(w *rawjson.Writer, h *hit, rec *evidence.Record, found evidence.Matches, limit int) {
	beginHit(w, h, rec)
	w.Optional("display_name", rec.DisplayName)
	at := evidence.EventTimeOf(rec)
	if at.IsAuthored() {
		w.Optional("authored_at", at.Value)
	} else {
		writeTime(w, "emitted_at", rec.EmittedAt)
	}
	if title := evidence.TitleAt(rec, at); title.Field != "" { // otherwise it only repeats other members
		w.Optional("title", title.Text)
	}
	*w = evidence.AppendShortFacts(*w, rec)
	e, ok := evidence.BestExcerpt(rec, found, limit)
	if matched := found.Fields(); len(matched) != 1 || !ok || matched[0] != e.Field { // otherwise the snippet names the field
		rawjson.List(w, "matched_fields", matched)
	}
	if ok {
		w.Key("snippet")
		*w = e.AppendShort(*w)
	}
	w.End("}")
}

// beginHit begins a hit with the identity and the source of its record.
func beginHit(w *rawjson.Writer, h *hit, rec *evidence.Record) {
	w.Literal(`{"object":"search_result"`)
	w.Text("stream", h.stream)
	w.Text("record_key", h.id)
	w.Text("connection_id", string(rec.ConnectionID))
	w.Text("connector_key", string(rec.ConnectorKey))
}

// evidenceRecord returns the projected record from which cards and excerpts are rendered.
// It is valid until the next call.
func (s *searcher) evidenceRecord(h *hit) (*evidence.Record, error) {
	shape := s.shapes[h.record.Source]
	rec, ok := s.hits.records[shape]
	if !ok {
		rec = s.sourceEvidence(shape)
		s.hits.records[shape] = rec
	}
	w := dataWriter{request: s.request, shape: shape, record: &h.record}
	if len(h.record.Body) > hitPreview || bytes.IndexByte(h.record.Body, 0) >= 0 {
		// Values need to be cut only if the body is longer than that or has values in
		// pieces (NUL). The test only saves work: the length of the body includes fields
		// outside the grant, so it must not influence the answer.
		w.preview, w.facts = hitPreview, map[string]*evidence.Truncation{}
	}
	data, err := w.data(s.hits.data[:0])
	if err != nil {
		return nil, err
	}
	s.hits.data = data
	rec.ID, rec.EmittedAt, rec.Truncated = pdpp.RecordID(h.id), h.record.EmittedAt, w.facts
	rec.SetData(data)
	return rec, nil
}

// sourceEvidence returns the evidence that all records of a source share.
func (q *request) sourceEvidence(s *shape) *evidence.Record {
	type key struct{ stream *pdpp.Stream }
	rec := &evidence.Record{
		Stream: s.row.Stream.Name, ConnectionID: s.connection,
		ConnectorKey: s.row.Manifest.ConnectorKey, ConnectorDisplayName: s.row.Manifest.DisplayName,
		Presentation: auth.Derive(q.reach, key{s.row.Stream}, func() *evidence.Presentation { return evidence.Declared(s.row.Stream) }),
	}
	for _, c := range s.narrowed().Connections {
		rec.DisplayName = c.DisplayName()
	}
	return rec
}

// texts returns the searched fields of a record. Of a long field it returns only the part
// in which an excerpt is looked for.
func (s *searcher) texts(r *store.Record) ([]evidence.Text, error) {
	out := s.hits.texts[:0]
	var matched []bool // by field; nil while all texts are complete
	for i, f := range s.search.Sources[r.Source].Fields {
		text, ok, err := s.text(r, f.Name)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if text.Chars > 0 {
			if matched == nil {
				if matched, err = s.view.Matched(s.search, r); err != nil {
					return nil, err
				}
			}
			text.Matched = matched[i]
		}
		out = append(out, text)
	}
	s.hits.texts = out
	return out, nil
}

// text returns a field of a record; ok is false if it is not a text.
func (s *searcher) text(r *store.Record, field string) (t evidence.Text, ok bool, err error) {
	t.Field = field
	value, found := rawjson.Get(r.Body, field)
	if !found || rawjson.KindOf(value) != rawjson.KindStub {
		t.Content, ok = rawjson.String(value)
		return t, ok, nil
	}
	stub := store.ParseStub(value)
	if !stub.Text {
		return t, false, nil
	}
	limit := min(evidence.MaxSearched, max(s.hits.left, hitPreview))
	s.hits.left -= min(stub.Chars, limit)
	if stub.Chars > limit {
		t.Chars = stub.Chars
	}
	w := dataWriter{request: s.request, record: r}
	raw, err := w.appendStart(stub.Quote(nil), stub, limit)
	t.Content, ok = rawjson.String(stub.Quote(raw))
	return t, ok, err
}
