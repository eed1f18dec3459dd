package rsclient

import (
	"bytes"
	"cmp"

	"pdpp/internal/evidence"
	"pdpp/internal/rawjson"
)

// Hit is one search hit.
//
// Identity.Record is the record key, else the hit's own id. Where OwnID is a whole
// handle it says more than the parts (MS-124); that is for the reader to try.
type Hit struct {
	Identity
	Source
	Keyed     bool   // it names its record apart from its own id
	OwnID     string // the member id
	URL       string
	RecordURL string

	Snippet  Snippet
	Excerpts []Excerpt
	Card     *Card // nil: the server made none

	// As received; nil when the hit has none.
	Score, Scores, MatchedFields []byte
	Payload                      []byte // the fields of the record

	raw []byte
}

// Evidence is the record of the hit, as far as the server sent it, as the shared
// package renders it.
func (h *Hit) Evidence(all Presentations) *evidence.Record {
	r := Record{
		Identity: h.Identity, Source: h.Source, Raw: h.raw, Payload: h.Payload,
		EmittedAt: text(h.raw, "emitted_at"), Truncated: truncationsOf(get(h.raw, "truncated_fields")),
	}
	return r.Evidence(all)
}

// Snippet is the matched text of a hit.
type Snippet struct{ Field, Text string }

// Excerpt is one of evidence_excerpts (EX-6).
type Excerpt struct {
	Field    string
	Text     string
	Complete bool // the server says that this is the whole field
	Total    int  // characters of the field; -1: not known
	Offset   int  // where its read starts; -1: not known
}

// Card is the evidence_card of a hit: what the server itself says of the record
// (EX-2, MS-61). What it does not say is "".
type Card struct {
	Title     string
	EventTime string
	Emitted   bool // the time is that of the record's arrival (EX-4)
	Fields    []CardField
	Binary    []CardBinary
	Omitted   int // binary fields that are not listed
}

// CardField is a field of a card.
type CardField struct {
	Field     string
	Value     []byte // as received: a scalar
	Truncated bool
}

// CardBinary is a binary field of a card.
type CardBinary struct {
	Field  string
	Facts  evidence.Binary
	BlobID string // "" when there is none to read
}

// HitsOf reads the rows of a search page. What is no object is no hit.
func HitsOf(rows [][]byte) []Hit {
	hits := make([]Hit, 0, len(rows))
	r := hitReader{cards: make([]Card, 0, len(rows)), excerpts: make([]Excerpt, 0, len(rows)), fields: make([]CardField, 0, 2*len(rows))}
	for _, row := range rows {
		if rawjson.KindOf(row) == rawjson.KindObject {
			hits = append(hits, r.hit(row))
		}
	}
	return hits
}

// hitReader reads the hits of one page. What they have in common is made once, and
// what each has of its own is put into lists that serve them all.
type hitReader struct {
	row, part, inner memberRoom

	words    words
	snippet  []byte // of the hit at hand, as received
	matched  string // the same, decoded
	cards    []Card
	excerpts []Excerpt
	fields   []CardField
}

func (r *hitReader) hit(raw []byte) Hit {
	o := index(&r.row, raw)
	key, own := o.firstID(hitRecordNames[:2]), o.firstID(hitRecordNames[2:])
	h := Hit{
		Identity: Identity{r.words.id(o, connectionNames), r.words.text(o.get("stream")), cmp.Or(key, own)},
		Source:   Source{r.words.id(o, connectorNames), r.words.text(o.get("display_name")), r.words.text(o.get("connector_display_name"))},
		Keyed:    key != "", OwnID: own, URL: o.text("url"), RecordURL: o.text("record_url"),
		Snippet: r.snippetOf(o.get("snippet")), Card: r.card(o.object("evidence_card")),
		Score: o.get("score"), Scores: o.get("scores"), MatchedFields: o.get("matched_fields"), Payload: o.object("data"), raw: raw,
	}
	h.Excerpts = r.excerptsOf(o.get("evidence_excerpts"))
	return h
}

// snippetOf reads an object with text and field, or a bare text.
func (r *hitReader) snippetOf(v []byte) Snippet {
	var field string
	if rawjson.KindOf(v) == rawjson.KindObject {
		s := index(&r.part, v)
		field, v = r.words.text(s.get("field")), s.get("text")
	}
	r.snippet, r.matched = v, asText(v)
	return Snippet{field, r.matched}
}

func (r *hitReader) excerptsOf(list []byte) []Excerpt {
	first := len(r.excerpts)
	for raw := range rawjson.Elements(list) {
		v := index(&r.part, raw)
		e := Excerpt{
			Field: r.words.text(v.get("field_path")), Text: r.matched, Complete: v.isTrue("complete") || v.isFalse("truncated"),
			Total: v.number("total_chars"), Offset: number(v.object("read"), "offset_chars"),
		}
		if preview := v.get("preview_text"); !bytes.Equal(preview, r.snippet) { // most are the snippet
			e.Text = asText(preview)
		}
		if e.Text != "" {
			r.excerpts = append(r.excerpts, e)
		}
	}
	return r.excerpts[first:len(r.excerpts):len(r.excerpts)]
}

func (r *hitReader) card(raw []byte) *Card {
	if raw == nil {
		return nil
	}
	v := index(&r.part, raw)
	at := index(&r.inner, v.object("event_time"))
	c := Card{
		Title: text(v.object("title"), "text"), EventTime: at.text("value"),
		Emitted: rawjson.Is(at.get("source"), string(evidence.SourceEnvelope)), Omitted: max(0, v.number("binary_omitted_count")),
	}
	c.Fields = r.fieldsOf(v.get("fields"))
	for b := range rawjson.Elements(v.get("binary")) {
		if rawjson.KindOf(b) == rawjson.KindObject {
			c.Binary = append(c.Binary, CardBinary{text(b, "field_path"), *binaryOf(b), text(object(b, "read"), "blob_id")})
		}
	}
	r.cards = append(r.cards, c)
	return &r.cards[len(r.cards)-1]
}

func (r *hitReader) fieldsOf(list []byte) []CardField {
	first := len(r.fields)
	for raw := range rawjson.Elements(list) {
		f := index(&r.inner, raw)
		value := f.get("value")
		switch rawjson.KindOf(value) {
		case rawjson.KindString, rawjson.KindNumber, rawjson.KindBool:
			r.fields = append(r.fields, CardField{r.words.text(f.get("field")), value, f.isTrue("truncated")})
		}
	}
	return r.fields[first:len(r.fields):len(r.fields)]
}

// words are the names of sources and fields that the hits of a page have in common:
// each is made a string once. Of a page with very many the later ones are not kept.
type words struct {
	known [16]string
	n     int
}

// text is asText for what may be one of them.
func (w *words) text(v []byte) string {
	content, ok := rawjson.Content(v)
	if !ok || bytes.IndexByte(content, '\\') >= 0 {
		return asText(v)
	}
	for _, s := range w.known[:w.n] {
		if string(content) == s {
			return s
		}
	}
	s := string(content)
	if w.n < len(w.known) {
		w.known[w.n] = s
		w.n++
	}
	return s
}

// id is firstID for what may be one of them.
func (w *words) id(o members, names []string) string {
	for _, name := range names {
		v := o.get(name)
		if rawjson.KindOf(v) == rawjson.KindNumber {
			return string(v)
		}
		if s := w.text(v); s != "" {
			return s
		}
	}
	return ""
}
