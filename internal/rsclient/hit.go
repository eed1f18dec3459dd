package rsclient

import (
	"pdpp/internal/evidence"
	"pdpp/internal/rawjson"
)

// Hit is one search hit. Its record has a payload only when the server sent one.
//
// Identity.Record is the record key, else the hit's own id. Where OwnID is a whole
// handle it says more than the parts (MS-124); that is for the reader to try.
type Hit struct {
	Record
	Keyed     bool   // it names its record apart from its own id
	OwnID     string // the member id
	URL       string
	RecordURL string

	Snippet  Snippet
	Excerpts []Excerpt
	Card     *Card // nil: the server made none

	// As received; nil when the hit has none.
	Score, Scores, MatchedFields []byte
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
	AsJSON   bool
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
	Role, Field string
	Value       []byte // as received: a scalar
	Truncated   bool
}

// CardBinary is a binary field of a card.
type CardBinary struct {
	Field  string
	Facts  evidence.Binary
	BlobID string // "" when there is none to read
}

// HitsOf reads the rows of a search page. What is no object is no hit.
func HitsOf(rows [][]byte) []Hit {
	var hits []Hit
	for _, row := range rows {
		if rawjson.KindOf(row) == rawjson.KindObject {
			hits = append(hits, hitOf(row))
		}
	}
	return hits
}

func hitOf(raw []byte) Hit {
	var room memberRoom
	o := index(&room, raw)
	return Hit{
		Record: Record{
			Identity: Identity{o.firstID(connectionNames), o.text("stream"), o.firstID(hitRecordNames)},
			Source:   o.source(), Raw: raw, Payload: o.object("data"),
			EmittedAt: o.text("emitted_at"), Truncated: truncationsOf(o.get("truncated_fields")),
		},
		Keyed: o.firstID(hitRecordNames[:2]) != "", OwnID: o.firstID([]string{"id"}), URL: o.text("url"), RecordURL: o.text("record_url"),
		Snippet: snippetOf(o.get("snippet")), Excerpts: excerptsOf(o.get("evidence_excerpts")), Card: cardOf(o.object("evidence_card")),
		Score: o.get("score"), Scores: o.get("scores"), MatchedFields: o.get("matched_fields"),
	}
}

// snippetOf reads an object with text and field, or a bare text.
func snippetOf(v []byte) Snippet {
	if rawjson.KindOf(v) == rawjson.KindObject {
		return Snippet{text(v, "field"), text(v, "text")}
	}
	s, _ := rawjson.String(v)
	return Snippet{Text: s}
}

func excerptsOf(excerpts []byte) []Excerpt {
	var list []Excerpt
	var room, inner memberRoom
	for raw := range rawjson.Elements(excerpts) {
		v := index(&room, raw)
		read := index(&inner, v.object("read"))
		e := Excerpt{
			Field: v.text("field_path"), Text: v.text("preview_text"), Complete: v.isTrue("complete") || v.isFalse("truncated"),
			Total: v.number("total_chars"), Offset: read.number("offset_chars"), AsJSON: read.text("as") == "json",
		}
		if e.Text != "" {
			list = append(list, e)
		}
	}
	return list
}

func cardOf(raw []byte) *Card {
	if raw == nil {
		return nil
	}
	var room memberRoom
	v := index(&room, raw)
	at := v.object("event_time")
	c := &Card{
		Title: text(v.object("title"), "text"), EventTime: text(at, "value"),
		Emitted: text(at, "source") == string(evidence.SourceEnvelope), Omitted: max(0, v.number("binary_omitted_count")),
	}
	var inner memberRoom
	for raw := range rawjson.Elements(v.get("fields")) {
		f := index(&inner, raw)
		value := f.get("value")
		switch rawjson.KindOf(value) {
		case rawjson.KindString, rawjson.KindNumber, rawjson.KindBool:
			c.Fields = append(c.Fields, CardField{f.text("role"), f.text("field"), value, f.isTrue("truncated")})
		}
	}
	for b := range rawjson.Elements(v.get("binary")) {
		if rawjson.KindOf(b) == rawjson.KindObject {
			c.Binary = append(c.Binary, CardBinary{text(b, "field_path"), *binaryOf(b), text(object(b, "read"), "blob_id")})
		}
	}
	return c
}
