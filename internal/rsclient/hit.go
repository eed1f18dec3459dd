package rsclient

import (
	"bytes"
	"cmp"

	"pdpp/internal/evidence"
	"pdpp/internal/rawjson"
)

// Hit is one search hit.
//
// Identity.Record is the record key, else the hit's own id. If OwnID is a complete
// handle, it is more precise than Identity (MS-124); the caller parses it.
type Hit struct {
	Identity
	Source
	Keyed     bool   // the hit has a record key beside its own id
	OwnID     string // the member id
	URL       string
	RecordURL string

	Snippet  Snippet
	Excerpts []Excerpt
	Card     *Card // nil if the server made none

	// As received; nil if the hit has none.
	Score, Scores, MatchedFields []byte
	Payload                      []byte // the fields of the record
	Raw                          []byte // the whole hit
}

// Evidence returns the record of the hit for the package evidence, as far as the server
// sent it.
func (h *Hit) Evidence(all Presentations) *evidence.Record {
	r := Record{
		Identity: h.Identity, Source: h.Source, Raw: h.Raw, Payload: h.Payload,
		EmittedAt: text(h.Raw, "emitted_at"), Truncated: truncationsOf(get(h.Raw, "truncated_fields")),
	}
	return r.Evidence(all)
}

// Snippet is the matched text of a hit.
type Snippet struct {
	Field, Text string

	// Of a short hit (REC-42).
	Complete bool // the text is the whole field
	Total    int  // characters of the field; -1 if not known
	Offset   int  // where in the field it starts; -1 if not known
}

// Excerpt is one of evidence_excerpts (EX-6).
type Excerpt struct {
	Field    string
	Text     string
	Complete bool // the server says that the text is the whole field
	Total    int  // characters of the field; -1 if not known
	Offset   int  // where its read starts; -1 if not known
}

