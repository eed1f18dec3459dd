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
	h := Hit{
		Record: Record{
			Identity: Identity{ConnectionOf(raw), text(raw, "stream"), firstID(raw, hitRecordNames)},
			Source:   sourceOf(raw), Raw: raw, Payload: object(raw, "data"),
			EmittedAt: text(raw, "emitted_at"), Truncated: truncationsOf(raw),
		},
		Keyed: firstID(raw, hitRecordNames[:2]) != "", OwnID: firstID(raw, []string{"id"}), URL: text(raw, "url"), RecordURL: text(raw, "record_url"),
		Snippet: snippetOf(raw), Excerpts: excerptsOf(raw), Card: cardOf(object(raw, "evidence_card")),
		Score: get(raw, "score"), Scores: get(raw, "scores"), MatchedFields: get(raw, "matched_fields"),
	}
	return h
}

// snippetOf reads an object with text and field, or a bare text.
func snippetOf(raw []byte) Snippet {
	if s := object(raw, "snippet"); s != nil {
		return Snippet{text(s, "field"), text(s, "text")}
	}
	return Snippet{Text: text(raw, "snippet")}
}

func excerptsOf(raw []byte) []Excerpt {
	var list []Excerpt
	for v := range rawjson.Elements(get(raw, "evidence_excerpts")) {
		read := object(v, "read")
		e := Excerpt{
			Field: text(v, "field_path"), Text: text(v, "preview_text"), Complete: isTrue(v, "complete") || isFalse(v, "truncated"),
			Total: number(v, "total_chars"), Offset: number(read, "offset_chars"), AsJSON: text(read, "as") == "json",
		}
		if e.Text != "" {
			list = append(list, e)
		}
	}
	return list
}

func cardOf(v []byte) *Card {
	if v == nil {
		return nil
	}
	c := &Card{
		Title: text(object(v, "title"), "text"), EventTime: text(object(v, "event_time"), "value"),
		Emitted: text(object(v, "event_time"), "source") == string(evidence.SourceEnvelope), Omitted: max(0, number(v, "binary_omitted_count")),
	}
	for f := range rawjson.Elements(get(v, "fields")) {
		value := get(f, "value")
		switch rawjson.KindOf(value) {
		case rawjson.KindString, rawjson.KindNumber, rawjson.KindBool:
			c.Fields = append(c.Fields, CardField{text(f, "role"), text(f, "field"), value, isTrue(f, "truncated")})
		}
	}
	for b := range rawjson.Elements(get(v, "binary")) {
		if rawjson.KindOf(b) == rawjson.KindObject {
			c.Binary = append(c.Binary, CardBinary{text(b, "field_path"), *binaryOf(b), text(object(b, "read"), "blob_id")})
		}
	}
	return c
}