// Card is the evidence_card of a hit (EX-2, MS-61). Missing members are "".
type Card struct {
	Title      string
	TitleField string // "" for a composed title (EX-3)
	EventTime  string
	Emitted    bool // the time is that of the record's arrival (EX-4)
	Fields     []CardField
	Binary     []CardBinary
	Omitted    int // binary fields that are not listed
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

// HitsOf reads the rows of a search page. Rows that are not objects are skipped.
func HitsOf(rows [][]byte) []Hit {
	hits := make([]Hit, 0, len(rows))
	var r hitReader
	r.cards, r.excerpts, r.fields = make([]Card, 0, len(rows)), make([]Excerpt, 0, len(rows)), make([]CardField, 0, 2*len(rows))
	for _, row := range rows {
		if rawjson.KindOf(row) == rawjson.KindObject {
			hits = append(hits, r.hit(row))
		}
	}
	return hits
}

// hitReader reads the hits of one page, each in one pass. Their parts share slices, to
// save allocations.
type hitReader struct {
	row, part, inner memberBuffer

	texts    rawjson.Texts
	cards    []Card
	excerpts []Excerpt
	fields   []CardField
}

// hit reads one hit. Members that have a type of their own are read in the same pass; the
// others are collected and looked up.
func (r *hitReader) hit(raw []byte) Hit {
	h := Hit{Raw: raw}
	o := members(r.row[:0])
	var matched []byte // the text of the snippet, as received
	var snippet, card, excerpts bool
	s := rawjson.Scan(raw)
	for name := range s.Members() {
		switch string(name) { // of members with the same name the first counts
		case "snippet":
			if first(&snippet) {
				h.Snippet, matched = r.snippet(&s)
			}
		case "evidence_card":
			if first(&card) {
				h.Card = r.card(&s)
			}
		case "evidence_excerpts":
			if first(&excerpts) {
				h.Excerpts = r.excerptsOf(&s, matched, h.Snippet.Text)
			}
		default:
			o = append(o, rawjson.Member{Name: name, Value: s.Value()})
		}
	}
	key, own := r.id(o, hitRecordNames[:2]), r.id(o, hitRecordNames[2:])
	h.Identity = Identity{r.id(o, connectionNames), r.text(o.get("stream")), cmp.Or(key, own)}
	h.Source = Source{r.id(o, connectorNames), r.text(o.get("display_name")), r.text(o.get("connector_display_name"))}
	h.Keyed, h.OwnID, h.URL, h.RecordURL = key != "", own, r.text(o.get("url")), r.text(o.get("record_url"))
	h.Score, h.Scores, h.MatchedFields, h.Payload = o.get("score"), o.get("scores"), o.get("matched_fields"), o.object("data")
	if h.Card == nil {
		h.Card = r.shortCard(o)
	}
	return h
}

// shortCard returns the card of a short hit (REC-42), whose facts are members of the
// hit; nil if it has none.
func (r *hitReader) shortCard(o members) *Card {
	fields := o.object("fields")
	binary := o.get("binary")
	if fields == nil && binary == nil {
		return nil
	}
	start := len(r.fields)
	for name, value := range rawjson.Members(fields) {
		switch rawjson.KindOf(value) {
		case rawjson.KindString, rawjson.KindNumber, rawjson.KindBool:
			r.fields = append(r.fields, CardField{r.texts.Copy(name), value, isListed(o.get("cut_fields"), string(name))})
		}
	}
	c := Card{Fields: r.fields[start:len(r.fields):len(r.fields)], Binary: binariesOf(binary), Omitted: max(0, o.number("binary_omitted_count"))}
	r.cards = append(r.cards, c)
	return &r.cards[len(r.cards)-1]
}

// isListed reports whether a list of strings contains a name.
func isListed(list []byte, name string) bool {
	for item := range rawjson.Elements(list) {
		if rawjson.Is(item, name) {
			return true
		}
	}
	return false
}

// first reports whether seen was false, and sets it.
func first(seen *bool) bool {
	was := *seen
	*seen = true
	return !was
}

// snippet reads an object with text and field, or a bare text. It also returns the text
// as received.
func (r *hitReader) snippet(s *rawjson.Scanner) (Snippet, []byte) {
	if s.Kind() != rawjson.KindObject {
		raw := s.Value()
		return Snippet{Text: r.text(raw), Total: -1, Offset: -1}, raw
	}
	v := members(s.Index(r.part[:0]))
	return Snippet{
		Field: r.text(v.get("field")), Text: r.text(v.get("text")),
		Complete: v.isFalse("truncated"), Total: v.number("total_chars"), Offset: max(v.number("start_chars"), v.number("match_after_chars")),
	}, v.get("text")
}

// excerptsOf reads the excerpts. Usually one of them has the same text as the snippet,
// whose string is then shared.
func (r *hitReader) excerptsOf(s *rawjson.Scanner, matched []byte, snippet string) []Excerpt {
	start := len(r.excerpts)
	for range s.Elements() {
		v := members(s.Index(r.part[:0]))
		e := Excerpt{
			Field: r.text(v.get("field_path")), Text: snippet, Complete: v.isTrue("complete") || v.isFalse("truncated"),
			Total: v.number("total_chars"), Offset: number(v.object("read"), "offset_chars"),
		}
		if preview := v.get("preview_text"); !bytes.Equal(preview, matched) {
			e.Text = r.text(preview)
		}
		if e.Text != "" {
			r.excerpts = append(r.excerpts, e)
		}
	}
	return r.excerpts[start:len(r.excerpts):len(r.excerpts)]
}

func (r *hitReader) card(s *rawjson.Scanner) *Card {
	if s.Kind() != rawjson.KindObject {
		return nil
	}
	var c Card
	var fields bool
	v := members(r.part[:0])
	for name := range s.Members() {
		if string(name) == "fields" && first(&fields) {
			c.Fields = r.fieldsOf(s)
			continue
		}
		v = append(v, rawjson.Member{Name: name, Value: s.Value()})
	}
	title, at := v.object("title"), v.object("event_time")
	c.Title, c.TitleField, c.EventTime = r.text(get(title, "text")), r.text(get(title, "field")), r.text(get(at, "value"))
	c.Emitted = rawjson.Is(get(at, "source"), string(evidence.SourceEnvelope))
	c.Omitted = max(0, v.number("binary_omitted_count"))
	c.Binary = binariesOf(v.get("binary"))
	r.cards = append(r.cards, c)
	return &r.cards[len(r.cards)-1]
}

// binariesOf returns the binary fields of a card.
func binariesOf(list []byte) (all []CardBinary) {
	for b := range rawjson.Elements(list) {
		if rawjson.KindOf(b) == rawjson.KindObject {
			all = append(all, CardBinary{text(b, "field_path"), *binaryOf(b), text(object(b, "read"), "blob_id")})
		}
	}
	return all
}

func (r *hitReader) fieldsOf(s *rawjson.Scanner) []CardField {
	start := len(r.fields)
	for range s.Elements() {
		f := members(s.Index(r.inner[:0]))
		value := f.get("value")
		switch rawjson.KindOf(value) {
		case rawjson.KindString, rawjson.KindNumber, rawjson.KindBool:
			r.fields = append(r.fields, CardField{r.text(f.get("field")), value, f.isTrue("truncated")})
		}
	}
	return r.fields[start:len(r.fields):len(r.fields)]
}

// text does the same as asText, with shared allocations.
func (r *hitReader) text(v []byte) string {
	s, _ := r.texts.String(v)
	return s
}

// id does the same as firstID, with shared allocations.
func (r *hitReader) id(o members, names []string) string {
	for _, name := range names {
		v := o.get(name)
		if s := r.text(v); s != "" {
			return s
		}
		if rawjson.KindOf(v) == rawjson.KindNumber {
			return r.texts.Copy(v)
		}
	}
	return ""
}
